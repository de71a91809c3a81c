import HLSKitCore
import HLSKitSimulation
import HLSKitTime
import Testing

/// Players of a live stream with a window of ten minutes. Segments last 2 s, with parts near the edge. The variants are
/// 0.4 and 1 Mbit/s.
@Suite("Far behind the live edge", .timeLimit(.minutes(10)))
struct LiveWindowTests {
    /// The name of a part has its number after the segment's number.
    private static func isPart(_ request: SimulatedRequest) -> Bool {
        (request.urlString.split(separator: "/").last ?? "").filter { $0 == "." }.count == 2
    }

    private static func variant(_ request: SimulatedRequest) -> Int {
        request.urlString.split(separator: "/").dropLast().last.flatMap { Int($0) } ?? -1
    }

    private struct Session {
        var visits: Visits
        var lines: [String]
        func count(_ text: String) -> Int { lines.count { $0.contains(text) } }
    }

    /// - Parameter rates: The bandwidths in kbit/s and their durations in seconds.
    private static func play(
        offset: Int, rates: [(seconds: Int, kilobits: Int)] = [(10_000, 8_000)],
        _ change: (inout LowLatencyOrigin) -> Void = { _ in },
        _ body: @escaping @Sendable (Player, PlayerItem, VirtualClock) async throws -> Void
    ) throws -> Session {
        var origin = LowLatencyOrigin()
        origin.windowSegmentCount = 300
        change(&origin)
        let (made, clock, visits) = (origin, VirtualClock(), Visits())
        let trace = try NetworkTrace(
            periods: rates.map { rate in
                .init(
                    duration: .seconds(rate.seconds),
                    conditions: LinkConditions(bitsPerSecond: Double(rate.kilobits) * 1000, latency: .milliseconds(30)))
            })
        let transport = SimulatedTransport(over: trace, clock: clock) { request in
            visits.append(request)
            return made.response(to: request)
        }
        let player = Player(configuration: PlayerConfiguration(clock: clock, transport: transport))
        let item = PlayerItem(urlString: origin.url)
        item.configuredTimeOffsetFromLive = .seconds(Int64(offset))
        let events = player.events()
        player.play()
        try player.replaceCurrentItem(with: item)
        return try clock.run {
            try await body(player, item, clock)
            await player.close()
            var log = EventLog()
            for await event in events { log.append(event) }
            return Session(visits: visits, lines: log.lines)
        }
    }

    private static func sleep(until seconds: Int, _ clock: VirtualClock) async throws {
        try await clock.sleep(for: .seconds(seconds) - clock.now.offset)
    }

    @Test(
        "M09: far from the edge whole segments are loaded, as far ahead as in an ended stream",
        arguments: [60, 590])
    func buffer(offset: Int) throws {
        let session = try Self.play(offset: offset) { player, item, clock in
            try await Self.sleep(until: 60, clock)
            let state = player.state
            #expect(state.timebaseRate == 1)
            let after = state.liveOffset?.seconds ?? 0
            #expect((Double(offset) - 3...Double(offset) + 5).contains(after), "\(after)")
            let loaded = state.loadedTimeRanges.last?.end.seconds ?? 0
            let ahead = loaded - state.currentTime.seconds
            #expect(ahead > 25 && ahead < Double(offset) + 2, "\(ahead)")
            #expect(loaded <= (state.seekableTimeRanges.last?.end.seconds ?? 0) + 0.1)
            let window = state.seekableTimeRanges.first
            #expect((598...606).contains(window?.duration.seconds ?? 0))
            #expect(state.statistics.numberOfStalls == 0)
        }
        #expect(session.visits.media.allSatisfy { !Self.isPart($0) })
        #expect(session.visits.media(since: .seconds(20)).allSatisfy { Self.variant($0) == 1 })
        let names = session.visits.media.map(\.urlString)
        #expect(Set(names).count == names.count)
        #expect(session.count("missed segments") + session.count("skipped segments") == 0)
    }

    @Test("M09: a slow link is played through with a lower variant, without a stall, and back")
    func selection() throws {
        let rates = [(seconds: 40, kilobits: 6_000), (60, 600), (10_000, 6_000)]
        let session = try Self.play(offset: 120, rates: rates) { player, _, clock in
            try await Self.sleep(until: 160, clock)
            #expect(player.state.statistics.numberOfStalls == 0)
            let after = player.state.liveOffset?.seconds ?? 0
            #expect((115...126).contains(after), "\(after)")
        }
        let slow = session.visits.media(since: .seconds(60)).filter { $0.time < .seconds(100) }
        #expect(slow.contains { Self.variant($0) == 0 })
        let later = session.visits.media(since: .seconds(130))
        #expect(!later.isEmpty && later.allSatisfy { Self.variant($0) == 1 })
    }

    @Test("M09: seeks reach the whole window; parts are loaded at the edge only")
    func seeks() throws {
        let session = try Self.play(offset: 60) { player, item, clock in
            try await Self.sleep(until: 20, clock)
            for place: Double in [100, 400, 200] {
                #expect(try await player.seek(to: MediaTime(seconds: place, preferredTimescale: 1000)))
                try await clock.sleep(for: .seconds(6))
                #expect((place + 5...place + 6.5).contains(player.state.currentTime.seconds))
                #expect(player.state.timeControlStatus == .playing)
            }
            item.configuredTimeOffsetFromLive = nil
            #expect(await player.seekToLiveEdge())
            try await clock.sleep(for: .seconds(10))
            let offset = player.state.liveOffset?.seconds ?? 0
            // The offset is relative to the playlist, which may be a part old.
            #expect((1.4...2.2).contains(offset), "\(offset)")
            #expect(player.state.timebaseRate == 1)
            try await Self.sleep(until: 60, clock)
            #expect(try await player.seek(to: MediaTime(seconds: 300, preferredTimescale: 1000)))
            try await Self.sleep(until: 90, clock)
            #expect((325...331).contains(player.state.currentTime.seconds))
            #expect(player.state.statistics.numberOfStalls == 0)
        }
        let atEdge = session.visits.media(since: .seconds(45)).filter { $0.time < .seconds(60) }
        #expect(atEdge.count { Self.isPart($0) } > 20)
        let away = session.visits.media(since: .seconds(61))
        #expect(!away.isEmpty && away.allSatisfy { !Self.isPart($0) })
        #expect(session.count("missed segments") + session.count("skipped segments") == 0)
    }

    @Test("M09: playlists are awaited segment by segment while the edge is far")
    func lists() throws {
        let session = try Self.play(offset: 120) { _, _, clock in try await Self.sleep(until: 60, clock) }
        let lists = session.visits.lists.filter { $0.time > .seconds(4) }
        #expect((26...30).contains(lists.count), "\(lists.count)")
        #expect(lists.allSatisfy { !$0.urlString.contains("_HLS_part") })
    }

    @Test("M09: a player that falls behind its window continues at its configured distance")
    func after() throws {
        let session = try Self.play(
            offset: 20, rates: [(seconds: 10, kilobits: 6_000), (50, 1), (10_000, 6_000)],
            { $0.windowSegmentCount = 15 }
        ) { player, _, clock in
            try await Self.sleep(until: 140, clock)
            #expect(player.state.timebaseRate == 1)
            let after = player.state.liveOffset?.seconds ?? 0
            #expect((15...32).contains(after), "\(after)")
        }
        #expect(session.count("missed segments") > 0)
        let failures = session.lines.filter { $0.contains("failed") && !$0.contains("variant") }
        #expect(failures == [])
    }
}
