import HLSKitCore
import HLSKitSimulation
import Testing

/// Low-latency players without anything to play, or that may not play. They send no requests, and servers hold none for
/// them.
@Suite("Idle low-latency players", .timeLimit(.minutes(10)))
struct LowLatencyIdleTests {
    private static var origin: LowLatencyOrigin {
        var origin = LowLatencyOrigin()
        origin.hasSeparateAudio = true
        return origin
    }

    private final class Stage {
        let clock = VirtualClock()
        let visits = Visits()
        let transport: SimulatedTransport
        var player: Player?
        let item: PlayerItem

        init(_ origin: LowLatencyOrigin, answer: @escaping PartStage.Answer = { $1 }) throws {
            let trace = NetworkTrace(constant: LinkConditions(bitsPerSecond: 20_000_000, latency: .milliseconds(10)))
            let visits = visits
            transport = SimulatedTransport(over: trace, clock: clock) { request in
                visits.append(request)
                return answer(request, origin.response(to: request))
            }
            var configuration = PlayerConfiguration(clock: clock, transport: transport)
            configuration.decodesWithoutOutput = [.video, .audio]
            let player = Player(configuration: configuration)
            item = PlayerItem(urlString: origin.url)
            player.play()
            try player.replaceCurrentItem(with: item)
            self.player = player
        }

        func advance(_ seconds: Double) { clock.advance(by: .milliseconds(Int64(seconds * 1000))) }

        func requestsInAMinute() -> [String] {
            let count = visits.all.count
            advance(60)
            return visits.all.dropFirst(count).map(\.urlString)
        }

        func close() throws {
            let player = player
            try clock.run { await player?.close() }
        }
    }

    enum Way: CaseIterable, Sendable { case paused, removed, closed, left, failed }

    @Test("M05: a paused, failed or released player sends no requests, at once", arguments: Way.allCases)
    func ways(_ way: Way) throws {
        let isRefused = way == .failed
        let stage = try Stage(Self.origin) { request, response in
            isRefused && request.time > .seconds(10) ? .status(403) : response
        }
        stage.advance(10.3)
        if way != .failed { #expect(stage.player?.timeControlStatus == .playing) }
        switch way {
        case .paused: stage.player?.pause()
        case .removed: try stage.player?.replaceCurrentItem(with: nil)
        case .closed: try stage.close()
        case .left: stage.player = nil
        case .failed:
            stage.advance(60)
            #expect(stage.item.status == .failed)
        }
        let requests = stage.requestsInAMinute()
        #expect(requests.isEmpty, "\(requests)")
        #expect(stage.visits.all.contains { $0.urlString.contains("/2/") })
        try stage.close()
    }

    @Test("M05: an ended stream is not requested, not even by a player that continues")
    func ended() throws {
        var origin = Self.origin
        origin.segmentCount = 12
        let stage = try Stage(origin)
        stage.advance(20)
        let requests = stage.requestsInAMinute()
        #expect(requests.isEmpty, "\(requests)")
        #expect(stage.item.duration.isNumeric)
        try stage.close()
    }

    @Test("M05: for disabled frames neither parts nor hints are requested")
    func hidden() throws {
        let stage = try Stage(Self.origin)
        stage.advance(10.3)
        for track in stage.item.tracks where track.mediaType == .video { track.isEnabled = false }
        stage.advance(1)
        let requests = stage.requestsInAMinute()
        let media = requests.filter { $0.hasSuffix(".m4s") }
        #expect(!media.isEmpty && media.allSatisfy { $0.contains("/2/") }, "\(media)")
        #expect(stage.player?.timeControlStatus == .playing)
        try stage.close()
    }

    @Test(
        "M05: after a pause longer than the window, playback continues at the edge with its audio",
        arguments: [5, 60])
    func resumes(_ pause: Double) throws {
        let stage = try Stage(Self.origin)
        stage.advance(10.3)
        stage.player?.pause()
        stage.advance(pause)
        stage.player?.play()
        stage.advance(2)
        #expect(stage.player?.timeControlStatus == .playing)
        let ranges = stage.item.loadedTimeRanges
        let time = try #require(stage.player?.currentTime)
        #expect(ranges.contains { $0.start <= time && time < $0.end }, "\(ranges), \(time)")
        try stage.close()
    }
}
