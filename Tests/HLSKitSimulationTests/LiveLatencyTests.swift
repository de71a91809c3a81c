import HLSKitCore
import HLSKitPlaylist
import HLSKitSimulation
import Synchronization
import Testing

/// The distance from the live edge during playback. Parts last 0.5 s, four to a segment. `PART-HOLD-BACK` is 1.5 s.
@Suite("Live latency", .timeLimit(.minutes(10)))
struct LiveLatencyTests {
    private struct Sample {
        var time: Duration
        var state: PlayerState
    }

    private struct Session {
        var samples: [Sample] = []
        var log = EventLog()
        var media: [String] = []

        func latencies(_ seconds: Range<Int>) -> [Double] {
            samples.filter { (.seconds(seconds.lowerBound)..<(.seconds(seconds.upperBound))).contains($0.time) }
                .compactMap { $0.state.liveLatency?.seconds }
        }
        var rates: Set<Double> { Set(samples.map(\.state.timebaseRate)) }
        var state: PlayerState { samples.last?.state ?? Player().state }
        func count(_ text: String) -> Int { log.lines.count { $0.contains(text) } }
    }

    private final class Names: Sendable {
        private let names = Mutex<[String]>([])
        func note(_ request: SimulatedRequest) {
            guard request.urlString.hasSuffix(".m4s") else { return }
            let name = request.urlString.dropLast(4).split(separator: "/").last.map(String.init) ?? ""
            names.withLock { $0.append(name) }
        }
        var all: [String] { names.withLock { $0 } }
    }

    private static func link(outage: Range<Int>? = nil) throws -> NetworkTrace {
        let conditions = LinkConditions(bitsPerSecond: 20_000_000, latency: .milliseconds(10))
        guard let outage else { return NetworkTrace(constant: conditions) }
        let broken = LinkConditions(bitsPerSecond: 0, latency: .milliseconds(10))
        return try NetworkTrace(periods: [
            .init(duration: .seconds(outage.lowerBound), conditions: conditions),
            .init(duration: .seconds(outage.count), conditions: broken),
            .init(duration: .seconds(10_000), conditions: conditions),
        ])
    }

    /// Plays a stream and takes a sample four times a second.
    ///
    /// - Parameter pauses: The seconds during which the player is paused.
    private static func play(
        _ origin: LowLatencyOrigin = LowLatencyOrigin(), over trace: NetworkTrace? = nil, for seconds: Int,
        pauses: Range<Int>? = nil, knowsDate: Bool = true, prefer: (PlayerItem) -> Void = { _ in }
    ) throws -> Session {
        let clock = VirtualClock()
        let names = Names()
        let transport = SimulatedTransport(over: try trace ?? link(), clock: clock) { request in
            names.note(request)
            return origin.response(to: request)
        }
        var configuration = PlayerConfiguration(clock: clock, transport: transport)
        // This machine's clock is right even if the origin's is wrong.
        if knowsDate { configuration.wallClock = { LowLatencyOrigin().epoch } }
        configuration.decodesWithoutOutput = [.video]
        let player = Player(configuration: configuration)
        let item = PlayerItem(urlString: origin.url(ofVariant: 1))
        prefer(item)
        let events = player.events()
        player.play()
        try player.replaceCurrentItem(with: item)
        let collected = Task(executorPreference: clock) {
            var log = EventLog()
            for await event in events { log.append(event) }
            return log
        }
        return try clock.run {
            var session = Session()
            for step in 1...seconds * 4 {
                try await clock.sleep(for: .milliseconds(250))
                if let pauses, step == pauses.lowerBound * 4 { player.pause() }
                if let pauses, step == pauses.upperBound * 4 { player.play() }
                session.samples.append(Sample(time: .milliseconds(250 * step), state: player.state))
            }
            await player.close()
            session.log = await collected.value
            session.media = names.all
            return session
        }
    }

    @Test("M06: the latency is the time since the presented date, weighted by presentation time")
    func latency() throws {
        let session = try Self.play(for: 30)
        // The latency includes the time for the playlist and the first media.
        #expect(session.latencies(1..<30).allSatisfy { (1.5...1.65).contains($0) }, "\(session.latencies(0..<30))")
        #expect(session.rates.isSubset(of: [0, 1]))
        let live = try #require(session.state.statistics.live)
        #expect(live.targetTimeOffset == .milliseconds(1500))
        let latency = try #require(session.latencies(29..<30).last)
        for value in [live.meanLatency, live.latency(atPercentile: 0.5), live.maximumLatency] {
            #expect(abs(try #require(value).seconds - latency) < 0.02)
        }
        // Three parts of the first segments, then one every 0.5 s. Each playlist is a blocking reload.
        #expect((60...65).contains(live.numberOfParts))
        #expect(abs(live.numberOfBlockingReloads - 60) <= 2)
        #expect(abs(live.numberOfDeltaUpdates - 60) <= 2)
    }

    @Test("M06: without dates the latency is the distance from the edge, including its age")
    func distance() throws {
        let session = try Self.play(for: 20, knowsDate: false)
        #expect(session.latencies(3..<20).allSatisfy { (1.45...1.65).contains($0) }, "\(session.latencies(0..<20))")
    }

    @Test("M06: dates a year ahead or ago are not used for the latency", arguments: [31_000_000, -31_000_000])
    func falseDates(offset: Int) throws {
        var origin = LowLatencyOrigin()
        origin.epoch = origin.epoch + .seconds(offset)
        let session = try Self.play(origin, for: 12)
        #expect(session.latencies(3..<12).allSatisfy { (1.45...1.65).contains($0) }, "\(session.latencies(0..<12))")
    }

    @Test("M06: playback starts at the newest independent part that the hold-back allows", arguments: [1, 2, 4, 8])
    func start(interval: Int) throws {
        var origin = LowLatencyOrigin()
        origin.independentInterval = interval
        let session = try Self.play(origin, for: 3)
        #expect(session.media.first == [1: "7.2", 2: "7.2", 4: "7.0", 8: "7.0"][interval])
        // The start of decoding affects the latency only by its load time.
        #expect(session.latencies(1..<3).allSatisfy { (1.5...1.9).contains($0) }, "\(session.latencies(0..<3))")
    }

    @Test("M06: after a stall the latency returns to its target within the allowed rate")
    func stall() throws {
        let trace = try Self.link(outage: 20..<22)
        let free = try Self.play(over: trace, for: 60)
        let kept = try Self.play(over: trace, for: 60) { $0.liveCatchUpRate = 1.1 }
        for session in [free, kept] {
            #expect(session.state.statistics.numberOfStalls == 1, "\(session.log.text)")
            #expect(session.latencies(23..<24).allSatisfy { $0 > 2 })
        }
        #expect(free.latencies(50..<60).allSatisfy { $0 > 2 })
        #expect(free.rates == [0, 1])
        #expect(kept.latencies(50..<60).allSatisfy { (1.4...1.65).contains($0) }, "\(kept.latencies(22..<60))")
        #expect(kept.rates.allSatisfy { $0 == 0 || (0.99...1.1001).contains($0) }, "\(kept.rates)")
        #expect(kept.samples.suffix(20).allSatisfy { $0.state.timebaseRate == 1 })
        #expect(kept.count("hole") + kept.count("jumped") == 0)
    }

    @Test("M05: a stall in low latency ends with two parts in the buffer, also on a slow network")
    func resumes() throws {
        let slow = LinkConditions(bitsPerSecond: 1_150_000, latency: .milliseconds(40))
        let broken = LinkConditions(bitsPerSecond: 100_000, latency: .milliseconds(40))
        let trace = try NetworkTrace(periods: [
            .init(duration: .seconds(15), conditions: slow), .init(duration: .seconds(5), conditions: broken),
            .init(duration: .seconds(10_000), conditions: slow),
        ])
        let session = try Self.play(over: trace, for: 40)
        #expect((1...2).contains(session.state.statistics.numberOfStalls), "\(session.log.text)")
        let waits = session.samples.indices.dropFirst(40).filter {
            session.samples[$0 - 1].state.timeControlStatus == .waitingToPlayAtSpecifiedRate
                && session.samples[$0].state.timeControlStatus == .playing
        }
        #expect(!waits.isEmpty)
        for index in waits {
            let state = session.samples[index].state
            let end = try #require(state.loadedTimeRanges.last?.end)
            // Playback resumed at most 0.25 s before this sample.
            #expect(end.seconds - state.currentTime.seconds >= 0.75, "\(state)")
        }
    }

    @Test(
        "M06: after a long stall or a pause playback jumps to its distance if the policy says so",
        arguments: [FellBehindPolicy.jumpToEdge, .jumpToOldest], [true, false])
    func jump(policy: FellBehindPolicy, isPause: Bool) throws {
        let session = try Self.play(
            over: Self.link(outage: isPause ? nil : 20..<30), for: 50, pauses: isPause ? 20..<30 : nil
        ) {
            $0.liveCatchUpRate = 1.1
            $0.fellBehindPolicy = policy
        }
        let last = session.latencies(46..<50)
        if policy == .jumpToEdge {
            #expect(last.allSatisfy { (1.3...2.1).contains($0) }, "\(last) \(session.log.text)")
        } else {
            #expect(last.allSatisfy { (8...12).contains($0) }, "\(last)")
            #expect(session.samples.suffix(20).allSatisfy { $0.state.timebaseRate == 1.1 })
        }
    }

    @Test(
        "M06: a preserved distance is the one before the network failed, and causes no further stall",
        arguments: [23, 25, 30])
    func preserved(end: Int) throws {
        let session = try Self.play(over: Self.link(outage: 20..<end), for: 50) {
            $0.automaticallyPreservesTimeOffsetFromLive = true
        }
        #expect(session.state.statistics.numberOfStalls == 1, "\(session.log.text)")
        let last = session.latencies(end + 5..<50)
        #expect(last.allSatisfy { (1.3...2.3).contains($0) }, "\(last)")
    }

    @Test("M06: catch-up is off by default: playback after a pause is later")
    func off() throws {
        let session = try Self.play(for: 40, pauses: 20..<30)
        #expect(session.rates == [0, 1])
        #expect(session.latencies(32..<40).allSatisfy { (11...12.5).contains($0) }, "\(session.latencies(31..<40))")
    }

    @Test("M06: an origin clock an hour ahead changes nothing: its dates are implausible")
    func wrongClock() throws {
        let trace = try Self.link(outage: 20..<22)
        func session(offBy seconds: Int) throws -> Session {
            var origin = LowLatencyOrigin()
            origin.epoch = origin.epoch + .seconds(seconds)
            return try Self.play(origin, over: trace, for: 40) { $0.liveCatchUpRate = 1.05 }
        }
        let (right, wrong) = (try session(offBy: 0), try session(offBy: 3600))
        #expect(right.log.text == wrong.log.text)
        #expect(right.media == wrong.media)
        #expect(right.samples.map(\.state.timebaseRate) == wrong.samples.map(\.state.timebaseRate))
        // During an outage the playlist does not advance, so latencies differ by up to its length.
        for (seconds, difference) in [(1..<20, 0.05), (20..<30, 2.01), (30..<40, 0.05)] {
            for (one, other) in zip(right.latencies(seconds), wrong.latencies(seconds)) {
                #expect(abs(one - other) < difference)
            }
        }
        let live = try #require(wrong.state.statistics.live?.latency(atPercentile: 0.5))
        #expect((1...3).contains(live.seconds.rounded()))
    }

    @Test(
        "M06: an encoder clock drifting by 200 ppm is followed without a rate change",
        arguments: [-200.0, 200])
    func drift(partsPerMillion: Double) throws {
        var origin = LowLatencyOrigin()
        origin.clockDrift = partsPerMillion
        let session = try Self.play(origin, for: 60) { $0.liveCatchUpRate = 1.05 }
        #expect(session.rates == [0, 1] || session.rates == [1], "\(session.rates)")
        #expect(session.state.statistics.numberOfStalls == 0)
    }

    @Test("M06: a fast drifting encoder clock is caught up with, or waited for, before a stall")
    func fastDrift() throws {
        for drift in [-20_000.0, 20_000] {
            var origin = LowLatencyOrigin()
            origin.clockDrift = drift
            let session = try Self.play(origin, for: 90) { $0.liveCatchUpRate = 1.05 }
            #expect(session.state.statistics.numberOfStalls == 0, "\(session.log.text)")
            let distances = session.samples.filter { $0.time > .seconds(20) }.compactMap(\.state.liveOffset?.seconds)
            #expect(distances.allSatisfy { (0.7...2).contains($0) }, "\(distances)")
        }
    }

    @Test("M06: an ordinary live stream catches up by segments, too")
    func ordinary() throws {
        var origin = LowLatencyOrigin()
        origin.listsParts = false
        origin.holdsRequests = false
        let session = try Self.play(origin, over: Self.link(outage: 20..<28), for: 120) {
            $0.configuredTimeOffsetFromLive = MediaTime.seconds(6)
            $0.liveCatchUpRate = 1.1
        }
        #expect(session.state.statistics.numberOfStalls == 1)
        #expect(session.latencies(31..<33).allSatisfy { $0 > 8.5 }, "\(session.latencies(30..<120))")
        #expect(session.latencies(100..<120).allSatisfy { (5...8.5).contains($0) }, "\(session.latencies(30..<120))")
        #expect(session.state.statistics.live?.numberOfParts == 0)
    }

    @Test("M06: the same session has the same log")
    func determinism() throws {
        let trace = try Self.link(outage: 20..<23)
        let logs = try (0..<2).map { _ in
            try Self.play(over: trace, for: 40) { $0.liveCatchUpRate = 1.05 }.log.text
        }
        #expect(logs[0] == logs[1])
    }
}
