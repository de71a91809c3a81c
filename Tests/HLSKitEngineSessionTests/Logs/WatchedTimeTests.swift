import HLSKitLoading
import HLSKitMedia
import HLSKitPlaylist
import HLSKitTime
import TestSupport
import Testing

@testable import HLSKitEngine

@Suite("Watched time")
struct WatchedTimeTests {
    private static func range(_ start: Int, _ end: Int) -> Range<Duration> {
        Duration.seconds(start)..<Duration.seconds(end)
    }

    @Test("watched time counts at any rate and direction; jumps and losses do not count")
    func value() {
        var watched = ItemClock.WatchedTime(from: .seconds(60))
        #expect(watched.total == .zero, "the way to the start was not played")
        watched.advance(to: .seconds(70))
        watched.jump(to: .seconds(100))
        watched.advance(to: .seconds(90))
        #expect(watched.total == .seconds(20))
        watched.lose(Self.range(92, 96), at: .seconds(90))
        watched.lose(Self.range(96, 98), at: .seconds(90))
        #expect(watched.total(upTo: .seconds(94)) == .seconds(22), "two seconds of it are lost")
        #expect(watched.total(upTo: .seconds(100)) == .seconds(24))
        watched.recover(Self.range(94, 98), at: .seconds(94))
        #expect(watched.total(upTo: .seconds(100)) == .seconds(28))
        watched.advance(to: .seconds(100))
        watched.advance(to: .seconds(91))
        #expect(watched.total == .seconds(35), "backwards over what is still lost")
    }

    @Test("media watched before a loss is known stays counted, and losses are bounded")
    func bounds() {
        var watched = ItemClock.WatchedTime()
        watched.lose(Self.range(2, 6), at: .seconds(4))
        #expect(watched.total(upTo: .seconds(10)) == .seconds(8))
        for index in 0..<10_000 {
            watched.lose(Self.range(20 + 2 * index, 21 + 2 * index), at: .seconds(10))
        }
        #expect(watched.total == .seconds(8))
        #expect(watched.total(upTo: .seconds(20_020)) == .seconds(8) + .seconds(20_010) - .seconds(256))
    }

    struct Case: CustomTestStringConvertible, Sendable {
        var testDescription: String
        var start = StartPosition.automatic
        var end = EndPosition.automatic
        var isLive = false
        var losesSegment = false
        var seek: Duration?
        /// The expected time in seconds, within 0.3 s because a period may be running when time stops.
        var expected: Double
    }

    static let cases = [
        Case(testDescription: "all of it", expected: 40),
        Case(testDescription: "from 20", start: .time(.seconds(20)), expected: 20),
        Case(testDescription: "the last second", start: .time(.seconds(-1)), expected: 1),
        Case(testDescription: "from 8 to 11", start: .time(.seconds(8)), end: .time(.seconds(11)), expected: 3),
        Case(testDescription: "from 8, for 3", start: .time(.seconds(8)), end: .duration(.seconds(3)), expected: 3),
        Case(
            testDescription: "live, from its joining point, for 3", end: .duration(.seconds(3)), isLive: true,
            expected: 3),
        Case(testDescription: "a segment of 4 s is lost", losesSegment: true, expected: 36),
        Case(
            testDescription: "from 8, in it a segment lost", start: .time(.seconds(8)), losesSegment: true, expected: 28
        ),
    ]

    @Test(
        "state, access log and metrics summary count the watched time once",
        arguments: cases, [EngineConfiguration.Pacing.realTime, EngineConfiguration.Pacing.unpaced])
    func figures(_ test: Case, pacing: EngineConfiguration.Pacing) throws {
        var origin = test.isLive ? ScriptedOrigin() : .vod()
        if test.isLive { origin.answer("vod.m3u8", .text(.numbered(0, count: 10, prefix: "s", isEnded: false))) }
        if test.losesSegment { origin.answer("s5.ts", .status(404)) }
        var configuration = EngineConfiguration()
        configuration.pacing = pacing
        var preferences = PlayerItemPreferences()
        preferences.startPosition = test.start
        preferences.endPosition = test.end
        var harness = EngineHarness(origin: origin, configuration: configuration)
        harness.control(.play)
        harness.control(.setPreferences(preferences))
        harness.control(.setItem(EngineItem(url: ScriptedOrigin.root + "vod.m3u8", diary: ItemLog())))
        harness.runToEnd(by: .seconds(60))
        #expect(harness.isOver)

        let now = harness.now
        let state = harness.state.statistics.durationWatched.seconds
        let log = harness.engine.journal?.accessLog(watched: harness.engine.watchedDuration(at: now), at: now)
        let logged = (log?.events ?? []).reduce(0) { $0 + $1.durationWatched.seconds }
        let summary = harness.metrics.lazy.compactMap { $0 as? MetricPlayerItemPlaybackSummaryEvent }.first
        #expect(abs(state - test.expected) < 0.3, "\(state)")
        #expect(abs(logged - state) < 0.001, "\(logged)")
        #expect(abs((summary?.playbackDuration.seconds ?? -1) - state) < 0.001, "\(String(describing: summary))")
    }

    @Test("an item that starts at its end and cannot play backwards has no watched time")
    func fromTheEnd() {
        var preferences = PlayerItemPreferences()
        preferences.startPosition = .time(.milliseconds(-1))
        var harness = EngineHarness(origin: .vod())
        harness.control(.setPreferences(preferences))
        harness.open("vod.m3u8")
        harness.control(.setRate(-2))
        harness.run(until: .seconds(5))
        #expect(harness.state.statistics.durationWatched.seconds < 0.01)
    }

    @Test("the log of a replaced item contains the time watched until then, and no more")
    func replaced() throws {
        var harness = EngineHarness(origin: .vod())
        let diary = ItemLog()
        var preferences = PlayerItemPreferences()
        preferences.startPosition = .time(.seconds(8))
        harness.control(.play)
        harness.control(.setPreferences(preferences))
        harness.control(.setItem(EngineItem(url: ScriptedOrigin.root + "vod.m3u8", diary: diary)))
        harness.run(until: .seconds(10))
        let watched = harness.state.statistics.durationWatched.seconds
        harness.control(.setItem(EngineItem(url: ScriptedOrigin.root + "vod.m3u8", diary: ItemLog())))
        harness.run(until: .seconds(15))
        let log = try #require(diary.journal).accessLog(at: harness.now)
        #expect((9...10).contains(watched))
        #expect(abs(log.events.reduce(0) { $0 + $1.durationWatched.seconds } - watched) < 0.001)
    }
}
