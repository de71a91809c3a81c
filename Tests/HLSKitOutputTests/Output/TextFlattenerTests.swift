import HLSKitCaptions
import HLSKitTime
import Testing

@testable import HLSKitOutput

@Suite("Flattening overlapping texts")
struct TextFlattenerTests {
    struct Case: Sendable, CustomTestStringConvertible {
        var testDescription: String
        /// Entries of the form `START-END TEXT`.
        var input: [String]
        /// Entries of the same form, with lines separated by `/`.
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
            testDescription: "one that comes out of order, before anything was handed out", input: ["4-6 a", "2-5 b"],
            output: ["2-4 b", "4-5 a/b", "5-6 a"]),
    ]

    private static func second(_ value: Int64) -> MediaTime { MediaTime(value: value, timescale: 1) }

    private static func add(_ line: String, to flattener: inout TextFlattener) -> [String] {
        let words = line.split(separator: " ").map(String.init)
        let times = words[0].split(separator: "-").compactMap { Int64($0) }.map(second)
        return lines(flattener.add(words[1], in: MediaTimeRange(start: times[0], end: times[1])))
    }

    private static func lines(_ groups: [CaptionGroup]) -> [String] {
        groups.map { group in
            let text = group.captions.map(\.text).joined(separator: "/")
            return "\(group.timeRange.start.value)-\(group.timeRange.end.value) \(text)"
        }
    }

    @Test("S03: samples never overlap, and no text is lost", arguments: cases)
    func order(_ example: Case) {
        var flattener = TextFlattener()
        let settled = example.input.flatMap { Self.add($0, to: &flattener) }
        #expect(settled + Self.lines(flattener.finish()) == example.output)
    }

    @Test("S03: an ended text is written without waiting for the next, and only cut at changes")
    func settled() {
        var flattener = TextFlattener()
        #expect(Self.add("0-4 a", to: &flattener).isEmpty)
        #expect(Self.lines(flattener.settle(until: Self.second(2))).isEmpty)
        #expect(Self.lines(flattener.settle(until: Self.second(5))) == ["0-4 a"])
        #expect(Self.lines(flattener.settle(until: Self.second(6))).isEmpty)
        #expect(Self.add("3-8 b", to: &flattener).isEmpty)
        #expect(Self.lines(flattener.finish()) == ["4-8 b"])
    }

    @Test("the number of simultaneous texts is bounded")
    func bounded() {
        var flattener = TextFlattener()
        for index in 0..<500 { _ = Self.add("\(index / 100)-100000 a", to: &flattener) }
        let groups = flattener.finish()
        #expect(!groups.isEmpty)
        #expect(groups.allSatisfy { $0.captions.count <= 64 })
    }
}
