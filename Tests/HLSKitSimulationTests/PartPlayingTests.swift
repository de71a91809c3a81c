import HLSKitCore
import HLSKitSimulation
import Testing

/// Players of a ``LowLatencyOrigin``. Parts last 0.5 s, four to a segment. `PART-HOLD-BACK` is 1.5 s.
@Suite("Playing parts", .timeLimit(.minutes(10)))
struct PartPlayingTests {
    private static func play(
        _ origin: LowLatencyOrigin, limit: Duration = .seconds(30), latency: Duration = .milliseconds(10),
        _ change: (inout PlayerConfiguration) -> Void = { _ in }
    ) throws -> PartStage.Session {
        try PartStage(origin: origin, limit: limit, latency: latency, presents: false).play {
            $0.decodesWithoutOutput = [.video]
            change(&$0)
        }
    }

    private static func faulty(
        _ kind: LowLatencyOrigin.Fault.Kind, to end: Duration = .seconds(1000)
    ) -> LowLatencyOrigin { faulty([kind], to: end) }

    private static func faulty(
        _ kinds: [LowLatencyOrigin.Fault.Kind], to end: Duration = .seconds(1000)
    ) -> LowLatencyOrigin {
        var origin = LowLatencyOrigin()
        origin.faults = kinds.map { .init($0, during: .seconds(10)..<end) }
        return origin
    }

    /// Returns an origin whose playlist is long enough for delta updates.
    private static func long(_ kind: LowLatencyOrigin.Fault.Kind) -> LowLatencyOrigin {
        var origin = faulty(kind)
        origin.windowSegmentCount = 20
        return origin
    }

    @Test("M05: each part is requested once when listed, and plays PART-HOLD-BACK behind the edge")
    func parts() throws {
        for addressing in [LowLatencyOrigin.Addressing.files, .ranges] {
            var origin = LowLatencyOrigin()
            origin.addressing = addressing
            let session = try Self.play(origin)
            #expect(session.count("stalled") + session.count("no low latency") == 0)
            let media = session.visits.names
            #expect(Set(media).count == media.count)
            // Playback starts at the newest independent part that is 1.5 s behind the edge when the next part is
            // listed.
            let first = addressing == .files ? "1/7.2" : "1/7@125000"
            #expect(media.first == first)
            // In a growing range, one response delivers all later parts of the segment.
            #expect((addressing == .files ? 60...66 : 15...22).contains(media.count))
            // Each part has one playlist request.
            #expect((59...62).contains(session.visits.lists.count))
            let offset = try #require(session.play.state.liveOffset)
            // The offset is relative to the playlist, which may be a part old. The start took 0.1 s.
            #expect((Duration.milliseconds(1000)...(.milliseconds(1650))).contains(offset))
            let statistics = session.play.state.statistics
            #expect(statistics.numberOfDamagedSamples + statistics.numberOfDroppedVideoFrames == 0)
            // 25 frames per second from the start of playback.
            #expect((700...790).contains(statistics.numberOfDecodedVideoFrames))
        }
    }

    @Test(
        "M05: playback starts PART-HOLD-BACK behind the edge, whatever the first playlist's age",
        arguments: [0, 40, 120, 250, 380, 490])
    func alignment(_ lag: Int) throws {
        for latency in [5, 60] {
            var origin = LowLatencyOrigin()
            // Parts are listed `lag` after they are complete.
            origin.lags = Array(repeating: .milliseconds(lag), count: 2)
            let session = try Self.play(origin, limit: .seconds(20), latency: .milliseconds(latency))
            #expect(session.count("stalled") == 0, "\(session.play.log.text)")
            // 16 s of media existed at the start.
            let edge = Duration.seconds(16 + 20) - .milliseconds(lag)
            let offset = edge - (try #require(session.play.state.currentTime.duration))
            #expect(
                (Duration.milliseconds(1490)...(.milliseconds(1560 + 6 * latency))).contains(offset),
                "\(latency) ms: \(offset)")
        }
    }

    @Test("M05: a player with low latency disabled loads segments")
    func unwanted() throws {
        let session = try Self.play(LowLatencyOrigin()) { $0.allowsLowLatency = false }
        #expect(session.visits.names.allSatisfy { !$0.contains(".") })
        #expect(!session.visits.lists.contains { $0.urlString.contains("_HLS_msn") })
    }

    @Test("M05: a server with one connection per request is played like any other")
    func connections() throws {
        var origin = LowLatencyOrigin()
        origin.protocolName = "http/1.1"
        origin.keepsConnections = false
        let session = try Self.play(origin)
        #expect(session.count("does not keep connections") == 1)
        // Two blocking requests reveal the closed connections.
        #expect(session.visits.names.count { $0.contains(".") } < 10)
        #expect(session.visits.names.count { !$0.contains(".") } > 5)
        #expect(session.count("failed") == 0)
    }

    struct Fault: CustomTestStringConvertible, Sendable {
        var testDescription: String
        var origin: LowLatencyOrigin
        var stalls = false
        var declined: String?
    }

    static let faults: [Fault] = [
        Fault(
            testDescription: "nothing is held", origin: faulty(.doesNotHold), stalls: true,
            declined: "does not hold requests, though"),
        Fault(
            testDescription: "no answer", origin: faulty(.neverAnswers), stalls: true,
            declined: "does not hold requests, though"),
        Fault(
            testDescription: "parts are missing at the end of segments", origin: faulty(.dropsLastParts(1))),
        Fault(testDescription: "no part is independent", origin: faulty(.hidesIndependence)),
        Fault(testDescription: "numbers that jump ahead", origin: faulty(.renumbers(by: 1000))),
        Fault(
            testDescription: "the encoder pauses for half a second", origin: faulty(.pauses, to: .milliseconds(10_500))),
        Fault(
            testDescription: "the encoder pauses for twenty seconds", origin: faulty(.pauses, to: .seconds(30)),
            stalls: true),
        Fault(
            testDescription: "requests are held for as long as the encoder pauses",
            origin: faulty([.pauses, .holdsForever], to: .seconds(30)), stalls: true),
        Fault(
            testDescription: "busy for less than what is ahead",
            origin: faulty(.status(503, retryAfter: 1), to: .milliseconds(10_400))),
        Fault(
            testDescription: "busy for a while", origin: faulty(.status(503, retryAfter: 1), to: .seconds(15)),
            stalls: true),
        Fault(
            testDescription: "a cache that knows no query", origin: faulty(.cache(lifetime: .seconds(1))),
            stalls: true, declined: "does not hold requests, though"),
        Fault(testDescription: "delta updates of more than there is", origin: long(.skipsTooMany(100))),
        Fault(testDescription: "delta updates of another list", origin: long(.skipsFromElsewhere(by: 100))),
        Fault(
            testDescription: "HTTP/1.1",
            origin: {
                var origin = LowLatencyOrigin()
                origin.protocolName = "http/1.1"
                return origin
            }()),
        Fault(
            testDescription: "parts are longer than the target",
            origin: {
                var origin = LowLatencyOrigin()
                origin.faults = [.init(.understatesPartTarget)]
                return origin
            }(), declined: "longer than PART-TARGET"),
        Fault(
            testDescription: "parts become longer than the target", origin: faulty(.understatesPartTarget),
            stalls: true, declined: "longer than PART-TARGET"),
    ]

    @Test(
        "M05: whatever happens to parts, the stream plays without loss or repetition", arguments: faults)
    func broken(_ fault: Fault) throws {
        let session = try Self.play(fault.origin, limit: .seconds(60))
        #expect(session.count("failed") == 0)
        #expect((session.count("stalled") > 0) == fault.stalls, "\(session.play.log.text)")
        #expect(session.count(" missed segments") + session.count(" skipped segments") == 0)
        #expect(session.count("no low latency") == (fault.declined == nil ? 0 : 1))
        if let declined = fault.declined { #expect(session.count(declined) == 1) }
        let statistics = session.play.state.statistics
        #expect(statistics.numberOfDamagedSamples == 0)
        #expect(session.count("hole") == 0)
        #expect(session.play.state.currentTime.seconds > 30)
    }
}
