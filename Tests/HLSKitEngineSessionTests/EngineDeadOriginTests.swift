import HLSKitEngine
import HLSKitLoading
import HLSKitMedia
import HLSKitPlaylist
import HLSKitTime
import TestSupport
import Testing

@Suite("Engine, an origin that stops delivering media")
struct EngineDeadOriginTests {
    private static func origin(
        count: Int = 40, lost: some Sequence<Int>, status: ScriptedOrigin.Reply = .status(404)
    ) -> ScriptedOrigin {
        var origin = ScriptedOrigin.vod(count: count)
        for number in lost { origin.answer("s\(number).ts", status) }
        return origin
    }

    private static let deaths: [ScriptedOrigin.Reply] = [
        .status(500), .status(503), .failure(.cannotConnect), .failure(.timedOut), .status(404), .status(403),
        .spoiled(.media(MediaError(code: .unknownContainer, text: "not media"))),
    ]

    @Test("an item whose segments never arrive fails within a minute", arguments: deaths.indices, [false, true])
    func nothing(index: Int, isUnpaced: Bool) {
        var harness = EngineHarness.playing(
            "vod.m3u8", from: Self.origin(count: 600, lost: 0..<600, status: Self.deaths[index])
        ) { if isUnpaced { $0.pacing = .unpaced } }
        let isOver = harness.runToEnd(by: .seconds(62))
        #expect(isOver)
        #expect(harness.error != nil)
        #expect(!harness.didPlayToEnd)
        #expect(harness.statistics.numberOfSkippedSegments <= (isUnpaced ? 8 : 5))
        #expect(harness.violations.isEmpty)
    }

    @Test("an item whose segments stop arriving later fails within a minute", arguments: deaths.indices, [false, true])
    func afterSome(index: Int, isUnpaced: Bool) {
        var harness = EngineHarness.playing(
            "vod.m3u8", from: Self.origin(count: 600, lost: 4..<600, status: Self.deaths[index])
        ) { if isUnpaced { $0.pacing = .unpaced } }
        let isOver = harness.runToEnd(by: .seconds(78))
        #expect(isOver)
        #expect(harness.error != nil)
        #expect(harness.story.contains("failedToPlayToEnd"))
        #expect(!harness.didPlayToEnd)
        #expect(harness.loadedSegments == ["s0.ts", "s1.ts", "s2.ts", "s3.ts"])
        // Playback does not run through segments that were skipped in vain before the playhead reached them.
        if !isUnpaced, index >= 4 { #expect(harness.state.currentTime.seconds <= 16.1) }
    }

    @Test("four missing segments in a row are skipped, five fail the item, and the limit is a setting")
    func number() {
        for (lost, limit, plays) in [
            (10..<14, 5, true), (10..<15, 5, false), (10..<12, 2, false), (10..<11, 2, true), (10..<30, nil, true),
        ] as [(Range<Int>, Int?, Bool)] {
            for isUnpaced in plays ? [false, true] : [false] {
                var harness = EngineHarness.playing("vod.m3u8", from: Self.origin(lost: lost)) {
                    $0.retryPolicies.lostSegmentLimit = limit
                    if isUnpaced { $0.pacing = .unpaced }
                }
                harness.runToEnd()
                #expect(harness.didPlayToEnd == plays, "\(lost), \(String(describing: limit)), \(isUnpaced)")
                #expect((harness.error == nil) == plays)
                if plays { #expect(harness.statistics.numberOfSkippedSegments == lost.count) }
            }
        }
    }

    @Test("any number of isolated missing segments is skipped")
    func oneByOne() {
        for isUnpaced in [false, true] {
            var harness = EngineHarness.playing("vod.m3u8", from: Self.origin(lost: stride(from: 1, to: 39, by: 2))) {
                if isUnpaced { $0.pacing = .unpaced }
            }
            harness.runToEnd()
            #expect(harness.didPlayToEnd)
            #expect(harness.statistics.numberOfSkippedSegments == 19)
        }
    }

    @Test("gaps declared by the playlist do not count as losses")
    func gaps() {
        var origin = ScriptedOrigin.vod(count: 40) { text in
            for index in 10..<30 { text.segments[index].tags = ["#EXT-X-GAP"] }
        }
        origin.answer("s31.ts", .status(404))
        var harness = EngineHarness.playing("vod.m3u8", from: origin)
        harness.runToEnd()
        #expect(harness.didPlayToEnd)
    }

    @Test("the last segment may be missing, but not the last two", arguments: [1, 2, 4])
    func tail(count: Int) {
        for isUnpaced in [false, true] {
            var harness = EngineHarness.playing("vod.m3u8", from: Self.origin(lost: 40 - count..<40)) {
                if isUnpaced { $0.pacing = .unpaced }
            }
            let isOver = harness.runToEnd()
            #expect(isOver)
            #expect(harness.didPlayToEnd == (count == 1))
            #expect(harness.story.contains("failedToPlayToEnd") == (count > 1))
        }
    }

    @Test("the time without media is a setting, too, and a longer budget extends it")
    func time() {
        for (time, budget, limit) in [(30, 20, 31), (60, 20, 61), (10, 20, 21), (60, 100, 101)] {
            var harness = EngineHarness.playing("vod.m3u8", from: Self.origin(lost: 0..<40, status: .status(500))) {
                $0.retryPolicies.lostSegmentLimit = nil
                $0.retryPolicies.lostMediaTime = .seconds(time)
                $0.retryPolicies.budget = .seconds(budget)
            }
            let isOver = harness.runToEnd(by: .seconds(limit))
            #expect(isOver, "\(time) \(budget)")
            #expect(harness.now >= .seconds(limit - 10), "\(time) \(budget)")
        }
    }

    @Test("a live stream continues after its segments were unavailable for a while", arguments: [8, 20, 40])
    func live(seconds: Int) {
        var origin = ScriptedOrigin.live()
        origin.media = { visit in
            (40..<40 + seconds).contains(Int(visit.time.seconds)) ? .status(404) : .media(100_000)
        }
        var harness = EngineHarness.playing("live.m3u8", from: origin)
        harness.run(until: .seconds(200))
        #expect(harness.error == nil)
        #expect(harness.state.timeControlStatus == .playing)
        #expect(harness.loadedSegments.last == "s154.ts" || harness.loadedSegments.last == "s155.ts")
    }

    @Test("a live stream whose segments stop arriving fails after a minute plus its buffer")
    func deadLive() {
        for death in [ScriptedOrigin.Reply.status(404), .status(500), .failure(.cannotConnect)] {
            var origin = ScriptedOrigin.live()
            origin.media = { visit in visit.time < .seconds(40) ? .media(100_000) : death }
            var harness = EngineHarness.playing("live.m3u8", from: origin)
            let isOver = harness.runToEnd(by: .seconds(140))
            #expect(isOver)
            #expect(harness.now > .seconds(95))
            #expect(harness.error != nil)
        }
    }
}
