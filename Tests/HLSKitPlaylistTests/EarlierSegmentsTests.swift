import Testing

@testable import HLSKitPlaylist

@Suite("Reuse of segments from an earlier playlist")
struct EarlierSegmentsTests {
    /// Returns a playlist from a media sequence number on. Each string has the lines before one `EXTINF`.
    static func text(from number: Int = 0, _ segments: [String], tail: String = "") -> String {
        let lines = segments.enumerated().map { index, lines in
            "\(lines)#EXTINF:4,\n" + "s\(number + index)\n"
        }
        return "#EXTM3U\n#EXT-X-TARGETDURATION:4\n#EXT-X-MEDIA-SEQUENCE:\(number)\n" + lines.joined() + tail
    }

    private static func plain(_ count: Int) -> [String] { Array(repeating: "", count: count) }

    private static func source(_ text: String) throws -> MediaSource {
        try #require(try MediaPlaylist(parsing: text, url: "https://h/x.m3u8").source.value)
    }

    private static func find(_ old: String, in new: String, limit: Int = 1000) throws -> (MediaSource, EarlierSegments?)
    {
        var head = Substring()
        for line in new.split(separator: "\n", omittingEmptySubsequences: false) {
            head = new[..<line.endIndex]
            if !line.hasPrefix("#") { break }
        }
        let first = try source(head + "\n")
        let tables = first.store.tables
        let record = try #require(tables.records.first)
        let bytes = Array(new.utf8)
        let found = EarlierSegments(
            of: try source(old), after: tables, tables.states[Int(record.state)],
            mediaSequence: first.store.mediaSequence, in: bytes.span, next: first.tailStart, limit: limit)
        return (first, found)
    }

    struct Case: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var old: String
        var new: String
        var indices: ClosedRange<Int>?

        init(_ name: String, _ old: String, _ new: String, _ indices: ClosedRange<Int>?) {
            (testDescription, self.old, self.new, self.indices) = (name, old, new, indices)
        }
    }

    static let key = "#EXT-X-KEY:METHOD=AES-128,URI=\"k\"\n"

    static let cases = [
        Case("the same", text(plain(5)), text(plain(5)), 1...4),
        Case("more at the end", text(plain(5)), text(plain(8)), 1...4),
        Case("the window moved", text(plain(5)), text(from: 2, plain(5)), 3...4),
        Case("the last one only", text(plain(5)), text(from: 4, plain(3)), nil),
        Case("all are new", text(plain(5)), text(from: 5, plain(5)), nil),
        Case("the numbers went back", text(from: 5, plain(5)), text(plain(5)), nil),
        Case("another one in the middle", text(plain(5)), text(["", "", "#EXT-X-GAP\n", "", ""]), 1...1),
        Case("another second one", text(plain(5)), text(["", "#EXT-X-GAP\n", "", ""]), nil),
        Case("another URI", text(plain(5)), text(from: 1, plain(4)).replacing("s1\n", with: "t1\n"), nil),
        Case("a key that was not there", text(plain(5)), text([key, "", ""]), nil),
        Case("the same key", text([key, "", ""]), text([key, "", "", ""]), 1...2),
        Case("a map that was not there", text(plain(5)), text(["#EXT-X-MAP:URI=\"m\"\n", "", ""]), nil),
        Case("another bit rate", text(["#EXT-X-BITRATE:5\n", "", ""]), text(["#EXT-X-BITRATE:6\n", "", ""]), nil),
        Case("another byte range", text(["#EXT-X-BYTERANGE:5@0\n", ""]), text(["#EXT-X-BYTERANGE:6@0\n", ""]), nil),
        Case("no byte range any more", text(["#EXT-X-BYTERANGE:5@0\n", ""]), text(plain(2)), nil),
        Case("a last line without a line end", String(text(plain(3)).dropLast()), text(plain(3)), 1...1),
        Case("what is behind the last one is another", text(plain(3), tail: "#EXT-X-ENDLIST\n"), text(plain(4)), 1...2),
    ]

    @Test("segments with the same bytes after the same first segment are found", arguments: cases)
    func found(_ example: Case) throws {
        let (first, found) = try Self.find(example.old, in: example.new)
        #expect(found?.indices == example.indices)
        guard let found else { return }
        #expect(found.text.lowerBound == first.tailStart)
        let lines = Array(example.new.utf8)[found.text]
        #expect(lines.count { $0 == 0x0A } == found.lineCount)
        #expect(lines.last == 0x0A)
    }

    @Test("segments above the limit are not reused")
    func limit() throws {
        let list = Self.text(Self.plain(5))
        #expect(try Self.find(list, in: list, limit: 5).1 != nil)
        #expect(try Self.find(list, in: list, limit: 4).1 == nil)
    }

    private static func rich(_ range: Range<Int>) -> String {
        text(
            from: range.lowerBound,
            range.map { number in
                var lines = number % 5 == 0 ? "#EXT-X-KEY:METHOD=AES-128,URI=\"k\(number / 5)\"\n" : ""
                if number == range.lowerBound {
                    // Repeats the tags in force at the start of the window. The map has the key of its original
                    // position.
                    lines = "#EXT-X-KEY:METHOD=AES-128,URI=\"k\(number / 4 * 4 / 5)\"\n"
                    lines += "#EXT-X-MAP:URI=\"m\(number / 4)\"\n"
                    if number / 5 != number / 4 * 4 / 5 {
                        lines += "#EXT-X-KEY:METHOD=AES-128,URI=\"k\(number / 5)\"\n"
                    }
                } else if number % 4 == 0 {
                    lines += "#EXT-X-MAP:URI=\"m\(number / 4)\"\n"
                }
                if number % 3 == 0 { lines += "#EXT-X-DISCONTINUITY\n#EXT-X-CUE-OUT:DURATION=8\n" }
                if number % 4 == 1 { lines += "#EXT-X-PROGRAM-DATE-TIME:2024-01-01T00:\(10 + number):00Z\n" }
                if number % 6 == 2 {
                    lines += "#EXT-X-DATERANGE:ID=\"d\(number)\",START-DATE=\"2024-01-01T00:00:00Z\"\n"
                }
                return lines + "#EXT-X-PART:DURATION=4,URI=\"p\(number)\"\n"
            })
    }

    private static func words(_ source: MediaSource) -> [String] {
        let tables = source.store.tables
        return tables.records.map { record in
            let state = tables.states[Int(record.state)]
            var plain = record
            plain.state = 0
            return "\(plain) \(tables.keySets[state.keys]) \(state.map.map { "\(tables.maps[$0])" } ?? "-")"
        } + tables.dates.map { "\($0)" } + tables.parts.map { "\($0)" } + tables.markers.map { "\($0)" }
    }

    @Test("reused segments equal freshly read ones, wherever the window moved", arguments: 0..<12)
    func appended(_ start: Int) throws {
        let new = Self.rich(start..<20)
        let (first, found) = try Self.find(Self.rich(0..<16), in: new)
        let earlier = try #require(found)
        #expect(earlier.indices == start + 1...15)
        var tables = first.store.tables
        let record = try #require(tables.records.first)
        var place = EarlierSegments.Place(
            line: Int(record.line), elapsedSeconds: 4, elapsedAttos: 0,
            discontinuityCount: record.discontinuityCount, state: tables.states[Int(record.state)],
            keyCount: 1, longest: (4, record.line))
        try earlier.append(to: &tables, after: &place, ReadingContext(options: .init(), url: ""))
        let taken = SegmentStore(
            text: Array(new.utf8), expansions: [], tables: tables, mediaSequence: start, discontinuitySequence: 0)
        let bytes = Array(new.utf8)[..<earlier.text.upperBound]
        let fresh = try Self.source(String(decoding: bytes, as: UTF8.self))
        let source = MediaSource(
            store: taken, original: fresh.original, tailStart: fresh.tailStart, dateRangeLines: [], isReusable: true,
            options: .init())
        #expect(Self.words(source) == Self.words(fresh))
        #expect(earlier.text.upperBound == fresh.tailStart)
        #expect(place.keyCount == fresh.store.tables.keySets.reduce(0) { $0 + $1.count })
        let lines = fresh.dateRangeLines.filter { $0.start >= earlier.text.lowerBound }
        #expect(earlier.dateRangeLines.map(\.start) == lines.map(\.start))
        #expect(earlier.dateRangeLines.map(\.range) == lines.map(\.range))
    }

    @Test("keys above the limit, including reused ones, are refused")
    func keys() throws {
        let new = Self.rich(0..<16)
        let (first, found) = try Self.find(new, in: new)
        var tables = first.store.tables
        var options = PlaylistParser.Options()
        options.limits.maximumKeyCount = 3
        var place = EarlierSegments.Place(
            line: 1, elapsedSeconds: 4, elapsedAttos: 0, discontinuityCount: 1, state: tables.states[1], keyCount: 1,
            longest: (4, 1))
        let error = #expect(throws: PlaylistError.self) {
            try found?.append(to: &tables, after: &place, ReadingContext(options: options, url: ""))
        }
        #expect(error?.code == .limitExceeded)
    }

    @Test("a longer reused segment is the longest of the playlist")
    func longest() throws {
        let list = Self.text(Self.plain(4)).replacing("#EXTINF:4,\ns2", with: "#EXTINF:9.5,\ns2")
        let (first, found) = try Self.find(list, in: list)
        var tables = first.store.tables
        let line = try #require(tables.records.first).line
        var place = EarlierSegments.Place(
            line: Int(line), elapsedSeconds: 4, elapsedAttos: 0, discontinuityCount: 0,
            state: SegmentState(), keyCount: 0, longest: (4, line))
        try #require(found).append(to: &tables, after: &place, ReadingContext(options: .init(), url: ""))
        #expect(place.longest.seconds == 10 && place.longest.line == line + 4)
    }
}
