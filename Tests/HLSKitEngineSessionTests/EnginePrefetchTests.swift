import HLSKitEngine
import HLSKitLoading
import HLSKitMedia
import HLSKitPlaylist
import TestSupport
import Testing

@Suite("Engine, several segments in flight")
struct EnginePrefetchTests {
    private static func overlap(_ harness: EngineHarness) -> Int {
        let media = harness.requests.filter { $0.resourceClass == .segment }
        return media.map { one in
            media.count { $0.began <= one.began && ($0.ended ?? harness.now) > one.began }
        }
        .max() ?? 0
    }

    private static func list(count: Int, duration: String) -> PlaylistText {
        let segments = (0..<count).map { PlaylistText.Segment("s\($0).ts", duration: duration) }
        return PlaylistText(targetDuration: 1, segments: segments, isEnded: true)
    }

    private static func unpaced(
        _ origin: ScriptedOrigin, path: String = "vod.m3u8", _ configure: (inout EngineConfiguration) -> Void = { _ in }
    ) -> EngineHarness {
        EngineHarness.playing(path, from: origin) {
            $0.pacing = .unpaced
            $0.presentsMedia = false
            configure(&$0)
        }
    }

    @Test("D07: unpaced, six segments are requested at a time and delivered in order")
    func manyConnections() {
        var harness = Self.unpaced(.vod(count: 30))
        let isOver = harness.runToEnd()
        #expect(isOver)
        #expect(Self.overlap(harness) == 6)
        #expect(harness.loadedSegments == (0..<30).map { "s\($0).ts" })
        #expect(harness.requests.filter { $0.resourceClass == .segment }.count == 30)
        #expect(harness.violations.isEmpty)
    }

    @Test("D07: over a multiplexed connection, up to 64 segments are in flight if the byte limit allows")
    func manyStreams() {
        for (byteCount, expected) in [(1 << 30, 64), (1 << 20, 8)] {
            var origin = ScriptedOrigin.vod(count: 200)
            origin.protocolName = "h2"
            // Unknown sizes are estimated at 2 Mbit/s, which is 125 kB for 0.5 s.
            origin.answer("vod.m3u8", .text(Self.list(count: 200, duration: "0.5")))
            var harness = Self.unpaced(origin) { $0.parallelLoading.maximumByteCount = byteCount }
            harness.run(until: .milliseconds(60))
            #expect(harness.requests.count { $0.resourceClass == .segment } == expected)
            let isOver = harness.runToEnd()
            #expect(isOver)
            #expect(harness.loadedSegments.count == 200)
        }
    }

    @Test("D07: the first frame does not share the link with later segments")
    func firstFrame() {
        var origin = ScriptedOrigin.vod(count: 30)
        origin.media = { _ in .media(100_000).lasting(.seconds(2)) }
        var harness = Self.unpaced(origin) { $0.presentsMedia = true }
        harness.run(until: .milliseconds(1030))
        #expect(harness.mediaPaths == ["s0.ts"])
        // Half of the 4 s have arrived after 1 s and two round trips of 20 ms.
        harness.run(until: .milliseconds(1050))
        #expect(harness.mediaPaths.count == 6)
    }

    @Test("D07: segments can be requested one at a time")
    func sequential() {
        var harness = Self.unpaced(.vod()) { $0.parallelLoading = .sequential }
        let isOver = harness.runToEnd()
        #expect(isOver)
        #expect(Self.overlap(harness) == 1)
    }

    @Test(
        "D07: during playback, at most four short segments load in parallel; one if bandwidth is scarce",
        arguments: [
            (count: 60, byteCount: 60_000, delay: 300, overlap: 4),
            (count: 30, byteCount: 600_000, delay: 200, overlap: 1),
        ])
    func whilePlaying(_ example: (count: Int, byteCount: Int, delay: Int, overlap: Int)) {
        var origin = ScriptedOrigin()
        origin.answer("vod.m3u8", .text(Self.list(count: example.count, duration: "1")))
        origin.media = { _ in .media(example.byteCount) }
        origin.delay = .milliseconds(example.delay)
        var harness = EngineHarness.playing("vod.m3u8", from: origin)
        let isOver = harness.runToEnd()
        #expect(isOver)
        #expect(Self.overlap(harness) == example.overlap)
        #expect(harness.loadedSegments == (0..<example.count).map { "s\($0).ts" })
        #expect(harness.statistics.numberOfStalls == 0 || example.overlap == 1)
    }

    @Test("R8: if six parallel segments fail, each is requested again after its own delay")
    func eachFailsOnce() {
        var origin = ScriptedOrigin.vod(count: 12)
        origin.media = { $0.earlierCount == 0 ? .status(503) : .media(100_000) }
        var harness = Self.unpaced(origin)
        let isOver = harness.runToEnd()
        #expect(isOver)
        #expect(harness.loadedSegments == (0..<12).map { "s\($0).ts" })
        #expect(harness.skippedSequences.isEmpty)
        for path in harness.loadedSegments {
            let times = harness.requests(of: path).map(\.began)
            #expect(times.count == 2)
            // The failures of other segments do not lengthen the first wait of the schedule, including its jitter.
            #expect(times[1] - times[0] < .seconds(0.8))
        }
    }

    @Test("R17: an outage skips only the next needed segment, not the ones in parallel")
    func outage() {
        var origin = ScriptedOrigin.vod(count: 12)
        origin.media = { visit in
            visit.time < .seconds(30) ? Reply.failure(.timedOut).after(.seconds(8)) : Reply.media(100_000)
        }
        var harness = Self.unpaced(origin)
        let isOver = harness.runToEnd()
        #expect(isOver)
        #expect(harness.skippedSequences == [0...0])
        #expect(harness.loadedSegments == (1..<12).map { "s\($0).ts" })
        #expect(
            harness.requests.count { $0.resourceClass == .segment && $0.began > .seconds(1) && $0.began < .seconds(30) }
                < 6)
        #expect(harness.violations.isEmpty)
    }

    @Test("R9: segments that fail in the previous variant are loaded from the current one, without a loss")
    func failsInLeftVariant() {
        var origin = ScriptedOrigin.twoVariants(count: 10)
        for (number, delay) in [(3, 900), (4, 100), (5, 700), (6, 200)] {
            origin.routes["a\(number).ts"] = { _ in .status(404).after(.milliseconds(delay)) }
        }
        var harness = Self.unpaced(origin, path: "main.m3u8")
        let isOver = harness.runToEnd()
        #expect(isOver)
        #expect(harness.skippedSequences.isEmpty)
        #expect(harness.loadedSegments == (0..<10).map { $0 < 3 ? "a\($0).ts" : "b\($0).ts" })
        #expect(harness.variantSequence == [0, 1])
        #expect(harness.violations.isEmpty)
    }

    @Test("R3: a segment that no variant has is skipped, and the parallel ones are kept")
    func lostAmongOthers() {
        var origin = ScriptedOrigin.vod(count: 8)
        origin.answer("s2.ts", .status(404))
        var harness = Self.unpaced(origin)
        let isOver = harness.runToEnd()
        #expect(isOver)
        #expect(harness.skippedSequences == [2...2])
        #expect(harness.loadedSegments == [0, 1, 3, 4, 5, 6, 7].map { "s\($0).ts" })
        #expect(harness.requests(of: "s2.ts").count == 2)
        #expect(harness.requests(of: "s3.ts").count == 1)
    }

    @Test("a final failure keeps the media loaded before it and drops the media after it")
    func failsForGood() {
        var origin = ScriptedOrigin.vod(count: 8)
        origin.answer("s2.ts", .status(404))
        var harness = Self.unpaced(origin) { $0.retryPolicies.skipsSegments = false }
        let isOver = harness.runToEnd()
        #expect(isOver)
        #expect(harness.error?.code == .notFound)
        #expect(harness.loadedSegments == ["s0.ts", "s1.ts"])
        #expect(harness.requests.allSatisfy { $0.outcome != .underWay })
    }

    @Test("a seek cancels all requests in flight")
    func seek() {
        var harness = Self.unpaced(.vod(count: 30))
        harness.run(until: .milliseconds(60))
        harness.control(.seek(to: .seconds(80)))
        #expect(harness.requests.filter { $0.outcome == .cancelled }.count == 6)
        let isOver = harness.runToEnd()
        #expect(isOver)
        #expect(harness.loadedSegments.first == "s20.ts")
        #expect(harness.violations.isEmpty)
    }

    @Test("R73: bodies larger than estimated are not read further while too many bytes wait")
    func backPressure() {
        var origin = ScriptedOrigin.vod(count: 12)
        origin.media = { $0.path == "s0.ts" ? Reply.media(1_000_000).lasting(.seconds(20)) : Reply.media(8_000_000) }
        var harness = Self.unpaced(origin) {
            // The estimate for 4 s is 1 MB.
            $0.parallelLoading.maximumByteCount = 24 << 20
        }
        harness.run(until: .seconds(19))
        let received = harness.statistics.receivedByteCount
        #expect(received < 40 << 20)
        let isOver = harness.runToEnd()
        #expect(isOver)
        #expect(harness.loadedSegments.count == 12)
    }

    private typealias Reply = ScriptedOrigin.Reply

    @Test("audio and video share the request limit; the earliest needed segment comes first")
    func lanes() {
        var origin = ScriptedOrigin.multivariant(
            ["a": 3_000_000],
            extra: [#"#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="g",NAME="x",DEFAULT=YES,URI="x.m3u8""#], audio: "g")
        origin.answer("a.m3u8", .text(.numbered(0, count: 10, prefix: "a", isEnded: true)))
        origin.answer("x.m3u8", .text(.numbered(0, count: 10, prefix: "x", isEnded: true)))
        var harness = Self.unpaced(origin, path: "main.m3u8")
        harness.run(until: .milliseconds(61))
        #expect(harness.mediaPaths == ["a0.ts", "x0.ts", "a1.ts", "x1.ts", "a2.ts", "x2.ts"])
        let isOver = harness.runToEnd()
        #expect(isOver)
        #expect(harness.loadedSegments.count == 20)
    }
}
