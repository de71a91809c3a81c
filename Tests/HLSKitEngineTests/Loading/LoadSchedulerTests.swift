import HLSKitLoading
import HLSKitSelection
import Testing

@testable import HLSKitEngine

@Suite("Parallel loading")
struct LoadSchedulerTests {
    struct Case: CustomTestStringConvertible {
        var what: String
        var mayBegin: Bool
        var change: @Sendable (inout LoadScheduler.Situation) -> Void
        var testDescription: String { what }
    }

    /// Half-second segments of 1 Mbit/s over 20 Mbit/s: 25 ms of transfer for 100 ms of latency.
    private static let farAway: LoadScheduler.Situation = {
        var situation = LoadScheduler.Situation()
        situation.nextByteCount = 62_500
        situation.nextDuration = .milliseconds(500)
        situation.ahead = .seconds(8)
        situation.aheadWhenLoaded = .seconds(10)
        situation.throughput = 20e6
        situation.latency = .milliseconds(100)
        situation.neededBitsPerSecond = 1e6
        return situation
    }()

    private static let cases: [Case] = [
        Case(what: "short segments far away, plenty of bandwidth", mayBegin: true) { _ in },
        Case(what: "three are on their way", mayBegin: true) { $0.requestCount = 3 },
        Case(what: "four are on their way", mayBegin: false) { $0.requestCount = 4 },
        Case(what: "nothing was measured", mayBegin: false) { $0.throughput = nil },
        Case(what: "playing waits for media", mayBegin: false) { $0.isWaiting = true },
        Case(what: "a first byte takes longer than half a segment lasts, and playing waits for it", mayBegin: true) {
            $0.isWaiting = true
            $0.ahead = .zero
            $0.latency = .milliseconds(250)
        },
        Case(what: "it does, and the link is too fast to be measured", mayBegin: true) {
            $0.isWaiting = true
            $0.latency = .milliseconds(250)
            $0.throughput = nil
        },
        Case(what: "it does, and the link gives no more than what playing takes", mayBegin: false) {
            $0.isWaiting = true
            $0.latency = .milliseconds(250)
            $0.neededBitsPerSecond = 15e6
        },
        Case(what: "the link gives less than twice what playing takes", mayBegin: false) {
            $0.neededBitsPerSecond = 10.1e6
        },
        // 40 Mbit take 2 s on this link, plus 0.1 s of latency.
        Case(what: "the buffer outlasts all that is on its way twice", mayBegin: true) {
            $0.pendingByteCount = 4_937_500
            $0.ahead = .seconds(4.2)
        },
        Case(what: "it does not", mayBegin: false) {
            $0.pendingByteCount = 4_937_500
            $0.ahead = .seconds(4.1)
        },
        Case(what: "the server is near", mayBegin: false) { $0.latency = .milliseconds(5) },
        Case(what: "segments are long", mayBegin: false) { $0.nextByteCount = 1_250_000 },
        Case(what: "the buffer will be full", mayBegin: false) { $0.aheadWhenLoaded = .seconds(29.6) },
        Case(what: "too many bytes wait", mayBegin: false) { $0.pendingByteCount = 16 << 20 },
        // 100 ms of this link are 250 kB.
        Case(what: "parts: what is on its way is here before the next can begin", mayBegin: true) {
            $0.isPart = true
            $0.ahead = .zero
            $0.isWaiting = true
            $0.neededBitsPerSecond = 15e6
            $0.remainingByteCount = 250_000
        },
        Case(what: "parts: the next would share the link", mayBegin: false) {
            $0.isPart = true
            $0.remainingByteCount = 250_001
        },
        Case(what: "parts: nothing was measured", mayBegin: false) {
            $0.isPart = true
            $0.throughput = nil
        },
        Case(what: "parts: four are on their way", mayBegin: false) {
            $0.isPart = true
            $0.requestCount = 4
        },
        Case(what: "unpaced: five connections are busy", mayBegin: true) {
            $0.pacing = .unpaced
            $0.requestCount = 5
            $0.throughput = nil
        },
        Case(what: "unpaced: six connections are busy", mayBegin: false) {
            $0.pacing = .unpaced
            $0.requestCount = 6
        },
        Case(what: "unpaced: six streams of one connection are busy", mayBegin: true) {
            $0.pacing = .unpaced
            $0.requestCount = 6
            $0.isMultiplexed = true
        },
        Case(what: "unpaced: 64 streams are busy", mayBegin: false) {
            $0.pacing = .unpaced
            $0.requestCount = 64
            $0.isMultiplexed = true
        },
        Case(what: "unpaced: more bytes than are allowed", mayBegin: false) {
            $0.pacing = .unpaced
            $0.pendingByteCount = 15 << 20
            $0.nextByteCount = 2 << 20
        },
        Case(what: "sizes beyond all numbers", mayBegin: false) {
            $0.pacing = .unpaced
            $0.pendingByteCount = .max
        },
    ]

    @Test("D07: requests overlap only if that saves important round trips", arguments: cases)
    func mayBegin(_ entry: Case) {
        var situation = Self.farAway
        entry.change(&situation)
        #expect(LoadScheduler().mayBegin(situation) == entry.mayBegin)
    }

    @Test("D07: the maximum number of parallel requests during playback is a setting", arguments: [2, 3, 8])
    func ownMaximum(count: Int) {
        var scheduler = LoadScheduler()
        scheduler.limits = ParallelLoading(requestsWhilePlaying: count)
        var situation = Self.farAway
        situation.requestCount = count - 1
        #expect(scheduler.mayBegin(situation))
        situation.requestCount = count
        #expect(!scheduler.mayBegin(situation))
    }
}
