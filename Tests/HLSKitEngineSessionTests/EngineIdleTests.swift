import HLSKitEngine
import HLSKitLoading
import HLSKitPlaylist
import HLSKitTime
import Testing

@Suite("Engine, an idle live stream")
struct EngineIdleTests {
    private static func paused(
        after seconds: Int = 30, _ change: (inout PlayerItemPreferences) -> Void = { _ in }
    ) -> EngineHarness {
        var preferences = PlayerItemPreferences()
        change(&preferences)
        var harness = EngineHarness.playing("live.m3u8", from: .live(), preferences: preferences)
        harness.run(until: .seconds(seconds))
        harness.control(.pause)
        return harness
    }

    @Test("a paused player sends no requests, and its seekable range does not change")
    func rests() {
        var harness = Self.paused()
        harness.run(until: .seconds(32))
        let (count, seekable) = (harness.requests.count, harness.state.seekableTimeRanges)
        harness.run(until: .seconds(600))
        #expect(harness.requests.count == count)
        #expect(harness.state.seekableTimeRanges == seekable)
        #expect(harness.error == nil)
    }

    @Test("the next play reloads the playlist first, then the policy decides where it continues")
    func continues() {
        for policy in FellBehindPolicy.allCases {
            var harness = Self.paused { $0.fellBehindPolicy = policy }
            harness.run(until: .seconds(300))
            let count = harness.requests.count
            harness.control(.play)
            harness.run(until: .seconds(330))
            #expect(harness.requests[count].path == "live.m3u8")
            #expect(harness.requests[count].began == .seconds(300))
            #expect(!harness.missedSequences.isEmpty || policy == .fail)
            #expect((harness.error == nil) == (policy != .fail))
            guard policy != .fail else { continue }
            #expect(harness.state.timeControlStatus == .playing)
            // The window has six segments of 4 s. The player plays its old buffer first.
            let offset = harness.state.liveOffset?.seconds ?? 0
            #expect(policy == .jumpToEdge ? offset < 17 : offset < 45, "\(policy): \(offset)")
            #expect(harness.violations.isEmpty)
        }
    }

    @Test("a short idle period loses no media")
    func shortRest() {
        var harness = Self.paused()
        harness.run(until: .seconds(36))
        harness.control(.play)
        harness.run(until: .seconds(100))
        #expect(harness.missedSequences.isEmpty)
        #expect(harness.state.timeControlStatus == .playing)
        let sequences = harness.loadedSegments.compactMap { Int($0.dropFirst().dropLast(3)) }
        #expect(sequences == Array(sequences[0]...sequences[sequences.count - 1]))
    }

    @Test("the app can let a paused player keep loading")
    func mayLoad() {
        var harness = Self.paused { $0.canUseNetworkResourcesForLiveStreamingWhilePaused = true }
        harness.run(until: .seconds(32))
        let count = harness.requests.count
        harness.run(until: .seconds(100))
        #expect(harness.requests.count >= count + 15)
    }

    @Test("a player that has never played becomes ready before it idles, and plays at the edge later")
    func beforeFirstPlay() {
        var harness = EngineHarness(origin: .live())
        harness.open("live.m3u8")
        harness.run(until: .seconds(10))
        #expect(harness.state.itemStatus == .readyToPlay)
        let count = harness.requests.count
        harness.run(until: .seconds(200))
        #expect(harness.requests.count == count)
        harness.control(.play)
        harness.run(until: .seconds(230))
        #expect(harness.state.timeControlStatus == .playing)
        #expect((harness.state.liveOffset?.seconds ?? 0) < 17)
    }

    @Test("a failed request is repeated when playback resumes")
    func retries() {
        var origin = ScriptedOrigin.live()
        origin.media = { visit in
            visit.time > .seconds(28) && visit.time < .seconds(40) ? .status(503) : .media(100_000)
        }
        var harness = EngineHarness.playing("live.m3u8", from: origin)
        harness.run(until: .seconds(30))
        harness.control(.pause)
        harness.run(until: .seconds(32))
        let count = harness.requests.count
        harness.run(until: .seconds(50))
        #expect(harness.requests.count == count)
        harness.control(.play)
        harness.run(until: .seconds(120))
        #expect(harness.state.timeControlStatus == .playing)
        #expect(harness.error == nil)
    }

    @Test("a seek while paused shows its frame")
    func seek() {
        var harness = Self.paused { $0.startPosition = .oldest }
        harness.run(until: .seconds(40))
        harness.control(.seek(SeekRequest(destination: .edge)))
        harness.run(until: .seconds(45))
        #expect(harness.seekOutcomes == [true])
    }

    @Test("without pacing live streams never idle, and a VOD loads while it is paused")
    func others() {
        var harness = EngineHarness(origin: .vod())
        harness.open("vod.m3u8")
        harness.run(until: .seconds(30))
        #expect(harness.loadedSegments.count >= 7)
    }
}
