import HLSKitSelection
import TestSupport
import Testing

@testable import HLSKitEngine

@Suite("Item rates")
struct ItemRatesTests {
    private static let all = TimeControlMachine.RateCapabilities(
        canPlayFastForward: true, canPlayReverse: true, canPlaySlowReverse: true, canPlayFastReverse: true)

    @Test(
        "rates above 2 and below 0 use I-frames if available",
        arguments: [
            (0, nil), (1, nil), (2, nil), (2.5, .forward), (8, .forward), (-0.5, .reverse), (-1, .reverse),
            (-8, .reverse),
        ] as [(Float, TrickPlay.Direction?)])
    func direction(rate: Float, expected: TrickPlay.Direction?) {
        var rates = ItemRates()
        #expect(rates.direction(at: rate) == nil)
        rates.open(Self.all)
        #expect(rates.direction(at: rate) == expected)
        rates.fail()
        #expect(rates.direction(at: rate) == nil)
        #expect(rates.capabilities == Self.all)
    }

    @Test("each direction is independent of the other")
    func some() {
        var rates = ItemRates()
        rates.open(TimeControlMachine.RateCapabilities(canPlayReverse: true))
        #expect(rates.direction(at: -1) == .reverse)
        #expect(rates.direction(at: -2) == nil)
        #expect(rates.direction(at: 4) == nil)
    }

    @Test(
        "I-frames start and stop with the rate, except for the last one at a boundary")
    func changes() throws {
        let playable = ItemRates.Facts(isPlayable: true)
        var rates = ItemRates()
        rates.open(Self.all)
        #expect(!rates.mayChange(at: 2) && rates.mayChange(at: 8) && rates.mayChange(at: -1))
        #expect(rates.change(at: 1, playable) == nil)
        #expect(rates.change(at: 8, ItemRates.Facts()) == nil)
        #expect(rates.change(at: 8, playable) == .iFrames(.forward))
        #expect(!rates.endsWithSeek(at: 1))
        let list = PlaylistTracker(
            try PlaylistText.numbered(0, count: 3, isEnded: true).parsed(), requestURL: "list", url: "list",
            start: .zero, loadBegan: .zero, now: .zero)
        rates.begin(TrickPlay(.forward, from: .zero, in: list, end: .seconds(12), bitRate: nil))
        #expect(rates.mayChange(at: 1))
        #expect(rates.change(at: 4, playable) == nil)
        #expect(rates.change(at: -1, playable) == .iFrames(.reverse))
        #expect(rates.change(at: 1, playable) == .media)
        #expect(rates.endsWithSeek(at: 1) && !rates.endsWithSeek(at: 8))
        let atEnd = ItemRates.Facts(isPlayable: true, isAtBoundary: true, isAtEnd: true)
        let atStart = ItemRates.Facts(isPlayable: true, isAtBoundary: true)
        #expect(rates.change(at: 0, atEnd) == nil)
        #expect(rates.change(at: 1, atEnd) == nil)
        #expect(rates.change(at: 0, atStart) == nil)
        #expect(rates.change(at: 1, atStart) == .media)
        #expect(rates.limit(forwardEnd: .seconds(8)) == .seconds(8))
        rates.end()
        #expect(rates.change(at: 1, playable) == nil)
    }
}
