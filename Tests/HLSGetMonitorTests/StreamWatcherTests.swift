import FoundationEssentials
import HLSKitCore
import HLSKitSimulation
import Synchronization
import Testing

@testable import HLSGetMonitor

@Suite("Watching streams in virtual time", .timeLimit(.minutes(10)))
struct StreamWatcherTests {
    private struct Outage: Sendable {
        var start: Int
        var end: Int
        var answer: @Sendable (SimulatedRequest, SyntheticStream) -> SimulatedResponse

        init(_ start: Int, _ end: Int, _ answer: SimulatedResponse) {
            self.init(start, end) { _, _ in answer }
        }

        init(
            _ start: Int, _ end: Int,
            _ answer: @escaping @Sendable (SimulatedRequest, SyntheticStream) -> SimulatedResponse
        ) {
            self.start = start
            self.end = end
            self.answer = answer
        }

        /// The condition for the outage if its bounds are not whole seconds.
        var holdsAt: (@Sendable (Duration) -> Bool)?

        func holds(at time: Duration) -> Bool {
            holdsAt?(time) ?? (time >= .seconds(start) && time < .seconds(end))
        }
    }

    private static func watch(
        _ stream: SyntheticStream, _ outages: [Outage], for duration: Duration, interval: Duration = .seconds(1),
        demuxes: Bool = false
    ) throws -> (changes: [StreamHealth.Change], health: StreamHealth) {
        let clock = VirtualClock()
        let link = NetworkTrace(constant: LinkConditions(bitsPerSecond: 20_000_000, latency: .milliseconds(20)))
        let transport = SimulatedTransport(over: link, clock: clock) { request in
            guard let outage = outages.first(where: { $0.holds(at: request.time) }) else {
                return stream.response(to: request)
            }
            return outage.answer(request, stream)
        }
        var configuration = PlayerConfiguration(clock: clock, transport: transport)
        configuration.demuxesMedia = demuxes
        let changes = Mutex<[StreamHealth.Change]>([])
        let source = SourceClock(clock)
        let entry = MonitorEntry(name: "news", url: stream.urlString)
        let watched = WatchedStream(entry, rules: HealthRules(), clock: source, epoch: source.now) { _, change in
            changes.withLock { $0.append(change) }
        }
        let watcher = StreamWatcher(stream: watched, configuration: configuration, interval: interval)
        try clock.run {
            let task = Task(executorPreference: clock) { await watcher.run() }
            try await clock.sleep(for: duration)
            task.cancel()
            await task.value
        }
        clock.advance(by: .seconds(1))
        #expect(clock.nextDeadline == nil)
        return (changes.withLock(\.self), watched.snapshot)
    }

    /// Serves the playlist of an earlier time. Segments remain available.
    private static func frozen(at time: Int) -> @Sendable (SimulatedRequest, SyntheticStream) -> SimulatedResponse {
        { request, stream in
            var request = request
            if request.urlString.hasSuffix("index.m3u8") { request.time = .seconds(time) }
            return stream.response(to: request)
        }
    }

    /// The length of an hour of ``day()``, in seconds. With 3600, the real length, the test takes some minutes.
    private static let hour = ProcessInfo.processInfo.environment["HLSKIT_MONITOR_HOUR"].flatMap { Int($0) } ?? 450

    @Test("in a day of a live stream each outage is reported once with its name, and a glitch is not")
    func day() throws {
        let stream = SyntheticStream(
            bitRates: [8000], segmentDuration: .seconds(20), segmentCount: 5000, liveWindow: 6)
        let hour = Self.hour
        let outages: [(Outage, Set<String>)] = [
            (Outage(3 * hour, 3 * hour + 600, .status(503)), ["http_503"]),
            (Outage(7 * hour, 7 * hour + 300, .failure(.cannotConnect)), ["cannotConnect"]),
            (Outage(11 * hour, 11 * hour + 1200, .notFound), ["http_404"]),
            (Outage(15 * hour, 15 * hour + 600, Self.frozen(at: 15 * hour)), ["staleLive"]),
            (
                Outage(19 * hour, 19 * hour + 480) { request, stream in
                    var answer = stream.response(to: request)
                    answer.ending = .stalled(after: 0)
                    return answer
                }, ["timedOut"]
            ),
        ]
        let glitch = Outage(21 * hour, 21 * hour + 4, .status(503))
        let (changes, health) = try Self.watch(
            stream, outages.map(\.0) + [glitch], for: .seconds(24 * hour), interval: .seconds(5))
        let downs = changes.filter { $0.new == .down }
        #expect(downs.count == outages.count, "\(changes)")
        #expect(health.counters.outageCount == outages.count)
        for (down, (outage, codes)) in zip(downs, outages) {
            #expect(codes.contains(down.failure?.code ?? ""), "\(down)")
            // The buffer lasts for about a minute.
            let delay = down.time - .seconds(outage.start)
            #expect(delay > .zero && delay < .seconds(200), "\(delay)")
            let up = changes.first { $0.time > down.time && $0.new == .up }
            let back = up.map { $0.time - .seconds(outage.end) }
            #expect(back.map { $0 > .zero && $0 < .seconds(120) } == true, "\(String(describing: back))")
            #expect(up?.failure?.code == down.failure?.code)
        }
        for change in changes.dropFirst() {
            let isNear = outages.contains {
                change.time > .seconds($0.0.start) && change.time < .seconds($0.0.end + 180)
            }
            #expect(isNear, "\(change)")
        }
        #expect(health.state == .up)
        let outage = outages.reduce(0) { $0 + $1.0.end - $1.0.start }
        #expect((health.counters.times[.up] ?? .zero) > .seconds(24 * hour - outage - outages.count * 120))
        #expect(health.counters.segmentCount > (24 * hour - outage) / 20 - outages.count * 10)
    }

    @Test("a film is watched repeatedly")
    func film() throws {
        let stream = SyntheticStream(bitRates: [8000], segmentDuration: .seconds(10), segmentCount: 6)
        let (changes, health) = try Self.watch(stream, [], for: .seconds(600), demuxes: true)
        #expect(changes.map(\.new) == [.up])
        #expect(health.counters.playedTime > .seconds(500))
        #expect(health.counters.segmentCount > 50)
        #expect(health.counters.times[.down] == nil)
    }

    @Test("a missing stream is down, and up soon after it appears")
    func absent() throws {
        let stream = SyntheticStream(
            bitRates: [8000], segmentDuration: .seconds(4), segmentCount: 1000, liveWindow: 6)
        let (changes, _) = try Self.watch(stream, [Outage(0, 300, .notFound)], for: .seconds(400))
        #expect(changes.map(\.new) == [.down, .up])
        #expect(changes.first?.failure?.code == "http_404")
        #expect(changes.last.map { $0.time > .seconds(300) && $0.time < .seconds(360) } == true)
    }

    @Test("missing segments are reported as trouble and counted")
    func missing() throws {
        let stream = SyntheticStream(
            bitRates: [8000], segmentDuration: .seconds(4), segmentCount: 1000, liveWindow: 6)
        let gap = Outage(100, 130) { request, stream in
            request.resourceClass == .segment ? .notFound : stream.response(to: request)
        }
        let (changes, health) = try Self.watch(stream, [gap], for: .seconds(300))
        // Counts segments that were listed during the outage, were not loaded ahead, and failed in later attempts too.
        #expect(health.counters.missingSegmentCount > 1)
        #expect(changes.contains { $0.new != .up })
        #expect(changes.last?.new == .up)
        #expect(health.counters.errorCounts["http_4xx"] ?? 0 > 3)
    }

    @Test("if no segment can be loaded, the stream is down soon after its buffer has played")
    func nothingLeft() throws {
        let stream = SyntheticStream(
            bitRates: [8000], segmentDuration: .seconds(4), segmentCount: 1000, liveWindow: 6)
        let gap = Outage(100, 220) { request, stream in
            request.resourceClass == .segment ? .notFound : stream.response(to: request)
        }
        let (changes, health) = try Self.watch(stream, [gap], for: .seconds(400))
        #expect(changes.map(\.new) == [.up, .degraded, .down, .up])
        #expect(changes.dropFirst().allSatisfy { $0.failure?.code == "http_404" }, "\(changes)")
        // 12 s of buffer at most, 10 s of patience, 10 s of holding, and some time for the attempts.
        #expect(changes.first { $0.new == .down }.map { $0.time < .seconds(145) } == true, "\(changes)")
        #expect(health.counters.outageCount == 1)
    }

    @Test("a server restarted within a second causes no trouble", arguments: 0..<8)
    func hiccup(phase: Int) throws {
        let stream = SyntheticStream(
            bitRates: [8000], segmentDuration: .seconds(4), segmentCount: 1000, liveWindow: 6)
        var gap = Outage(0, 0, .failure(.cannotConnect))
        gap.holdsAt = { $0 >= .milliseconds(100_000 + 500 * phase) && $0 < .milliseconds(101_000 + 500 * phase) }
        let (changes, health) = try Self.watch(stream, [gap], for: .seconds(200))
        #expect(changes.map(\.new) == [.up])
        #expect(health.state == .up)
    }
}
