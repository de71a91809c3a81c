import HLSKitTime
import Testing

@Suite("Time window with optional bounds")
struct TimeWindowTests {
    static let bounded = TimeWindow(from: .seconds(2), until: .seconds(4))

    @Test(
        "a range that only touches a bound from outside does not overlap",
        arguments: [
            (bounded, 0, 2, false), (bounded, 0, 3, true), (bounded, 3, 9, true), (bounded, 4, 9, false),
            (bounded, 0, 9, true), (TimeWindow(from: .seconds(2)), -9, 2, false),
            (TimeWindow(from: .seconds(2)), 900, 901, true), (TimeWindow(until: .seconds(4)), -900, -899, true),
            (TimeWindow(until: .seconds(4)), 4, 5, false), (TimeWindow(), -900, 900, true),
        ])
    func overlap(_ window: TimeWindow, _ begin: Int, _ finish: Int, _ overlaps: Bool) {
        #expect(window.overlaps(.seconds(begin), .seconds(finish)) == overlaps)
    }

    @Test("only a window with an end can have ended")
    func over() {
        #expect(!Self.bounded.isOver(at: .seconds(3)))
        #expect(Self.bounded.isOver(at: .seconds(4)))
        #expect(!TimeWindow(from: .seconds(2)).isOver(at: .seconds(1_000_000)))
    }
}
