import HLSKitMedia
import Testing

@Suite struct ChapterTitleTests {
    struct Case: CustomTestStringConvertible, Sendable {
        var bytes: [UInt8]
        var title: String
        var testDescription: String { "\(bytes) is \(title)" }
    }

    static let cases = [
        Case(bytes: [0, 3] + Array("One".utf8), title: "One"),
        Case(bytes: [0, 5] + Array("Zwölf".utf8), title: "Zwöl"),
        Case(bytes: [0, 6] + Array("Zwölf".utf8), title: "Zwölf"),
        Case(bytes: [0, 6, 0xfe, 0xff, 0, 0x41, 0, 0xe9], title: "Aé"),
        Case(bytes: [0, 6, 0xff, 0xfe, 0x41, 0, 0xe9, 0], title: "Aé"),
        // A box behind the text, an odd end, a length that lies, bytes that are no text.
        Case(bytes: [0, 1, 0x41] + [0, 0, 0, 12] + Array("encd".utf8) + [0, 0, 1, 0], title: "A"),
        Case(bytes: [0, 5, 0xfe, 0xff, 0, 0x41, 0], title: "A"),
        Case(bytes: [0xff, 0xff, 0x41], title: "A"),
        Case(bytes: [0, 1, 0xc3], title: "\u{fffd}"),
        Case(bytes: [0, 0], title: ""), Case(bytes: [0], title: ""), Case(bytes: [], title: ""),
    ]

    @Test("A10: the title in a chapter track's sample is read", arguments: cases)
    func title(_ test: Case) {
        #expect(ChapterTitle.text(ofSample: test.bytes[...]) == test.title)
        #expect(ChapterTitle.text(ofSample: ([9, 9] + test.bytes)[2...]) == test.title)
    }
}
