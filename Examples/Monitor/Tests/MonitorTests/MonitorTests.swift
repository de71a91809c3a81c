import HLSKitCore
import HLSKitSimulation
import Testing

@testable import Monitor

@Suite("Streams that fail and return", .timeLimit(.minutes(10)))
struct MonitorTests {
    private static func error(_ code: HLSError.Code) -> HLSError { HLSError(code: code, cause: "x") }

    @Test("temporary failures are retried soon, then less often; permanent failures rarely")
    func delays() {
        var comeback = RestartSchedule()
        let passing = (0..<7).map { _ in comeback.delay(after: Self.error(.network), played: .zero) }
        #expect(passing == [1, 2, 5, 10, 30, 30, 30].map { .seconds($0) })
        #expect(comeback.delay(after: Self.error(.notFound), played: .zero) == .seconds(300))
        #expect(comeback.delay(after: Self.error(.network), played: .seconds(59)) == .seconds(30))
        #expect(comeback.delay(after: Self.error(.network), played: .seconds(61)) == .seconds(1))
    }

    /// Returns a watch of a ten-minute stream whose server gives `answer` between two times.
    private static func watch(
        _ clock: VirtualClock, _ answer: SimulatedResponse, from start: Int, to end: Int
    ) -> StreamWatch {
        let stream = SyntheticStream(bitRates: [400_000])
        let link = NetworkTrace(constant: LinkConditions(bitsPerSecond: 20_000_000, latency: .milliseconds(20)))
        let transport = SimulatedTransport(over: link, clock: clock) { request in
            request.time >= .seconds(start) && request.time < .seconds(end) ? answer : stream.response(to: request)
        }
        return StreamWatch(
            url: stream.urlString, configuration: PlayerConfiguration(clock: clock, transport: transport))
    }

    private func play(_ watch: StreamWatch, _ clock: VirtualClock) throws -> (lines: [String], end: Duration) {
        try clock.run {
            var lines: [String] = []
            await watch.run { lines.append($0) }
            return (lines, clock.now.offset)
        }
    }

    @Test("after five minutes of server outage the film continues where it failed")
    func outage() throws {
        let clock = VirtualClock()
        let (lines, end) = try play(Self.watch(clock, .status(503), from: 60, to: 360), clock)
        #expect(lines.last?.hasSuffix("played to the end") == true)
        let failures = lines.filter { $0.hasPrefix("failed: ") }
        #expect(failures.count >= 2)
        #expect(failures.first?.hasSuffix("again in 1.0 seconds") == true)
        // Starting again from the beginning would take 600 s after the outage.
        #expect(end > .seconds(600) && end < .seconds(930))
    }

    @Test("a missing stream is requested every five minutes")
    func absent() throws {
        let clock = VirtualClock()
        let (lines, end) = try play(Self.watch(clock, .notFound, from: 0, to: 400), clock)
        #expect(lines.filter { $0.hasPrefix("failed until somebody mends it: not found") }.count == 2)
        #expect(lines.last?.hasSuffix("played to the end") == true)
        #expect(end > .seconds(1200) && end < .seconds(1210))
    }

    @Test("cancelling the task ends the watch and its requests")
    func cancelled() throws {
        let clock = VirtualClock()
        let watch = Self.watch(clock, .status(503), from: 60, to: 360)
        try clock.run {
            let task = Task(executorPreference: clock) { await watch.run { _ in } }
            try await clock.sleep(for: .seconds(200))
            task.cancel()
            await task.value
        }
        #expect(clock.now.offset == .seconds(200))
        clock.advance(by: .seconds(1))
        #expect(clock.nextDeadline == nil)
    }
}
