import HLSKitCore
import HLSKitSimulation
import Synchronization
import TestSupport
import Testing

/// Players of a ``LowLatencyServer`` in real time. Parts last 0.1 s, ten to a segment. Requests use HTTP/1.1. Players stay 2 s
/// behind the live edge, so a slow machine causes no stall.
@Suite("Low latency on sockets", .timeLimit(.minutes(10)))
struct LowLatencySocketTests {
    private static var origin: LowLatencyOrigin {
        var origin = LowLatencyOrigin()
        origin.partDuration = .milliseconds(100)
        origin.partsPerSegment = 10
        origin.partHoldBack = .seconds(2)
        return origin
    }

    private struct Session {
        var events: [PlayerEvent.Kind] = []
        var state: PlayerState
        var server: LowLatencyServer

        func count(_ name: String) -> Int { events.count { Mirror(reflecting: $0).children.first?.label == name } }
        func reported(_ text: String) -> Int { events.count { "\($0)".contains(text) } }
    }

    private static func play(
        _ origin: LowLatencyOrigin = origin, _ connections: LowLatencyServer.Connections = .kept,
        for length: Duration = .seconds(2), demuxes: Bool = false,
        afterwards: (LowLatencyServer) async throws -> Void = { _ in }
    ) async throws -> Session {
        let server = try LowLatencyServer(origin, connections)
        defer { server.stop() }
        var configuration = PlayerConfiguration(transport: CurlTransport(configuration: .init()))
        configuration.demuxesMedia = demuxes
        if demuxes { configuration.decodesWithoutOutput = [.video] }
        let player = Player(configuration: configuration)
        let item = PlayerItem(urlString: server.url)
        let events = player.events()
        player.play()
        try player.replaceCurrentItem(with: item)
        var start: MediaTime?
        for await time in try player.times(every: .milliseconds(50)) {
            start = start ?? time
            if let start, time - start >= MediaTime(length) { break }
        }
        let state = player.state
        await player.close()
        try await afterwards(server)
        var reported: [PlayerEvent.Kind] = []
        for await event in events { reported.append(event.kind) }
        return Session(events: reported, state: state, server: server)
    }

    @Test("M05: over kept connections each part is requested once during blocking reloads, without a stall")
    func kept() async throws {
        let session = try await Self.play()
        #expect(session.count("playbackStalled") + session.count("lowLatencyDeclined") == 0, "\(session.events)")
        let media = session.server.media
        #expect(media.count >= 20 && media.allSatisfy { $0.contains(".") })
        #expect(Set(media).count == media.count)
        // Without blocking requests, there would be a playlist request per second.
        #expect(session.server.lists.count >= 8 && session.server.lists.contains(where: \.isHeld))
        // Without reuse, each request would have a connection.
        #expect(Set(session.server.visits.map(\.connection)).count * 4 <= session.server.visits.count)
    }

    @Test("M05: a connection cut during a blocking request costs only another request")
    func cut() async throws {
        let session = try await Self.play(Self.origin, .cut(held: 5))
        #expect(session.count("playbackStalled") + session.count("lowLatencyDeclined") == 0, "\(session.events)")
        #expect(session.count("failedToPlayToEnd") == 0)
        #expect(session.server.visits.count { $0.wasCut } == 1)
        let media = session.server.media
        #expect(Set(media).count == media.count)
    }

    struct Fault: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var kind: LowLatencyOrigin.Fault.Kind
        var stalls = false
        var declines = false
        /// The length of playback. A server is reported only after more than one failure.
        var length = Duration.seconds(3)
    }

    static let faults = [
        Fault(testDescription: "hints never appear", kind: .hint(.neverAppears)),
        Fault(testDescription: "hints are there when they are listed", kind: .hint(.notFoundUntilPublished)),
        Fault(testDescription: "hints are withdrawn", kind: .hint(.withdrawn)),
        Fault(testDescription: "parts are missing at the end of segments", kind: .dropsLastParts(1)),
        Fault(
            testDescription: "no answer to what is held", kind: .neverAnswers, stalls: true, declines: true,
            length: .seconds(6)),
        Fault(testDescription: "nothing is held", kind: .doesNotHold, stalls: true, declines: true),
        Fault(testDescription: "parts longer than the target", kind: .understatesPartTarget, declines: true),
        Fault(testDescription: "numbers that jump ahead", kind: .renumbers(by: 1000)),
    ]

    @Test("M05: whatever a server does with parts, each of their bytes is decoded once", arguments: faults)
    func broken(_ fault: Fault) async throws {
        var origin = Self.origin
        let isBrokenFromTheStart = fault.kind == .understatesPartTarget
        origin.faults = [.init(fault.kind, during: (isBrokenFromTheStart ? .zero : .seconds(1))..<(.seconds(1000)))]
        let session = try await Self.play(origin, for: fault.length, demuxes: true)
        #expect(session.count("failedToPlayToEnd") + session.count("segmentsMissed") == 0, "\(session.events)")
        #expect(session.count("missingMediaSkipped") + session.count("segmentSkipped") == 0, "\(session.events)")
        #expect((session.count("lowLatencyDeclined") > 0) == fault.declines, "\(session.events)")
        if !fault.stalls { #expect(session.count("playbackStalled") == 0, "\(session.events)") }
        let statistics = session.state.statistics
        #expect(statistics.numberOfDamagedSamples == 0)
        // Parts have two frames, and there are ten parts per second.
        #expect(statistics.numberOfDecodedVideoFrames > 50)
    }

    @Test("M05: a server that closes each connection is reported, and played by segments")
    func closed() async throws {
        let session = try await Self.play(Self.origin, .closed)
        #expect(session.reported("does not keep connections") == 1, "\(session.events)")
        #expect(session.count("failedToPlayToEnd") == 0)
        #expect(session.server.media.contains { !$0.contains(".") })
    }

    @Test("M05: closing a player with a blocking request leaves no connection behind")
    func cancelled() async throws {
        var origin = Self.origin
        origin.faults = [.init(.neverAnswers, during: .seconds(1)..<(.seconds(1000)))]
        _ = try await Self.play(origin, for: .seconds(1)) { server in
            for _ in 0..<1000 where !server.waiting.isEmpty {
                try await ContinuousClock().sleep(for: .milliseconds(10))
            }
            #expect(server.waiting.isEmpty)
            #expect(server.visits.contains { $0.wasLeft }, "\(server.visits)")
        }
    }

    @Test(
        "M05: a paused player cancels blocking requests and sends no others")
    func paused() async throws {
        let server = try LowLatencyServer(Self.origin)
        defer { server.stop() }
        var configuration = PlayerConfiguration(transport: CurlTransport(configuration: .init()))
        configuration.demuxesMedia = false
        let player = Player(configuration: configuration)
        player.play()
        try player.replaceCurrentItem(with: PlayerItem(urlString: server.url))
        for await time in try player.times(every: .milliseconds(50)) where time > MediaTime.seconds(1) {
            if player.timeControlStatus == .playing { break }
        }
        for _ in 0..<500 where server.waiting.isEmpty { try await ContinuousClock().sleep(for: .milliseconds(2)) }
        player.pause()
        // Requests that were sent before the pause may still arrive.
        var count = -1
        for _ in 0..<100 where count != server.visits.count || !server.waiting.isEmpty {
            count = server.visits.count
            try await ContinuousClock().sleep(for: .milliseconds(300))
        }
        #expect(server.waiting.isEmpty && server.visits.count == count, "\(server.visits.suffix(10))")
        try await ContinuousClock().sleep(for: .milliseconds(500))
        #expect(server.visits.count == count, "\(server.visits.dropFirst(count))")
        #expect(player.timeControlStatus == .paused)
        player.play()
        for _ in 0..<1000 where server.visits.count < count + 10 {
            try await ContinuousClock().sleep(for: .milliseconds(10))
        }
        #expect(server.visits.count >= count + 10)
        await player.close()
    }
}
