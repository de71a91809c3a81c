import HLSKitMedia
import HLSKitTime
import Testing

private struct Parsed: Equatable {
    var events: [WebVTTEvent] = []
    var error: MediaError?

    init(_ bytes: some Collection<UInt8>, pieces size: () -> Int = { .max }) {
        var parser = WebVTTParser()
        var rest = Array(bytes)[...]
        do throws(MediaError) {
            while !rest.isEmpty {
                let piece = rest.prefix(max(1, size()))
                try parser.append(piece, to: &events)
                rest = rest[piece.endIndex...]
            }
            try parser.finish(to: &events)
        } catch {
            self.error = error
        }
    }

    init(_ text: String) { self.init(text.utf8) }

    var cues: [WebVTTCue] {
        events.compactMap { if case .cue(let cue) = $0 { cue } else { nil } }
    }
    var maps: [WebVTTTimestampMap] {
        events.compactMap { if case .timestampMap(let map) = $0 { map } else { nil } }
    }
    var notes: [String] {
        events.compactMap { if case .note(let text) = $0 { text } else { nil } }
    }
    var blocks: [WebVTTBlock] {
        events.compactMap { if case .block(let block) = $0 { block } else { nil } }
    }
}

private func cue(_ start: Int64, _ end: Int64, _ payload: String, identifier: String = "") -> WebVTTCue {
    WebVTTCue(
        identifier: identifier, start: .milliseconds(start), end: .milliseconds(end), payload: payload)
}

private let specimen = """
    \u{feff}WEBVTT - a title\r
    X-TIMESTAMP-MAP=LOCAL:00:00:01.000,MPEGTS:900000\r
    Kind: captions\r
    \r
    STYLE\r
    ::cue { color: red }\r
    \r
    NOTE one line\r
    \r
    REGION
    id:top
    lines:3

    NOTE
    two
    lines

    first
    00:01.000 --> 00:02.500 line:10%,end position:50%,line-left size:80% align:left region:top vertical:rl
    <v Ann>Hi &amp; <i>wel</i>come
    second line

    01:02:03.004-->100:00:00.000
    no spaces

    00:05.000 --> 00:04.000
    ends too early

    what is this

    00:06.000 --> 00:07.000
    00:08.000 --> 00:09.000
    after a cue without text
    """

@Suite struct WebVTTParserTests {
    @Test("a file gives its map, blocks and cues in order")
    func specimenFile() {
        let parsed = Parsed(specimen)
        #expect(parsed.error == nil)
        #expect(parsed.maps == [WebVTTTimestampMap(local: .seconds(1), timestamp: 900_000)])
        #expect(
            parsed.blocks == [
                WebVTTBlock(kind: .style, text: "::cue { color: red }"), WebVTTBlock(kind: .note, text: "one line"),
                WebVTTBlock(kind: .region, text: "id:top\nlines:3"), WebVTTBlock(kind: .note, text: "two\nlines"),
            ])
        var settings = WebVTTCueSettings()
        settings.line = .percentage(10)
        settings.lineAlignment = .end
        settings.position = 50
        settings.positionAlignment = .lineLeft
        settings.size = 80
        settings.alignment = .left
        settings.region = "top"
        settings.vertical = .growingLeft
        var first = cue(1000, 2500, "<v Ann>Hi &amp; <i>wel</i>come\nsecond line", identifier: "first")
        first.settings = settings
        #expect(
            parsed.cues == [
                first, cue(3_723_004, 360_000_000, "no spaces"), cue(6000, 7000, ""),
                cue(8000, 9000, "after a cue without text"),
            ])
        #expect(parsed.cues.first?.text == "Hi & welcome\nsecond line")
        #expect(parsed.notes.count == 2)
    }

    struct MapCase: CustomStringConvertible, Sendable {
        var line: String
        var local: Int64?
        var timestamp: Int64 = 0
        var description: String { line }
    }

    @Test(
        "the map is read in either order and with odd spaces",
        arguments: [
            MapCase(line: "X-TIMESTAMP-MAP=MPEGTS:900000,LOCAL:00:00:02.000", local: 2000, timestamp: 900_000),
            MapCase(line: "X-TIMESTAMP-MAP=LOCAL:00:02.000,MPEGTS:900000", local: 2000, timestamp: 900_000),
            MapCase(line: "X-TIMESTAMP-MAP = LOCAL: 00:00:02.000 , MPEGTS: 900000 ", local: 2000, timestamp: 900_000),
            MapCase(line: "X-TIMESTAMP-MAP=LOCAL:00:00:02,MPEGTS:900000", local: 2000, timestamp: 900_000),
            MapCase(line: "X-TIMESTAMP-MAP=LOCAL:00:00:02,500,MPEGTS:900000", local: 2500, timestamp: 900_000),
            MapCase(line: "X-TIMESTAMP-MAP=LOCAL:00:00:02.50,MPEGTS:900000", local: 2500, timestamp: 900_000),
            MapCase(line: "X-TIMESTAMP-MAP=LOCAL:0:0:2.5000000,MPEGTS:+900000", local: 2500, timestamp: 900_000),
            MapCase(line: "X-TIMESTAMP-MAP=MPEGTS:900000 LOCAL:00:00:02.000", local: 2000, timestamp: 900_000),
            MapCase(line: "X-TIMESTAMP-MAP=Local:100:00:00.000;MpegTS:9", local: 360_000_000, timestamp: 9),
            MapCase(line: "X-TIMESTAMP-MAP=MPEGTS:5", local: 0, timestamp: 5),
            MapCase(line: "X-TIMESTAMP-MAP=LOCAL:01:00:00.000", local: 3_600_000),
            MapCase(line: "X-TIMESTAMP-MAP=MPEGTS:8589934593,LOCAL:00:00.000", local: 0, timestamp: 1),
            MapCase(line: "X-TIMESTAMP-MAP=MPEGTS:99999999999999999999,LOCAL:00:00.000"),
            MapCase(line: "X-TIMESTAMP-MAP=MPEGTS:-1,LOCAL:00:00.000"), MapCase(line: "X-TIMESTAMP-MAP="),
            MapCase(line: "X-TIMESTAMP-MAP"), MapCase(line: "X-TIMESTAMP-MAP=MPEGTS:1,LOCAL:noon"),
        ])
    func maps(_ test: MapCase) {
        let body = "\n\n00:00.000 --> 00:01.000\na\n"
        let expected = test.local.map { [WebVTTTimestampMap(local: .milliseconds($0), timestamp: test.timestamp)] }
        for text in ["WEBVTT\n" + test.line + body, "WEBVTT\n\n" + test.line + body] {
            let parsed = Parsed(text)
            #expect(parsed.maps == expected ?? [])
            #expect(parsed.notes.count == (expected == nil ? 1 : 0))
            #expect(parsed.cues == [cue(0, 1000, "a")])
        }
    }

    @Test(
        "malformed times drop only their cue",
        arguments: [
            "00:00.000 -> 00:01.000 -->", "0:00.000 --> 00:01.000", "00:00 --> 00:01", "00:60.000 --> 01:01.000",
            "00:00.00 --> 00:01.000", "00:00.000 --> ", "--> 00:01.000",
            "99999999999:00:00.000 --> 99999999999:00:01.000",
            "8766001:00:00.000 --> 8766002:00:00.000", "00:00,000 --> 00:01,000", "00:02.000 --> 00:01.999",
        ])
    func badTimes(_ line: String) {
        let parsed = Parsed("WEBVTT\n\nbad\n\(line)\nlost\n\n00:01.000 --> 00:02.000\nkept")
        #expect(parsed.cues == [cue(1000, 2000, "kept")])
        #expect(parsed.notes.count == 1)
    }

    @Test(
        "invalid settings are skipped",
        arguments: [
            "line:ten", "line:101%", "line:-5%", "line:5,middle", "line:.", "position:5", "position:5%,end", "size:-1%",
            "align:top", "vertical:up", "region", "region:", "colour:red", "line:1e5", "size:0x1p3%", "line:nan",
        ])
    func badSettings(_ setting: String) {
        var expected = cue(0, 1000, "a")
        expected.settings.size = 50
        #expect(Parsed("WEBVTT\n\n00:00.000 --> 00:01.000 \(setting) size:50%\na").cues == [expected])
    }

    @Test("spaces, tabs and form feeds are white space, vertical tabs are not")
    func whiteSpace() {
        let lines = [" ", "\t", "\u{c}", "\u{b}"].map { "\($0)00:00.000\($0)-->\($0)00:01.000\($0)align:left\na" }
        var expected = cue(0, 1000, "a")
        expected.settings.alignment = .left
        #expect(Parsed("WEBVTT\n\n" + lines.joined(separator: "\n\n")).cues == [expected, expected, expected])
    }

    @Test("line numbers count from either side, however large")
    func lineNumbers() {
        let far = "1" + String(repeating: "0", count: 34)
        for (text, number) in [("line:0", 0.0), ("line:-1", -1), ("line:2.5", 2.5), ("line:\(far)", 1e34)] {
            #expect(Parsed("WEBVTT\n\n00:00.000 --> 00:01.000 \(text)\na").cues.first?.settings.line == .number(number))
        }
    }

    @Test(
        "plain text has no tags, and characters instead of their references",
        arguments: [
            ("a<b>b</b>c", "abc"), ("<00:01.000>now", "now"), ("1 &lt; 2 &gt; 1", "1 < 2 > 1"), ("open <i", "open "),
            ("&amp;lt;", "&lt;"), ("&#65;&#x42;&#X43;", "ABC"), ("&nbsp;&lrm;&rlm;", "\u{a0}\u{200e}\u{200f}"),
            ("caf&eacute; &hellip; &ndash; &copy;", "caf\u{e9} \u{2026} \u{2013} \u{a9}"),
            ("&#150;&#x80;&#160;", "\u{2013}\u{20ac}\u{a0}"),
            ("&bogus; & &;", "&bogus; & &;"), ("&#xd800;&#0;&#-1;&#+1;", "&#xd800;&#0;&#-1;&#+1;"),
            ("&#99999999999;", "&#99999999999;"), ("é<c.x>\u{301}", "é\u{301}"),
        ])
    func plainText(payload: String, text: String) {
        #expect(cue(0, 1, payload).text == text)
    }

    @Test("a file without WEBVTT signature is refused", arguments: ["", "WEBVT", "WEBVTTX\n", "\nWEBVTT", "<html>"])
    func noSignature(_ text: String) {
        #expect(Parsed(text).error?.code == .unknownContainer)
        #expect(Parsed(text).events.isEmpty)
    }

    @Test("a cue may follow the header at once, and the file may end anywhere", arguments: ["", "\n", "\r", "\n\n"])
    func tight(_ end: String) {
        #expect(Parsed("WEBVTT\n00:00.000 --> 00:01.000\na" + end).cues == [cue(0, 1000, "a")])
        #expect(Parsed("WEBVTT" + end).error == nil)
    }

    @Test("zero bytes and invalid UTF-8 are replaced")
    func badBytes() {
        let bytes = Array("WEBVTT\n\n00:00.000 --> 00:01.000\na".utf8) + [0, 0xff, UInt8(ascii: "b")]
        #expect(Parsed(bytes).cues == [cue(0, 1000, "a\u{fffd}\u{fffd}b")])
    }

    // MARK: Robustness

    @Test("any pieces give the same events")
    func pieces() {
        let whole = Parsed(specimen)
        #expect(Parsed(specimen.utf8, pieces: { 1 }) == whole)
        for seed in 0..<50 {
            var generator = SplitMix64(seed: UInt64(seed))
            #expect(Parsed(specimen.utf8, pieces: { Int.random(in: 1...60, using: &generator) }) == whole)
        }
    }

    @Test("a truncated file gives its first cues")
    func truncation() {
        let bytes = Array(specimen.utf8)
        let starts = Parsed(bytes).cues.map(\.start)
        for length in 0..<bytes.count {
            let cut = Parsed(bytes[..<length])
            #expect(cut.cues.map(\.start) == Array(starts.prefix(cut.cues.count)))
        }
    }

    @Test("randomly changed bytes give the same events at any split")
    func corruption() {
        for seed in 0..<300 {
            var generator = SplitMix64(seed: UInt64(seed))
            var bytes = Array(specimen.utf8)
            for _ in 0..<Int.random(in: 1...20, using: &generator) {
                let place = Int.random(in: 3..<bytes.count, using: &generator)
                bytes[place] =
                    Bool.random(using: &generator)
                    ? [0x0a, 0x0d, 0x2d, 0x3e, 0x3a, 0x30, 0x26, 0x3c].randomElement(using: &generator) ?? 0
                    : UInt8.random(in: 0...255, using: &generator)
            }
            let whole = Parsed(bytes)
            #expect(Parsed(bytes, pieces: { Int.random(in: 1...9, using: &generator) }) == whole, "seed \(seed)")
            for cue in whole.cues {
                #expect(cue.end >= cue.start)
                #expect(cue.text.utf8.count <= 4 * cue.payload.utf8.count)
            }
        }
    }

    @Test("endless blocks and lines are dropped without using memory")
    func hostileSizes() {
        let last = "\n\n00:01.000 --> 00:02.000\nkept\n"
        let long = String(repeating: "x", count: WebVTTParser.maxBlockByteCount + 1)
        let many = String(repeating: "x\n", count: WebVTTParser.maxBlockByteCount)
        for text in [long, many, "00:00.000 --> 00:01.000\n" + long, "00:00.000 --> 00:01.000\n" + many] {
            let parsed = Parsed("WEBVTT\n\n" + text + last)
            #expect(parsed.cues == [cue(1000, 2000, "kept")])
            #expect(parsed.notes.count == 1)
        }
    }

    @Test("a file with an oddity in each line gives few notes")
    func manyNotes() {
        let parsed = Parsed("WEBVTT\n\n" + String(repeating: "odd\n\n", count: 10_000))
        #expect(parsed.notes.count == 64)
    }

    @Test("times have commas only in files without a header", arguments: [true, false])
    func commas(mayLackHeader: Bool) throws {
        let text = "1\n00:00:01,000 --> 00:00:02,500\nA\n"
        #expect(WebVTTParser.lacksHeader(Array(text.utf8)[...]))
        var parser = WebVTTParser(mayLackHeader: mayLackHeader)
        var events: [WebVTTEvent] = []
        try parser.append(Array((mayLackHeader ? text : "WEBVTT\n\n" + text).utf8)[...], to: &events)
        try parser.finish(to: &events)
        let cues = events.compactMap { if case .cue(let cue) = $0 { cue } else { nil } }
        #expect(cues == (mayLackHeader ? [cue(1000, 2500, "A", identifier: "1")] : []))
        #expect(events.count == 1)
    }
}
