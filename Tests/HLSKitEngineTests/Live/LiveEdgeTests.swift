import Testing

@testable import HLSKitEngine

@Suite("Live edge")
struct LiveEdgeTests {
    private static func edge(_ lists: [(end: Int, time: Int)]) -> LiveEdge {
        var edge = LiveEdge()
        for list in lists { edge.note(end: .milliseconds(list.end), at: .milliseconds(list.time)) }
        return edge
    }

    struct Case: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var lists: [(end: Int, time: Int)]
        var now: Int
        var edge: Int?
    }

    @Test(
        "M06: the live edge is the playlist's end plus its age, taken from the earliest report",
        arguments: [
            Case(testDescription: "no list", lists: [], now: 0, edge: nil),
            Case(testDescription: "just come", lists: [(10_000, 500)], now: 500, edge: 10_000),
            Case(testDescription: "300 ms old", lists: [(10_000, 500)], now: 800, edge: 10_300),
            Case(
                testDescription: "a piece at most: the encoder may pause", lists: [(10_000, 500)], now: 9000,
                edge: 10_500),
            Case(
                testDescription: "one that came late tells less",
                lists: [(10_000, 500), (10_500, 1000), (11_000, 1900)], now: 1900, edge: 11_400),
            Case(
                testDescription: "one that came sooner tells more",
                lists: [(10_000, 900), (10_500, 1000), (11_000, 1500)], now: 1600, edge: 11_100),
            Case(
                testDescription: "the same list told again", lists: [(10_000, 500), (10_000, 500)], now: 700,
                edge: 10_200),
            Case(
                testDescription: "the timeline has moved", lists: [(10_000, 500), (10_500, 1000), (10_400, 1000)],
                now: 1000, edge: 10_400),
            Case(
                testDescription: "a list that ends earlier", lists: [(10_000, 500), (3000, 1500)], now: 1500, edge: 3000
            ),
            Case(
                testDescription: "after a pause of the encoder what was listed counts",
                lists: [(10_000, 500), (10_500, 21_000)], now: 21_000, edge: 11_000),
            Case(
                testDescription: "eight lists later the pause is forgotten",
                lists: [(10_000, 500)] + (0..<8).map { (10_500 + $0 * 500, 21_000 + $0 * 500) }, now: 24_500,
                edge: 14_000),
        ])
    func estimate(_ testCase: Case) {
        let edge = Self.edge(testCase.lists)
        #expect(
            edge.estimate(at: .milliseconds(testCase.now), piece: .milliseconds(500))
                == testCase.edge.map { .milliseconds($0) })
    }
}
