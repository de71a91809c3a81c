import HLSKitCaptions
import HLSKitTime
import Testing

@Suite struct WebVTTCaptionTests {
    @Test("K05: WebVTT: times, names, styles, classes, entities, voices and ruby of a cue are read")
    func reads() throws {
        let content = try read(
            .webVTT,
            """
            WEBVTT - a title
            X-TIMESTAMP-MAP=MPEGTS:900000,LOCAL:00:00:00.000

            STYLE
            ::cue(.loud) { color: #ff8000; font-weight: bold }
            ::cue(v) { font-style: italic }

            NOTE a comment

            one
            00:01.000 --> 00:02.500 align:left
            a <b>bold &amp; <i>both</i></b> <c.yellow.bg_blue>Y</c> <c.loud>L</c>

            00:00:03.000 --> 00:00:04.000
            <v.x Mary>said</v> <00:03.500>late <ruby>kanji<rt>reading</rt></ruby>
            """)
        #expect(content.notes.isEmpty)
        let first = content.captions[0]
        #expect(first.text == "a bold & both Y L")
        #expect(first.timeRange == ms(1000, 2500))
        #expect(first.identifier == "one")
        #expect(first.textAlignment == .left)
        #expect(first.region == nil)
        #expect(
            first.styledWords.map(\.style) == [
                .plain, CaptionStyle(fontWeight: .bold), CaptionStyle(fontWeight: .bold),
                CaptionStyle(fontWeight: .bold, fontStyle: .italic),
                CaptionStyle(textColor: .yellow, backgroundColor: .blue),
                CaptionStyle(textColor: CaptionColor(red: 255, green: 128, blue: 0), fontWeight: .bold),
            ])
        let second = content.captions[1]
        #expect(second.text == "said late kanji")
        #expect(
            second.styledWords.map(\.style) == [
                CaptionStyle(fontStyle: .italic, voice: "Mary"), .plain,
                CaptionStyle(ruby: CaptionRuby(text: "reading")),
            ])
    }

    struct Placed: CustomTestStringConvertible, Sendable {
        var settings: String
        var region: CaptionRegion?
        var testDescription: String { settings.isEmpty ? "(none)" : settings }
    }

    @Test(
        "K05: WebVTT: a cue's position is read as a region",
        arguments: [
            Placed(settings: "", region: nil),
            Placed(settings: "line:0", region: CaptionRegion(origin: CaptionPoint(y: .cells(0)))),
            Placed(settings: "line:-1", region: CaptionRegion(origin: CaptionPoint(y: .cells(-1)))),
            Placed(settings: "line:20%", region: CaptionRegion(origin: CaptionPoint(y: .percent(20)))),
            Placed(
                settings: "line:90%,end",
                region: CaptionRegion(
                    origin: CaptionPoint(y: .percent(0)), size: CaptionSize(height: .percent(90)),
                    displayAlignment: .after)),
            Placed(
                settings: "line:30%,center",
                region: CaptionRegion(
                    origin: CaptionPoint(y: .percent(0)), size: CaptionSize(height: .percent(60)),
                    displayAlignment: .center)),
            Placed(
                settings: "position:10%,line-left size:40%",
                region: CaptionRegion(
                    origin: CaptionPoint(x: .percent(10)), size: CaptionSize(width: .percent(40)))),
            Placed(
                settings: "position:50% size:40%",
                region: CaptionRegion(
                    origin: CaptionPoint(x: .percent(30)), size: CaptionSize(width: .percent(40)))),
            Placed(
                settings: "size:35% align:end",
                region: CaptionRegion(
                    origin: CaptionPoint(x: .percent(65)), size: CaptionSize(width: .percent(35)))),
            Placed(settings: "vertical:rl", region: CaptionRegion(writingMode: .topToBottomAndRightToLeft)),
            Placed(
                settings: "region:r",
                region: CaptionRegion(
                    identifier: "r", origin: CaptionPoint(x: .percent(10), y: .percent(70)),
                    size: CaptionSize(width: .percent(40), height: .cells(3)), scroll: .rollUp)),
            Placed(settings: "region:r line:0", region: CaptionRegion(origin: CaptionPoint(y: .cells(0)))),
            Placed(settings: "region:r vertical:lr", region: CaptionRegion(writingMode: .topToBottomAndLeftToRight)),
            Placed(
                settings: "region:r size:50%",
                region: CaptionRegion(
                    origin: CaptionPoint(x: .percent(25)), size: CaptionSize(width: .percent(50)))),
        ])
    func regions(_ placed: Placed) throws {
        let text = """
            WEBVTT

            REGION
            id:r
            width:40%
            lines:3
            regionanchor:0%,100%
            viewportanchor:10%,90%
            scroll:up

            00:00.000 --> 00:01.000 \(placed.settings)
            text
            """
        let captions = try read(.webVTT, text).captions
        #expect(captions.first?.region == placed.region)
        #expect(try read(.webVTT, written(.webVTT, captions)).captions == captions)
    }

    @Test("K04: WebVTT: written captions read back unchanged", arguments: UInt64(0)..<40)
    func roundTrip(seed: UInt64) throws {
        var maker = CaptionMaker(seed: seed)
        let captions = maker.captions(lines: [.underline, .lineThrough]) { style, random in
            style.backgroundColor = [nil, .black].randomElement(using: &random) ?? nil
            style.ruby = Int.random(in: 0..<6, using: &random) == 0 ? CaptionRuby(text: "r<&") : nil
            style.voice = Int.random(in: 0..<6, using: &random) == 0 ? "A & B" : nil
        } make: { index, text, runs, random in
            let start = Int64(index) * 2000 + Int64.random(in: 0..<2000, using: &random)
            return Caption(
                text, timeRange: ms(start, start + Int64.random(in: 1...5000, using: &random)),
                styles: runs, textAlignment: [nil, .start, .end, .left, .right, .center][index % 6],
                identifier: index % 3 == 0 ? "name \(index)" : "")
        }
        let file = try written(.webVTT, captions)
        let content = try read(.webVTT, file)
        #expect(content.notes.isEmpty)
        #expect(content.captions == captions)
        #expect(try written(.webVTT, content.captions) == file)
    }

    @Test("K04: WebVTT: an empty line in a caption does not end its cue")
    func emptyLines() throws {
        let file = try written(.webVTT, [Caption("a\n\n \nb", timeRange: ms(0, 1000))])
        #expect(file == "WEBVTT\n\n00:00:00.000 --> 00:00:01.000\na\nb\n")
    }

    @Test("K04: a caption before zero is omitted, and one without a start is an error")
    func oddTimes() throws {
        let file = try written(
            .webVTT,
            [
                Caption("gone", timeRange: ms(-2000, -1000)), Caption("cut", timeRange: ms(-2000, 1000)),
                Caption("open", timeRange: MediaTimeRange(start: .zero, duration: .positiveInfinity)),
            ])
        #expect(
            file == "WEBVTT\n\n00:00:00.000 --> 00:00:01.000\ncut\n\n00:00:00.000 --> 99:59:59.000\nopen\n")
        #expect(throws: CaptionError.self) {
            try written(.webVTT, [Caption("x", timeRange: .invalid)])
        }
    }

    @Test("K05: WebVTT: other text is an error with its line")
    func notWebVTT() {
        #expect(throws: CaptionError(code: .notThisFormat, line: 1, text: "it does not begin with WEBVTT")) {
            try read(.webVTT, "hello")
        }
    }
}
