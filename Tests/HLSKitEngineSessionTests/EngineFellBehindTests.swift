import HLSKitLoading
import HLSKitSelection
import HLSKitTime
import Testing

@testable import HLSKitEngine

@Suite("Engine, falling behind the live window")
struct EngineFellBehindTests {
    /// Returns a player of a live stream whose media fails for 90 s, so that the window moves on.
    private static func player(_ policy: FellBehindPolicy) -> EngineHarness {
        var origin = ScriptedOrigin.live()
        origin.media = { visit in
            (.seconds(8)..<(.seconds(98))).contains(visit.time) ? .failure(.timedOut) : .media(100_000)
        }
        var preferences = PlayerItemPreferences()
        preferences.fellBehindPolicy = policy
        return EngineHarness.playing("live.m3u8", from: origin, preferences: preferences) {
            $0.retryPolicies.liveBudget = nil
        }
    }

    private static func sequences(_ harness: EngineHarness) -> [Int] {
        harness.loadedSegments.compactMap { Int($0.dropFirst().dropLast(3)) }
    }

    @Test(
        "M04: segments that left the window are counted, and playback continues according to the policy",
        arguments: [FellBehindPolicy.jumpToEdge, .jumpToOldest])
    func continues(_ policy: FellBehindPolicy) throws {
        var harness = Self.player(policy)
        harness.run(until: .seconds(130))
        #expect(harness.state.timeControlStatus == .playing)
        let loaded = Self.sequences(harness)
        let lost = harness.missedSequences
        #expect(!lost.isEmpty)
        let skipped = harness.skippedSequences.flatMap { Array($0) }
        let all = (loaded + lost.flatMap { Array($0) } + skipped).sorted()
        #expect(all == Array(103...(loaded.last ?? 0)))
        // One segment was already in flight. The jump lands 12 to 16 s behind the edge; otherwise the whole window
        // remains.
        let offset = try #require(harness.state.liveOffset?.seconds)
        #expect(policy == .jumpToEdge ? offset < 24 : offset > 24, "\(offset)")
    }

    @Test("M04: a player with the policy to fail fails")
    func fails() {
        var harness = Self.player(.fail)
        let isOver = harness.runToEnd(by: .seconds(200))
        #expect(isOver)
        #expect(harness.error?.code == .staleLive)
        #expect(harness.error?.cause == "playback fell behind the live window")
    }

    @Test("M04: after a jump to the edge, segments before item time 0 are not seekable")
    func beginsAtZero() throws {
        // The third segment of a long window arrives only after the window has moved on. The lane continues at the
        // edge, so the skipped segments in the playlist precede item time 0.
        var origin = ScriptedOrigin.live(Broadcast(windowCount: 20))
        origin.media = { visit in
            visit.path == "s102.ts" ? .media(100_000).after(.seconds(30)) : .media(100_000)
        }
        var preferences = PlayerItemPreferences()
        preferences.fellBehindPolicy = .jumpToEdge
        preferences.startPosition = .oldest
        preferences.configuredTimeOffsetFromLive = .seconds(4)
        var harness = EngineHarness.playing("live.m3u8", from: origin, preferences: preferences)
        harness.run(until: .seconds(45))
        let listed = try #require(harness.engine.item?.lanes[.main]?.tracker?.start)
        #expect(listed < .zero, "\(listed)")
        #expect(harness.state.seekableTimeRanges.first?.start == .zero)
        for tolerance in [SeekRequest.Tolerance.zero, .unlimited] {
            harness.control(.seek(to: .zero, tolerance: tolerance))
            harness.run(until: harness.now + .seconds(5))
            #expect(harness.state.currentTime >= .zero)
            #expect(harness.state.loadedTimeRanges.allSatisfy { $0.start >= .zero })
        }
        #expect(harness.seekOutcomes == [true, true])
        #expect(harness.violations.isEmpty)
    }

    // MARK: After a pause

    /// Returns a player that was paused for three minutes, continued to load and plays again. The window holds 24 s,
    /// the buffer 30 s. ``EngineIdleTests`` covers idle players.
    private static func rested(
        _ policy: FellBehindPolicy, origin: ScriptedOrigin = .live(),
        then control: EngineControl = .play
    ) -> EngineHarness {
        var preferences = PlayerItemPreferences()
        preferences.fellBehindPolicy = policy
        preferences.canUseNetworkResourcesForLiveStreamingWhilePaused = true
        var harness = EngineHarness.playing("live.m3u8", from: origin, preferences: preferences)
        harness.run(until: .seconds(6))
        harness.control(.pause)
        harness.run(until: .seconds(186))
        harness.control(control)
        return harness
    }

    @Test("M04: after a long pause playback jumps to the edge, and reports once what it skipped")
    func jumpsToEdge() throws {
        var harness = Self.rested(.jumpToEdge)
        harness.run(until: .seconds(188))
        #expect(harness.state.timeControlStatus == .playing)
        #expect(harness.statistics.numberOfStalls == 0)
        let offset = try #require(harness.state.liveOffset?.seconds)
        // The offset is relative to the latest playlist, and the next reload is at most 4 s away.
        #expect((8...16).contains(offset), "\(offset)")
        let jumps = harness.events.filter { if case .timeJumped = $0.kind { true } else { false } }
        #expect(jumps.count == 1)
        harness.run(until: .seconds(240))
        #expect(harness.state.timeControlStatus == .playing)
        #expect(harness.statistics.numberOfStalls == 0)
        let lost = harness.missedSequences
        #expect(lost.count == 1)
        let loaded = Self.sequences(harness)
        #expect((loaded + lost.flatMap { Array($0) }).sorted() == Array(103...(loaded.last ?? 0)))
        #expect(harness.statistics.numberOfSkippedSegments == lost.first?.count)
        #expect(harness.violations.isEmpty)
    }

    @Test("M04: a jump to the edge does not affect the user's seeks")
    func seekInTheJump() {
        var harness = Self.rested(.jumpToEdge)
        let edge = harness.state.seekableTimeRanges.last?.end ?? .zero
        harness.control(.seek(to: edge.value - .seconds(4)))
        harness.run(until: .seconds(200))
        #expect(harness.seekOutcomes == [false, true])
        #expect(harness.state.timeControlStatus == .playing)
    }

    @Test("M04: after a seek while the player is paused, no catching up is necessary")
    func soughtMeanwhile() {
        var harness = Self.rested(.jumpToEdge, then: .pause)
        let edge = harness.state.seekableTimeRanges.last?.end ?? .zero
        harness.control(.seek(to: edge.value - .seconds(20)))
        harness.run(until: .seconds(188))
        harness.control(.play)
        harness.run(until: .seconds(189))
        #expect(harness.seekOutcomes == [true])
        #expect(harness.state.liveOffset.map { $0 > .seconds(20) } == true)
    }

    @Test("M04: with the policy \"oldest\", loaded media is played first")
    func jumpsToOldest() {
        var harness = Self.rested(.jumpToOldest)
        let resumed = harness.state.currentTime
        harness.run(until: .seconds(196))
        #expect(harness.state.timeControlStatus == .playing)
        #expect((harness.state.currentTime.value - resumed.value).seconds == 10)
        harness.run(until: .seconds(280))
        #expect(harness.statistics.numberOfStalls == 0)
        let loaded = Self.sequences(harness)
        let all = (loaded + harness.missedSequences.flatMap { Array($0) }).sorted()
        #expect(all == Array(103...(loaded.last ?? 0)))
    }

    @Test("M04: after a pause, a player with the policy to fail first plays its buffer")
    func failsAfterPause() {
        var harness = Self.rested(.fail)
        #expect(harness.state.timeControlStatus == .playing)
        let isOver = harness.runToEnd(by: .seconds(240))
        #expect(isOver)
        #expect(harness.error?.code == .staleLive)
    }

    @Test("M04: a pause shorter than the buffer changes nothing", arguments: [10, 30])
    func shortPause(_ seconds: Int) {
        var preferences = PlayerItemPreferences()
        preferences.canUseNetworkResourcesForLiveStreamingWhilePaused = true
        var harness = EngineHarness.playing("live.m3u8", from: .live(), preferences: preferences)
        harness.run(until: .seconds(6))
        harness.control(.pause)
        let paused = harness.state.currentTime
        harness.run(until: .seconds(6 + seconds))
        harness.control(.play)
        #expect(harness.state.currentTime == paused)
        harness.run(until: .seconds(30 + seconds))
        #expect((harness.state.currentTime.value - paused.value).seconds == 24)
        #expect(harness.missedSequences.isEmpty)
    }
}

extension MediaTime {
    fileprivate var value: Duration { duration ?? .zero }
}
