import Testing

@testable import HLSKitMedia

@Suite struct MP4TextSampleTests {
    static func track(_ codec: MediaCodec = .tx3g, face: UInt8 = 0) -> MediaTrack {
        MediaTrack(
            id: 1, mediaType: .text, codec: codec, timescale: 1000,
            configuration: BoxWriter.zeros(24) + [face] + BoxWriter.zeros(5))
    }

    static func sample(_ text: String, _ boxes: [UInt8]...) -> [UInt8] {
        BoxWriter.be16(text.utf8.count) + Array(text.utf8) + boxes.flatMap { $0 }
    }

    static func styleBox(_ records: (range: Range<Int>, face: UInt8)...) -> [UInt8] {
        BoxWriter.box(
            "styl", BoxWriter.be16(records.count),
            records.flatMap {
                BoxWriter.be16($0.range.lowerBound) + BoxWriter.be16($0.range.upperBound) + [0, 1, $0.face, 16]
                    + BoxWriter.be32(-1)
            })
    }

    struct Case: CustomTestStringConvertible, Sendable {
        var bytes: [UInt8]
        var title: String
        var codec = MediaCodec.quickTimeText
        var testDescription: String { "\(bytes) is \(title)" }
    }

    static let cases = [
        Case(bytes: [0, 3] + Array("One".utf8), title: "One"),
        Case(bytes: [0, 6] + Array("Zwölf".utf8), title: "Zwölf"),
        Case(bytes: [0, 5] + Array("Zwölf".utf8), title: "Zwöl"),
        Case(bytes: [0, 6, 0xfe, 0xff, 0, 0x41, 0, 0xe9], title: "Aé"),
        Case(bytes: [0, 6, 0xff, 0xfe, 0x41, 0, 0xe9, 0], title: "Aé"),
        // A box after the text, an odd end, and a wrong length.
        Case(bytes: [0, 1, 0x41] + [0, 0, 0, 12] + Array("encd".utf8) + [0, 0, 1, 0], title: "A"),
        Case(bytes: [0, 5, 0xfe, 0xff, 0, 0x41, 0], title: "A"),
        Case(bytes: [0xff, 0xff, 0x41], title: "A"),
        // QuickTime text that is not UTF-8 is in the Macintosh encoding. In other text such bytes are invalid.
        Case(bytes: [0, 4, 0x43, 0x61, 0x66, 0x8e], title: "Café"),
        Case(bytes: [0, 1, 0xff], title: "ˇ"),
        Case(bytes: [0, 1, 0xc3], title: "\u{fffd}", codec: .tx3g),
        Case(bytes: [0, 8] + Array("a\r\nb\rc\n\n".utf8), title: "a\nb\nc"),
        Case(bytes: [0, 1, 0x0a], title: ""),
        Case(bytes: [0, 0], title: ""), Case(bytes: [0], title: ""), Case(bytes: [], title: ""),
    ]

    @Test("A10, K03: the text in a sample of a text track is decoded", arguments: cases)
    func text(_ test: Case) {
        let track = Self.track(test.codec)
        #expect(MP4TextSample(parsing: test.bytes[...], of: track).text == test.title)
        #expect(MP4TextSample(parsing: ([9, 9] + test.bytes)[2...], of: track).text == test.title)
    }

    struct Style: CustomTestStringConvertible, Sendable {
        var testDescription: String
        var bytes: [UInt8]
        var face: UInt8 = 0
        var codec = MediaCodec.tx3g
        var payload: String
    }

    static let styled = [
        Style(
            testDescription: "a word is italic", bytes: sample("One é two", styleBox((0..<3, 2))),
            payload: "<i>One</i> é two"),
        Style(
            testDescription: "styles follow one another", bytes: sample("abcd", styleBox((0..<1, 1), (1..<3, 7))),
            payload: "<b>a</b><b><i><u>bc</u></i></b>d"),
        Style(
            testDescription: "a style counts characters, not bytes", bytes: sample("éé a", styleBox((3..<4, 4))),
            payload: "éé <u>a</u>"),
        Style(
            testDescription: "characters of markup are escaped", bytes: sample("a < b & c"), payload: "a &lt; b &amp; c"
        ),
        Style(
            testDescription: "the sample entry has the default style", bytes: sample("ab", styleBox((0..<1, 0))),
            face: 2,
            payload: "a<i>b</i>"),
        Style(
            testDescription: "QuickTime's sample entry differs", bytes: sample("ab"), face: 2, codec: .quickTimeText,
            payload: "ab"),
        Style(
            testDescription: "a style reaches beyond the text", bytes: sample("ab\n", styleBox((1..<60_000, 2))),
            payload: "a<i>b</i>"),
        Style(
            testDescription: "styles overlap or are reversed",
            bytes: sample("abcd", styleBox((2..<3, 2), (0..<4, 1))),
            payload: "ab<i>c</i><b>d</b>"),
        Style(
            testDescription: "a style box is truncated", bytes: sample("ab", BoxWriter.box("styl", [0, 9, 0])),
            payload: "ab"),
        Style(
            testDescription: "other boxes are skipped", bytes: sample("ab", BoxWriter.box("hlit", [0, 0, 0, 1])),
            payload: "ab"),
    ]

    @Test("K03: styles of a sample become tags", arguments: styled)
    func styles(_ test: Style) {
        let sample = MP4TextSample(parsing: test.bytes[...], of: Self.track(test.codec, face: test.face))
        #expect(sample.payload == test.payload)
    }

    @Test("K03: a track declares in its flags that all its samples are forced")
    func forced() {
        var track = Self.track()
        #expect(!track.holdsOnlyForcedText)
        track.configuration[0] = 0xC0
        #expect(track.holdsOnlyForcedText)
        track.configuration = []
        #expect(!track.holdsOnlyForcedText)
    }
}
