import Testing

@testable import HLSKitEngine

@Suite("Distance from the live edge")
struct LiveOffsetTests {
    private static func recommendation(
        _ offset: LiveOffset, configured: Int = 12, window: Int = 60, at now: Int
    ) -> Duration {
        offset.recommendation(
            configured: .seconds(configured), target: .seconds(4), window: .seconds(window), at: .seconds(now))
    }

    @Test(
        "each recent stall moves the recommendation back by a target duration, within the window",
        arguments: [
            ([], 10, 60, 12), ([0], 10, 60, 16), ([0, 5], 10, 60, 20), ([0, 5, 9], 10, 21, 21),
            // What is configured holds, also where there is less.
            ([0, 5], 10, 8, 12),
            // Five minutes ago.
            ([0, 5], 300, 60, 16), ([0, 5], 305, 60, 12),
        ] as [([Int], Int, Int, Int)])
    func recommends(stalls: [Int], now: Int, window: Int, expected: Int) {
        var offset = LiveOffset()
        for stall in stalls { offset.stall(at: .seconds(stall)) }
        #expect(Self.recommendation(offset, window: window, at: now) == .seconds(expected))
    }

    @Test("a changed recommendation is reported to the app, but not the first one")
    func tells() {
        var offset = LiveOffset()
        #expect(offset.isNews(.seconds(12)))
        #expect(offset.recommend(.seconds(12)) == false)
        #expect(!offset.isNews(.seconds(12)))
        #expect(offset.isNews(.seconds(16)))
        #expect(offset.recommend(.seconds(16)) == true)
    }

    @Test("the distance before a wait is restored once, if there was one")
    func keeps() {
        var offset = LiveOffset()
        #expect(!offset.isHeld && !offset.hasWaited)
        offset.hold(.seconds(12))
        offset.hold(.seconds(20))
        #expect(offset.isHeld && !offset.hasWaited)
        offset.resume()
        #expect(offset.hasWaited)
        #expect(offset.take() == .seconds(20))
        #expect(!offset.isHeld && !offset.hasWaited)
        #expect(offset.take() == nil)
    }
}
