import Testing

@testable import HLSKitCore

@Suite("Rates of an item")
struct ItemRatesTests {
    private static let all = TimeControlMachine.RateCapabilities(
        canPlayFastForward: true, canPlayReverse: true, canPlaySlowReverse: true, canPlayFastReverse: true)

    @Test(
        "beyond 0 to 2 I-frames are played, where there are any",
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
        // What was told of the item stays told.
        #expect(rates.capabilities == Self.all)
    }

    @Test("each direction is one for itself")
    func some() {
        var rates = ItemRates()
        rates.open(TimeControlMachine.RateCapabilities(canPlayReverse: true))
        #expect(rates.direction(at: -1) == .reverse)
        #expect(rates.direction(at: -2) == nil)
        #expect(rates.direction(at: 4) == nil)
    }
}
