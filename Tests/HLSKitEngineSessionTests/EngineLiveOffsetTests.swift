import HLSKitLoading
import HLSKitTime
import TestSupport
import Testing

@testable import HLSKitEngine

@Suite("Engine, distance from the live edge")
struct EngineLiveOffsetTests {
    /// Returns an origin that delays media requested during the outage until its end. Playlists are not affected.
    private static func origin(outage: Range<Duration>, _ broadcast: Broadcast = .init()) -> ScriptedOrigin {
        var origin = ScriptedOrigin.live(broadcast)
        origin.media = { visit in
            let reply = ScriptedOrigin.Reply.media(100_000)
            return outage.contains(visit.time) ? reply.after(outage.upperBound - visit.time) : reply
        }
        return origin
    }

    private static func playing(
        from origin: ScriptedOrigin, preserves: Bool = false, offset: Double? = nil
    ) -> EngineHarness {
        var preferences = PlayerItemPreferences()
        preferences.automaticallyPreservesTimeOffsetFromLive = preserves
        preferences.configuredTimeOffsetFromLive = offset.map { .seconds($0) }
        return EngineHarness.playing("live.m3u8", from: origin, preferences: preferences)
    }

    private static func recommendations(_ harness: EngineHarness) -> [Double] {
        harness.events.compactMap { _, kind in
            guard case .recommendedTimeOffsetFromLiveChanged(let offset) = kind else { return nil }
            return offset.seconds
        }
    }

    @Test("M02: the recommended offset starts as configured, grows with a stall and resets after five minutes")
    func recommendation() {
        var harness = Self.playing(
            from: Self.origin(outage: .seconds(10)..<(.seconds(45)), Broadcast(windowCount: 20)))
        harness.run(until: .seconds(5))
        #expect(harness.engine.configuredLiveOffset == .seconds(12))
        #expect(harness.engine.recommendedLiveOffset == .seconds(12))
        #expect(Self.recommendations(harness).isEmpty)
        harness.run(until: .seconds(60))
        #expect(harness.statistics.numberOfStalls == 1)
        #expect(harness.engine.recommendedLiveOffset == .seconds(16))
        #expect(Self.recommendations(harness) == [16])
        harness.run(until: .seconds(400))
        #expect(harness.engine.recommendedLiveOffset == .seconds(12))
        #expect(Self.recommendations(harness) == [16, 12])
    }

    @Test("M02: the recommended offset stays within the window, and follows the configuration", arguments: [30.0, 5])
    func bounds(configured: Double) {
        var harness = Self.playing(from: Self.origin(outage: .seconds(10)..<(.seconds(45))), offset: 22)
        harness.run(until: .seconds(60))
        #expect(harness.statistics.numberOfStalls >= 1)
        #expect(harness.engine.recommendedLiveOffset == .seconds(24))
        var preferences = harness.engine.preferences
        preferences.configuredTimeOffsetFromLive = .seconds(configured)
        harness.control(.setPreferences(preferences))
        let stalls = Double(harness.statistics.numberOfStalls)
        let expected = max(configured, min(configured + 4 * stalls, 24))
        #expect(Self.recommendations(harness).last == expected)
    }

    @Test("M02: an ended stream has no distance from the live edge")
    func ended() {
        var harness = EngineHarness.playing("vod.m3u8", from: .vod())
        harness.run(until: .seconds(5))
        #expect(harness.engine.configuredLiveOffset == nil)
        #expect(harness.engine.recommendedLiveOffset == nil)
    }

    @Test("M03: after a stall the distance is restored if the item requests it", arguments: [true, false])
    func preserved(preserves: Bool) throws {
        var harness = Self.playing(
            from: Self.origin(outage: .seconds(10)..<(.seconds(60)), Broadcast(windowCount: 40)), preserves: preserves)
        harness.run(until: .seconds(55))
        #expect(harness.story.last == "toMinimizeStalls")
        let stalled = try #require(harness.time { if case .playbackStalled = $0 { true } else { false } })
        let place = harness.state.currentTime.seconds
        let seeks = harness.seekOutcomes
        harness.run(until: .seconds(70))
        #expect(harness.state.timeControlStatus == .playing)
        let skipped = harness.state.currentTime.seconds - place - 10
        if preserves {
            #expect(abs(skipped - (60 - stalled.seconds)) <= 4.1)
        } else {
            #expect(skipped <= 0)
        }
        let jumps = harness.events.count { if case .timeJumped = $0.kind { true } else { false } }
        #expect(jumps == (preserves ? 1 : 0))
        #expect(harness.statistics.numberOfStalls == 1)
        #expect(harness.seekOutcomes == seeks)
        #expect(harness.violations.isEmpty)
    }

    @Test("M03: after a seek away from the edge, playback continues there")
    func seekAway() throws {
        var harness = Self.playing(from: .live(Broadcast(windowCount: 40)), preserves: true)
        harness.run(until: .seconds(10))
        let start = try #require(harness.state.seekableTimeRanges.first).start.seconds
        harness.control(.seek(to: .seconds(start + 40)))
        harness.run(until: .seconds(20))
        #expect(harness.seekOutcomes == [true])
        #expect(harness.state.timeControlStatus == .playing)
        #expect((start + 45...start + 51).contains(harness.state.currentTime.seconds))
    }

    @Test("G07: a seek to the edge goes to the configured distance from it", arguments: [nil, 6.0] as [Double?])
    func edge(configured: Double?) throws {
        var harness = Self.playing(from: .live(Broadcast(windowCount: 20)), offset: configured)
        harness.run(until: .seconds(5))
        harness.control(.seek(to: .seconds(-40)))
        harness.run(until: .seconds(10))
        harness.control(.seek(SeekRequest(destination: .edge)))
        #expect(harness.state.liveOffset == .seconds(configured ?? 12))
        harness.run(until: .seconds(15))
        #expect(harness.seekOutcomes == [false, true])
    }

    @Test("G07: on an ended stream a seek to the edge goes to the end")
    func end() {
        var harness = EngineHarness.playing("vod.m3u8", from: .vod())
        harness.run(until: .seconds(5))
        harness.control(.seek(SeekRequest(destination: .edge)))
        #expect(harness.state.currentTime.seconds == 40)
    }

    struct Window: CustomTestStringConvertible {
        var name: String
        var kind: Kind
        var range: ClosedRange<Double>
        enum Kind { case vod, event, sliding }
        var testDescription: String { name }
    }

    static let windows: [Window] = [
        Window(name: "a stream that is over", kind: .vod, range: 0...40),
        Window(name: "an EVENT that grows", kind: .event, range: 0...28),
        Window(name: "a window that slides", kind: .sliding, range: 4...28),
    ]

    @Test("G05: the seekable range is the listed range; seeks outside it fail", arguments: windows)
    func seekable(_ window: Window) {
        var origin = ScriptedOrigin()
        origin.routes["live.m3u8"] = { visit in
            switch window.kind {
            case .vod: return .text(.numbered(0, count: 10, isEnded: true))
            case .sliding: return .text(Broadcast().text(at: visit.time))
            case .event:
                var text = PlaylistText.numbered(0, count: 6 + Int(visit.time / .seconds(4)))
                text.header = ["#EXT-X-PLAYLIST-TYPE:EVENT"]
                return .text(text)
            }
        }
        var harness = EngineHarness.playing("live.m3u8", from: origin)
        harness.run(until: .seconds(6))
        let ranges = harness.state.seekableTimeRanges
        #expect(ranges.map(\.start.seconds) == [window.range.lowerBound])
        #expect(ranges.map(\.end.seconds) == [window.range.upperBound])
        let before = harness.state.currentTime
        harness.control(.seek(to: .seconds(window.range.upperBound + 1)))
        harness.control(.seek(to: .seconds(window.range.lowerBound - 5)))
        #expect(harness.seekOutcomes == [false, false])
        #expect(harness.state.currentTime == before)
        harness.control(.seek(to: .seconds(window.range.lowerBound)))
        harness.run(until: .seconds(7))
        #expect(harness.seekOutcomes.last == true)
    }
}
