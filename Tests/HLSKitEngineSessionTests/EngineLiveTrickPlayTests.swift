import HLSKitEngine
import HLSKitLoading
import HLSKitMedia
import HLSKitTime
import TestSupport
import Testing

/// `main.m3u8` is a live window of twenty segments of 4 s with separate audio. An I-frame playlist has a frame (`i…`)
/// every 2 s and counts from 500. The first window starts at 00:00:00.
private struct LiveIFrames {
    var hasDates = true
    var isEvent = false
    var end: Duration?
    var delay = Duration.zero

    func origin() -> ScriptedOrigin {
        let audio = #"#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="x",NAME="en",DEFAULT=YES,URI="c.m3u8""#
        let iFrames = #"#EXT-X-I-FRAME-STREAM-INF:BANDWIDTH=100000,URI="i.m3u8""#
        var origin = ScriptedOrigin.multivariant(["a": 1_000_000], extra: [audio, iFrames], audio: "x")
        for name in ["a", "c"] {
            origin.routes["\(name).m3u8"] = { .text(list(at: $0.time, target: 4, first: 100, count: 20, prefix: name)) }
        }
        origin.routes["i.m3u8"] = { visit in
            let time = max(.zero, visit.time - delay)
            var list = list(at: time, target: 2, first: isEvent ? 0 : 500, count: 40, prefix: "i")
            list.header.append("#EXT-X-I-FRAMES-ONLY")
            return .text(list)
        }
        origin.media = { visit in .media(visit.path.hasPrefix("i") ? 10_000 : 100_000) }
        return origin
    }

    private func list(at time: Duration, target: Int, first: Int, count: Int, prefix: String) -> PlaylistText {
        let isOver = end.map { time >= $0 } ?? false
        let moved = Int(min(time, end ?? time) / .seconds(target))
        let gone = isEvent ? 0 : moved
        var text = PlaylistText.numbered(
            first + gone, count: count + moved - gone, targetDuration: target, prefix: prefix, isEnded: isOver)
        if isEvent { text.header.append("#EXT-X-PLAYLIST-TYPE:EVENT") }
        let seconds = gone * target
        func two(_ number: Int) -> String { (number < 10 ? "0" : "") + "\(number)" }
        if hasDates {
            text.header.append("#EXT-X-PROGRAM-DATE-TIME:2026-01-01T00:\(two(seconds / 60)):\(two(seconds % 60))Z")
        }
        return text
    }
}

@Suite("Engine, I-frames of live streams")
struct EngineLiveTrickPlayTests {
    private static func playing(
        _ stream: LiveIFrames = LiveIFrames(), from place: Double? = nil, until time: Duration = .seconds(10)
    ) -> EngineHarness {
        var harness = EngineHarness.playing("main.m3u8", from: stream.origin())
        harness.run(until: .seconds(2))
        if let place { harness.control(.seek(to: .seconds(place))) }
        harness.run(until: time)
        return harness
    }

    /// Returns the item times of the frames in the requests after the first `count`, by their names.
    private static func frames(_ harness: EngineHarness, after count: Int = 0, first: Int = 500) -> [Int] {
        harness.mediaPaths.dropFirst(count).filter { $0.hasPrefix("i") }.compactMap {
            Int($0.dropFirst().prefix { $0 != "." }).map { ($0 - first) * 2 }
        }
    }

    private static func obstacles(_ harness: EngineHarness) -> Int {
        harness.events.count { if case .trickPlayUnavailable = $0.kind { true } else { false } }
    }

    @Test("G15: forward trick play ends at the target distance from the edge; media then plays at rate 1")
    func toTheEdge() throws {
        var harness = Self.playing(from: 4)
        let count = harness.mediaPaths.count
        let place = harness.state.currentTime.seconds
        #expect((11...12).contains(place))
        harness.control(.setRate(8))
        harness.run(until: .seconds(15)) { $0.state.timebaseRate == 8 }
        #expect(harness.state.timebaseRate == 8)
        #expect(abs(harness.state.currentTime.seconds - place) < 0.001)
        harness.run(until: .seconds(40)) { $0.state.rate == 1 }
        let reached = harness.state.currentTime.seconds
        // The edge has moved on. It is at the end of the latest playlist.
        let window = Double(Int(harness.now.seconds / 2) * 2 + 80)
        #expect((window - 16...window - 12).contains(reached), "\(reached) of \(window)")
        #expect(harness.rates.last == "1.0 reachedLiveEdge")
        let frames = Self.frames(harness, after: count)
        #expect(frames == Array(stride(from: frames.first ?? 0, through: frames.last ?? 0, by: 2)))
        #expect(frames.first == Int(place / 2) * 2)
        harness.run(until: harness.now + .seconds(6))
        #expect(harness.state.timebaseRate == 1)
        #expect((4...6).contains(harness.state.currentTime.seconds - reached))
        #expect(harness.mediaPaths.suffix(2).allSatisfy { $0.hasPrefix("a") || $0.hasPrefix("c") })
        #expect(harness.statistics.numberOfStalls == 0)
        #expect(Self.obstacles(harness) == 0 && harness.error == nil && harness.violations.isEmpty)
    }

    @Test("G15: reverse trick play ends at the current start of the window with rate 0")
    func toTheStart() throws {
        var harness = Self.playing()
        let place = harness.state.currentTime.seconds
        harness.control(.setRate(-2))
        harness.run(until: .seconds(15)) { $0.state.timebaseRate == -2 }
        let began = harness.now
        harness.run(until: .seconds(100)) { $0.rates.last == "0.0 reachedStart" }
        #expect(harness.rates.last == "0.0 reachedStart")
        let (end, gone) = (harness.state.currentTime.seconds, harness.now - began)
        // The start of the window moves 1 s per second towards the playhead until they meet. The playlist is at most 2
        // s old.
        #expect(abs(end - (place - gone.seconds * 2)) < 0.1)
        #expect((harness.now.seconds - 4.1...harness.now.seconds).contains(end), "\(end) at \(harness.now.seconds)")
        #expect(harness.state.seekableTimeRanges.first?.start.seconds == end)
        #expect(harness.statistics.numberOfStalls == 0)
        #expect(!harness.events.contains { if case .segmentsMissed = $0.kind { true } else { false } })
        harness.run(until: harness.now + .seconds(2))
        let count = harness.requests.count
        harness.run(until: harness.now + .seconds(60))
        #expect(harness.requests.count == count)
    }

    @Test("G15: the I-frame playlist is reloaded only while it is used")
    func reloads() {
        var harness = Self.playing(until: .seconds(30))
        #expect(harness.requests(of: "i.m3u8").isEmpty)
        harness.control(.setRate(-0.5))
        harness.run(until: .seconds(60))
        let (lists, media) = (harness.requests(of: "i.m3u8").count, harness.requests(of: "a.m3u8").count)
        #expect((14...17).contains(lists))
        let range = harness.state.seekableTimeRanges.first
        #expect((harness.now.seconds - 3...harness.now.seconds).contains(range?.start.seconds ?? -1))
        harness.control(.setRate(1))
        harness.run(until: .seconds(100))
        #expect(harness.requests(of: "i.m3u8").count == lists)
        #expect(harness.requests(of: "a.m3u8").count > media + 5)
        #expect(harness.state.timebaseRate == 1)
    }

    @Test(
        "G15: I-frames align with the media, with or without dates, and media resumes at the last frame",
        arguments: [true, false], [0.0, 6])
    func alignment(hasDates: Bool, delay: Double) {
        let delayed = Duration.seconds(hasDates ? delay : 0)
        var harness = Self.playing(LiveIFrames(hasDates: hasDates, delay: delayed), from: 20)
        let count = harness.mediaPaths.count
        harness.control(.setRate(4))
        harness.run(until: .seconds(14))
        let place = harness.state.currentTime.seconds
        let frames = Self.frames(harness, after: count)
        #expect((frames.first.map { abs(Double($0) - 27) <= 3 }) == true, "\(frames)")
        #expect((frames.last.map { Double($0) + 2 >= place }) == true)
        harness.control(.setRate(1))
        harness.run(until: .seconds(20))
        #expect(abs(harness.state.currentTime.seconds - place - 5.5) < 0.6)
        let names = harness.mediaPaths.filter { $0.hasPrefix("a") }
        #expect(names.contains("a\(100 + Int(place / 4)).ts"))
        #expect(harness.error == nil && harness.statistics.numberOfStalls == 0)
    }

    @Test("G15: all of an event stream without removals can be scanned, also without dates")
    func event() {
        var harness = Self.playing(LiveIFrames(hasDates: false, isEvent: true, delay: .seconds(8)), until: .seconds(20))
        let count = harness.mediaPaths.count
        harness.control(.setRate(-16))
        harness.run(until: .seconds(60)) { $0.rates.last == "0.0 reachedStart" }
        #expect(harness.state.currentTime.seconds == 0)
        let frames = Self.frames(harness, after: count, first: 0)
        #expect(frames.last == 0 && frames == frames.sorted(by: >))
        harness.control(.play)
        harness.run(until: harness.now + .seconds(4))
        #expect((2...4).contains(harness.state.currentTime.seconds))
        #expect(harness.mediaPaths.contains("a100.ts"))
    }

    @Test("G15: at the edge a faster rate becomes 1 at once, and no I-frames are loaded")
    func atTheEdge() {
        var harness = Self.playing()
        harness.control(.seek(SeekRequest(destination: .edge)))
        harness.run(until: .seconds(12))
        harness.control(.setRate(8))
        harness.run(until: .seconds(14))
        #expect(harness.rates.last == "1.0 reachedLiveEdge")
        #expect(harness.requests(of: "i.m3u8").isEmpty)
        #expect(harness.statistics.numberOfStalls == 0)
    }

    @Test("G15: if a stream ends during trick play, playback ends with the frames")
    func ending() {
        var harness = Self.playing(LiveIFrames(end: .seconds(12)), from: 4)
        harness.control(.setRate(8))
        harness.runToEnd(by: .seconds(60))
        #expect(harness.didPlayToEnd)
        #expect(harness.state.currentTime.seconds == 92)
        #expect(harness.state.duration.seconds == 92)
        #expect(harness.error == nil)
    }

    @Test("G15: a player paused at a start that left the window continues according to its policy")
    func after() {
        var harness = Self.playing()
        harness.control(.setRate(-16))
        harness.run(until: .seconds(40)) { $0.rates.last == "0.0 reachedStart" }
        harness.run(until: .seconds(300))
        harness.control(.play)
        harness.run(until: .seconds(320))
        #expect(harness.state.timebaseRate == 1)
        let range = harness.state.seekableTimeRanges.first
        let place = harness.state.currentTime.seconds
        #expect(place >= range?.start.seconds ?? .infinity)
        // The playhead is three target durations behind the edge, and the playlist may be one target duration old.
        #expect((7.9...12.1).contains((range?.end.seconds ?? 0) - place))
        #expect(harness.error == nil)
    }

    @Test("G15: seeks during trick play show frames of the window")
    func seeks() {
        var harness = Self.playing(from: 40)
        harness.control(.setRate(-4))
        harness.run(until: .seconds(12))
        harness.control(.seek(to: .seconds(60)))
        harness.run(until: .seconds(13))
        #expect(harness.seekOutcomes.last == true)
        #expect(harness.state.timebaseRate == -4)
        #expect((55...60).contains(harness.state.currentTime.seconds))
        harness.control(.seek(to: .seconds(500)))
        #expect(harness.seekOutcomes.last == false)
    }
}
