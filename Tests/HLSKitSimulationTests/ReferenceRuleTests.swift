import HLSKitCore
import Testing

@testable import HLSKitSimulation

@Suite("Reference rules")
struct ReferenceRuleTests {
    /// 1, 2 and 4 Mbit/s.
    private static let variants = [1e6, 2e6, 4e6].enumerated().map { AssetVariant(index: $0, peakBitRate: $1) }

    private static func input(
        _ rate: Double, count: Int = 20, current: Int, from start: Int = 0, buffer: Duration = .seconds(2)
    ) -> SelectionInput {
        let transfers = (0..<count).map { index in
            let requested = Duration.seconds(10 * (start + index))
            return MeasuredTransfer(
                byteCount: 250_000, requested: requested, firstByte: requested,
                finished: requested + .seconds(2e6 / rate))
        }
        return SelectionInput(
            now: .seconds(10 * (start + count)), candidates: variants, currentVariantID: variants[current].id,
            recentTransfers: transfers, forwardBuffer: buffer, upcoming: [.init(duration: .milliseconds(500))])
    }

    private static func choice(_ rule: any VariantSelector, _ input: SelectionInput) -> Int? {
        var rule = rule
        let decision = rule.decide(input)
        return variants.firstIndex { $0.id == decision.variantID }
    }

    @Test("hls.js selects a variant within 0.95 of the throughput, and a better one within 0.7")
    func hlsjs() {
        // 2 / 0.95 = 2.105, 4 / 0.95 = 4.21, 2 / 0.7 = 2.857, 4 / 0.7 = 5.714.
        #expect(Self.choice(HLSJSRule(), Self.input(4.3e6, current: 2)) == 2)
        #expect(Self.choice(HLSJSRule(), Self.input(4.1e6, current: 2)) == 1)
        #expect(Self.choice(HLSJSRule(), Self.input(5.6e6, current: 1)) == 1)
        #expect(Self.choice(HLSJSRule(), Self.input(5.8e6, current: 1)) == 2)
        #expect(Self.choice(HLSJSRule(), Self.input(2.8e6, current: 0)) == 0)
        #expect(Self.choice(HLSJSRule(), Self.input(2.9e6, current: 0)) == 1)
    }

    @Test("hls.js abandons a part that would outlast the buffer if a lower variant arrives earlier")
    func hlsjsGivesUp() {
        var input = Self.input(8e6, current: 2, buffer: .milliseconds(600))
        let requested = input.now - .milliseconds(400)
        input.download = .init(
            variantID: Self.variants[2].id, segmentDuration: .milliseconds(500), requested: requested,
            firstByte: requested, receivedByteCount: 25_000, expectedByteCount: 250_000)
        #expect(Self.choice(HLSJSRule(), input) == 0)
        input.download?.receivedByteCount = 200_000
        #expect(Self.choice(HLSJSRule(), input) == 2)
    }

    @Test("hls.js abandons nothing before the first byte is overdue, and never the lowest variant")
    func hlsjsKeeps() {
        var input = Self.input(8e6, current: 1, buffer: .milliseconds(100))
        let requested = input.now - .milliseconds(400)
        input.download = .init(
            variantID: Self.variants[1].id, segmentDuration: .milliseconds(500), requested: requested,
            firstByte: requested, receivedByteCount: 5_000, expectedByteCount: 125_000)
        #expect(Self.choice(HLSJSRule(), input) == 1)
        // The first byte usually takes a second, so half of the segment's duration is too short for a wait.
        input = Self.input(8e6, current: 2, buffer: .milliseconds(100))
        for index in input.recentTransfers.indices { input.recentTransfers[index].firstByte += .seconds(1) }
        for index in input.recentTransfers.indices { input.recentTransfers[index].finished += .seconds(1) }
        input.download = .init(
            variantID: Self.variants[2].id, segmentDuration: .milliseconds(500),
            requested: input.now - .milliseconds(900), receivedByteCount: 0, expectedByteCount: 2_500_000)
        #expect(Self.choice(HLSJSRule(), input) == 2)
        input.download?.requested = input.now - .milliseconds(1100)
        #expect(Self.choice(HLSJSRule(), input) == 0)
    }

    @Test("hls.js restarts its estimate at the bit rate of the variant it switched down to")
    func hlsjsRestarts() {
        var rule = HLSJSRule()
        var input = Self.input(20e6, current: 2, buffer: .milliseconds(100))
        let requested = input.now - .milliseconds(400)
        input.download = .init(
            variantID: Self.variants[2].id, segmentDuration: .milliseconds(500), requested: requested,
            firstByte: requested, receivedByteCount: 15_000, expectedByteCount: 250_000)
        #expect(rule.decide(input).variantID == Self.variants[0].id)
        // 0.95 of 1 Mbit/s is less than a megabit, so the lowest variant is chosen.
        input.download = nil
        input.currentVariantID = Self.variants[0].id
        #expect(rule.decide(input).variantID == Self.variants[0].id)
    }

    @Test("Shaka takes a response within 20 ms for a cache hit and does not measure it")
    func shakaCache() {
        #expect(Self.choice(ShakaRule(), Self.input(90e6, current: 0)) == 2)
        // The estimate is still 1 Mbit/s, and 0.95 of it is less than the second variant needs.
        var input = Self.input(110e6, current: 1)
        input.currentVariantID = nil
        #expect(Self.choice(ShakaRule(), input) == 0)
    }

    @Test("Shaka goes up at 0.85 and down at 0.95 of the throughput, every eight seconds")
    func shaka() {
        // 2 / 0.85 = 2.353, 4 / 0.85 = 4.706, 2 / 0.95 = 2.105, 4 / 0.95 = 4.21.
        #expect(Self.choice(ShakaRule(), Self.input(4.6e6, current: 0)) == 2)
        #expect(Self.choice(ShakaRule(), Self.input(4.1e6, current: 2)) == 1)
        #expect(Self.choice(ShakaRule(), Self.input(2e6, current: 2)) == 0)
        var rule = ShakaRule()
        var input = Self.input(8e6, current: 0)
        #expect(rule.decide(input).variantID == Self.variants[2].id)
        input = Self.input(1e5, current: 2, from: 20)
        input.now = .seconds(207)
        #expect(rule.decide(input).variantID == Self.variants[2].id)
        input.now = .seconds(208)
        #expect(rule.decide(input).variantID == Self.variants[0].id)
    }

    @Test("without measurements hls.js assumes 500 kbit/s and Shaka a megabit")
    func unmeasured() {
        #expect(Self.choice(HLSJSRule(), Self.input(1e6, count: 0, current: 2)) == 0)
        #expect(Self.choice(ShakaRule(), Self.input(1e6, count: 0, current: 2)) == 2)
    }
}
