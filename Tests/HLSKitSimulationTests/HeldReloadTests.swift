import HLSKitCore
import HLSKitSimulation
import Testing

/// Players of a ``LowLatencyOrigin`` without parts. Segments last 2 s, and eight exist at the start.
@Suite("Blocking playlist reloads", .timeLimit(.minutes(10)))
struct HeldReloadTests {
    private static func play(
        _ origin: LowLatencyOrigin, variant: Int? = 1, _ change: (inout PlayerConfiguration) -> Void = { _ in }
    ) throws -> PartStage.Session {
        try PartStage(
            origin: origin, variant: variant, limit: .seconds(60), latency: .milliseconds(20), presents: false
        ).play(change)
    }

    private static func whole() -> LowLatencyOrigin {
        var origin = LowLatencyOrigin()
        origin.listsParts = false
        return origin
    }

    private static func faulty(
        _ kind: LowLatencyOrigin.Fault.Kind, from start: Duration = .seconds(10), to end: Duration = .seconds(1000)
    ) -> LowLatencyOrigin {
        var origin = whole()
        origin.faults = [.init(kind, during: start..<end)]
        return origin
    }

    @Test("M05: each playlist is requested after the last response, and each segment is known when listed")
    func cadence() throws {
        let session = try Self.play(Self.whole())
        #expect(session.count("stalled") == 0)
        #expect(session.count("no low latency") == 0)
        let lists = session.visits.lists
        // The first request has no directives. Each later one names the next segment.
        #expect(lists.count == 31)
        #expect(
            session.visits.held.map { $0.urlString.split(separator: "?")[1] }
                == (8..<38).map { "_HLS_msn=\($0)&_HLS_skip=YES" })
        for (index, request) in lists.dropFirst().enumerated() {
            #expect(request.time - .seconds(2 * index) < .milliseconds(100), "\(request.urlString) at \(request.time)")
        }
        for request in session.visits.media.dropFirst(3) {
            let number = try #require(Int(request.urlString.dropLast(4).split(separator: "/").last ?? ""))
            #expect(request.time - .seconds(2 * (number - 7)) < .milliseconds(100))
        }
    }

    @Test("M05: a player with blocking reloads disabled reloads by the clock")
    func unwanted() throws {
        let session = try Self.play(Self.whole()) { $0.allowsLowLatency = false }
        #expect(session.visits.held.isEmpty)
        #expect(session.count("no low latency") == 0)
        #expect(session.count("stalled") == 0)
        #expect((27...32).contains(session.visits.lists.count))
    }

    @Test("the same stream gives the same log, byte for byte")
    func determinism() throws {
        var origin = Self.faulty(.neverAnswers, to: .seconds(20))
        origin.clockDrift = 200
        #expect(try Self.play(origin).play.log.text == Self.play(origin).play.log.text)
    }

    struct Fault: CustomTestStringConvertible, Sendable {
        var testDescription: String
        var origin: LowLatencyOrigin
        /// The number of blocking requests after the fault begins at 10 s.
        var held: ClosedRange<Int>
        var stalls = false
    }

    static let faults: [Fault] = [
        Fault(
            testDescription: "nothing is held", origin: faulty(.doesNotHold), held: 3...12),
        Fault(
            testDescription: "nothing is held for ten seconds", origin: faulty(.doesNotHold, to: .seconds(14)),
            held: 20...32),
        Fault(
            testDescription: "no answer", origin: faulty(.neverAnswers), held: 3...5),
        Fault(testDescription: "no answer for a while", origin: faulty(.neverAnswers, to: .seconds(12)), held: 20...26),
        Fault(testDescription: "errors for a while", origin: faulty(.status(503), to: .seconds(13)), held: 20...27),
        Fault(
            testDescription: "busy for a while", origin: faulty(.status(503, retryAfter: 1), to: .seconds(13)),
            held: 20...27),
        Fault(
            testDescription: "a cache that knows no query", origin: faulty(.cache(lifetime: .seconds(1))), held: 3...40),
        Fault(
            testDescription: "the encoder pauses for three seconds", origin: faulty(.pauses, to: .seconds(13)),
            held: 20...27),
        Fault(
            testDescription: "the encoder pauses for twenty seconds", origin: faulty(.pauses, to: .seconds(30)),
            held: 15...30, stalls: true),
        Fault(
            testDescription: "numbers that jump ahead", origin: faulty(.renumbers(by: 1000)), held: 20...27),
        Fault(
            testDescription: "delta updates of more than there is",
            origin: {
                var origin = faulty(.skipsTooMany(100))
                origin.windowSegmentCount = 20
                return origin
            }(), held: 20...27),
        Fault(
            testDescription: "delta updates of another list",
            origin: {
                var origin = faulty(.skipsFromElsewhere(by: 100))
                origin.windowSegmentCount = 20
                return origin
            }(), held: 20...27),
    ]

    @Test("M05: the stream plays whatever a server does with blocking requests", arguments: faults)
    func servers(_ fault: Fault) throws {
        let session = try Self.play(fault.origin)
        #expect((session.count("stalled") > 0) == fault.stalls, "\(session.play.log.text)")
        #expect(session.play.state.timeControlStatus == .playing)
        #expect(session.count("failed") == 0)
        let held = session.visits.held.filter { $0.time >= .seconds(10) }
        #expect(fault.held.contains(held.count), "\(held.map { "\($0.time) \($0.urlString)" })")
        #expect(session.visits.lists.count < 100)
        let numbers = session.visits.segmentNumbers
        #expect(Set(numbers).count == numbers.count)
        #expect(session.count(" missed segments") + session.count(" skipped segments") == 0)
    }

    @Test(
        "C10: the first request for another variant's playlist asks for its reported end",
        arguments: [nil, .omitsReports, .reportsAhead(by: 1), .reportsAhead(by: 40), .reportsAhead(by: -5)]
            as [LowLatencyOrigin.Fault.Kind?])
    func reports(fault: LowLatencyOrigin.Fault.Kind?) throws {
        var origin = Self.whole()
        if let fault { origin.faults = [.init(fault)] }
        let session = try Self.play(origin, variant: nil) { $0.initialBitRateHint = 500_000 }
        #expect(session.count("stalled") + session.count("failed") == 0)
        let switched = try #require(session.visits.lists.first { $0.urlString.contains("/1/") })
        let number = (8 + Int(switched.time / .seconds(2)))
        switch fault {
        case nil: #expect(switched.urlString.hasSuffix("_HLS_msn=\(number - 1)"))
        case .omitsReports: #expect(!switched.urlString.contains("_HLS_"))
        default: #expect(switched.urlString.contains("_HLS_msn="))
        }
        #expect(session.play.state.timeControlStatus == .playing)
        let numbers = session.visits.segmentNumbers
        #expect(Set(numbers).count == numbers.count)
    }

    @Test("a paused player sends no requests, and the server holds none for it")
    func rest() throws {
        let clock = VirtualClock()
        let trace = NetworkTrace(constant: LinkConditions(bitsPerSecond: 20_000_000, latency: .milliseconds(20)))
        let (visits, origin) = (Visits(), Self.whole())
        let transport = SimulatedTransport(over: trace, clock: clock) { request in
            visits.append(request)
            return origin.response(to: request)
        }
        let player = Player(configuration: PlayerConfiguration(clock: clock, transport: transport))
        let item = PlayerItem(urlString: origin.url(ofVariant: 0))
        player.play()
        try player.replaceCurrentItem(with: item)
        clock.advance(by: .milliseconds(20_500))
        player.pause()
        clock.advance(by: .seconds(1))
        let count = visits.all.count
        clock.advance(by: .seconds(60))
        #expect(visits.all.count == count)
        player.play()
        clock.advance(by: .seconds(10))
        #expect(visits.held.contains { $0.time > .seconds(81) })
        #expect(player.timeControlStatus == .playing)
        try clock.run { await player.close() }
    }
}
