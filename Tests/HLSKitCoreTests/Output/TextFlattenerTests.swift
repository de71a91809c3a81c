import Testing

@testable import HLSKitCore

@Suite("texts that overlap, one after the other")
struct TextFlattenerTests {
    struct Case: Sendable, CustomTestStringConvertible {
        var testDescription: String
        /// `START-END TEXT`.
        var input: [String]
        /// The same, lines separated by `/`.
        var output: [String]
    }

    private static let cases = [
        Case(testDescription: "one", input: ["0-2 a"], output: ["0-2 a"]),
        Case(
            testDescription: "one after the other, with and without a pause", input: ["0-2 a", "2-3 b", "5-6 c"],
            output: ["0-2 a", "2-3 b", "5-6 c"]),
        Case(testDescription: "two at the same time", input: ["1-3 a", "1-3 b"], output: ["1-3 a/b"]),
        Case(
            testDescription: "one inside another", input: ["0-9 a", "3-5 b"], output: ["0-3 a", "3-5 a/b", "5-9 a"]),
        Case(
            testDescription: "one that outlasts another", input: ["0-4 a", "3-7 b", "8-9 c"],
            output: ["0-3 a", "3-4 a/b", "4-7 b", "8-9 c"]),
        Case(
            testDescription: "three", input: ["0-6 a", "2-4 b", "3-5 c"],
            output: ["0-2 a", "2-3 a/b", "3-4 a/b/c", "4-5 a/c", "5-6 a"]),
        Case(testDescription: "one that takes no time", input: ["1-1 a", "2-3 b"], output: ["2-3 b"]),
        Case(
            testDescription: "one that comes out of order is shown with the rest", input: ["4-6 a", "2-5 b"],
            output: ["4-5 a/b", "5-6 a"]),
    ]

    private static func piece(_ line: String) -> TextFlattener.Piece {
        let words = line.split(separator: " ")
        let times = words[0].split(separator: "-").compactMap { Int64($0) }
        return TextFlattener.Piece(start: times[0], end: times[1], text: Array(words[1].utf8))
    }

    private static func line(_ piece: TextFlattener.Piece) -> String {
        let text = String(decoding: piece.text, as: UTF8.self).replacing("\n", with: "/")
        return "\(piece.start)-\(piece.end) \(text)"
    }

    @Test("S03: no time has two samples, and none of the texts is lost", arguments: cases)
    func order(_ example: Case) {
        var flattener = TextFlattener()
        var pieces = example.input.flatMap { flattener.add(Self.piece($0)) }
        pieces += flattener.finish()
        #expect(pieces.map(Self.line) == example.output)
    }

    @Test("S03: what is settled need not wait for the next text")
    func settled() {
        var flattener = TextFlattener()
        #expect(flattener.add(Self.piece("0-4 a")).isEmpty)
        #expect(flattener.add(Self.piece("2-8 b")).map(Self.line) == ["0-2 a"])
        #expect(flattener.settle(until: 3).isEmpty)
        #expect(flattener.settle(until: 6).map(Self.line) == ["2-4 a/b"])
        // What comes too late is shown with what is not settled.
        #expect(flattener.add(Self.piece("1-7 c")).isEmpty)
        #expect(flattener.finish().map(Self.line) == ["4-7 b/c", "7-8 b"])
    }

    @Test("more texts at once than any screen has room for are bounded")
    func bounded() {
        var flattener = TextFlattener()
        var count = 0
        for index in 0..<20_000 { count += flattener.add(Self.piece("\(index)-100000 a")).map(\.text.count).max() ?? 0 }
        #expect(flattener.finish().allSatisfy { $0.text.count < 200 })
        #expect(count < 20_000 * 200)
    }
}
