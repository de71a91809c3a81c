import HLSKitCore
import HLSKitSimulation
import Testing

@Suite("Stalls of live streams", .timeLimit(.minutes(10)))
struct LiveStallTests {
    private static func stalls(
        _ origin: LowLatencyOrigin, limit: Duration = .seconds(150), bitsPerSecond: Double = 20_000_000
    ) throws -> Int {
        let clock = VirtualClock()
        let trace = NetworkTrace(
            constant: LinkConditions(bitsPerSecond: bitsPerSecond, latency: .milliseconds(20)))
        let transport = SimulatedTransport(over: trace, clock: clock) { origin.response(to: $0) }
        let play = try VirtualPlay(origin.url(ofVariant: 1), clock: clock, transport: transport, limit: limit)
        #expect(play.log.lines.count { $0.contains("failed") || $0.contains("missed") } == 0, "\(play.log.text)")
        // The playhead advances except in the pause and the wait after it.
        #expect(play.state.currentTime.seconds > limit.seconds - 40, "\(play.log.text)")
        return play.state.statistics.numberOfStalls
    }

    private static func pausing(segment: Duration, at start: Duration) -> LowLatencyOrigin {
        var origin = LowLatencyOrigin()
        origin.listsParts = false
        origin.holdsRequests = false
        origin.partDuration = segment / 4
        origin.faults = [.init(.pauses, during: start..<start + .seconds(20))]
        return origin
    }

    @Test(
        "F04: after an encoder pause a live stream does not stall at each segment",
        arguments: [2, 4, 6, 10], [61, 65])
    func ordinary(seconds: Int, start: Int) throws {
        #expect(try Self.stalls(Self.pausing(segment: .seconds(seconds), at: .seconds(start))) <= 2)
    }

    @Test("F04: after an encoder pause blocking reloads do not stall at each segment", arguments: [2, 6])
    func held(seconds: Int) throws {
        var origin = Self.pausing(segment: .seconds(seconds), at: .seconds(61))
        origin.holdsRequests = true
        #expect(try Self.stalls(origin) <= 2)
    }

    @Test("M05: after an encoder pause low latency stalls once, and resumes", arguments: [300, 500, 1000])
    func parts(milliseconds: Int) throws {
        var origin = LowLatencyOrigin()
        origin.partDuration = .milliseconds(milliseconds)
        origin.faults = [.init(.pauses, during: .seconds(40)..<(.seconds(60)))]
        #expect(try Self.stalls(origin) <= 1)
    }
}
