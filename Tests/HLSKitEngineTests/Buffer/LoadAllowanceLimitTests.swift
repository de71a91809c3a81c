import Testing

@testable import HLSKitEngine
@testable import HLSKitLoading

@Suite("Limits of a load allowance")
struct LoadAllowanceLimitTests {
    @Test(
        "the reserve is four loading times of a megabyte, and at least ten seconds",
        arguments: [
            // The throughput in Mbit/s, the rate, and the expected seconds.
            (nil, 1, 10), (8, 1, 10), (1, 1, 32), (1, 2, 64), (1, 0, 32), (0, 1, 10),
        ] as [(Double?, Float, Int)])
    func reserve(throughput: Double?, rate: Float, seconds: Int) {
        var situation = ForwardBuffer.Situation(playhead: .zero)
        situation.nextSegmentDuration = .seconds(4)
        situation.nextSegmentByteCount = 1_000_000
        let reserve = LoadAllowance(yields: true).reserve(
            situation, throughput: throughput.map { $0 * 1e6 }, rate: rate)
        #expect(reserve == .seconds(seconds))
    }

    @Test(
        "a parallel segment must fit into the remaining allowance",
        arguments: [
            (LoadAllowance.everything, true), (LoadAllowance(yields: true), false),
            (LoadAllowance(byteCount: 600), true), (LoadAllowance(byteCount: 599), false),
            (LoadAllowance(duration: .seconds(20)), true), (LoadAllowance(duration: .seconds(19)), false),
        ])
    func neighbor(allowance: LoadAllowance, isAllowed: Bool) {
        var situation = LoadScheduler.Situation()
        situation.pendingByteCount = 200
        situation.nextByteCount = 300
        #expect(allowance.allowsAdditional(situation, held: 100, ahead: .seconds(20)) == isAllowed)
    }

    @Test(
        "a long segment is read up to the allowance, and for at least ten seconds",
        arguments: [
            (LoadAllowance.everything, nil), (LoadAllowance(duration: .seconds(60)), 60),
            // The media has a bit rate of 1000 bytes per second.
            (LoadAllowance(byteCount: 30_000), 30), (LoadAllowance(byteCount: 30_000, duration: .seconds(20)), 20),
            (LoadAllowance(byteCount: 3_000), 10),
        ] as [(LoadAllowance, Int?)])
    func reading(allowance: LoadAllowance, seconds: Int?) {
        let limit = allowance.limitOfReading(demuxed: .seconds(8), byteCount: 8_000)
        #expect(limit == seconds.map { .seconds($0) })
    }
}
