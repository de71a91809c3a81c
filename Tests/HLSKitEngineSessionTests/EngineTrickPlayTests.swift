import HLSKitCodec
import HLSKitLoading
import HLSKitMedia
import HLSKitPlaylist
import HLSKitTime
import TestSupport
import Testing

@testable import HLSKitEngine

extension ScriptedOrigin {
    /// Returns `main.m3u8` with forty segments of 4 s and separate audio, and a frame (`i…`) every 2 s.
    static func withIFrames(
        count: Int = 40, variants: KeyValuePairs<String, Int> = ["a": 1_000_000],
        _ change: (inout PlaylistText) -> Void = { _ in }
    ) -> Self {
        let audio = #"#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="x",NAME="en",DEFAULT=YES,URI="c.m3u8""#
        let iFrames = #"#EXT-X-I-FRAME-STREAM-INF:BANDWIDTH=100000,URI="i.m3u8""#
        var origin = multivariant(variants, extra: [audio, iFrames], audio: "x")
        for name in variants.map(\.key) + ["c"] {
            origin.answer("\(name).m3u8", .text(.numbered(0, count: count, prefix: name, isEnded: true)))
        }
        var list = PlaylistText.numbered(0, count: count * 2, targetDuration: 2, prefix: "i", isEnded: true)
        list.header = ["#EXT-X-I-FRAMES-ONLY"]
        change(&list)
        origin.answer("i.m3u8", .text(list))
        origin.media = { visit in .media(visit.path.hasPrefix("i") ? 10_000 : 100_000) }
        return origin
    }
}

@Suite("Engine, I-frames at rates above 2 and below 0", .ownThread)
struct EngineTrickPlayTests {
    private static func playing(
        until time: Duration = .seconds(10), from origin: ScriptedOrigin = .withIFrames()
    ) -> EngineHarness {
        var harness = EngineHarness.playing("main.m3u8", from: origin)
        harness.run(until: time)
        return harness
    }

    private static func frames(_ harness: EngineHarness, after count: Int = 0) -> [Int] {
        harness.mediaPaths.dropFirst(count).filter { $0.hasPrefix("i") }.compactMap {
            Int($0.dropFirst().prefix { $0 != "." })
        }
    }

    private static func jumps(_ harness: EngineHarness) -> Int {
        harness.events.count { if case .timeJumped = $0.kind { true } else { false } }
    }

    @Test("G11: at rate 8 all I-frames play at 8, nothing else is loaded, and the item ends at its end")
    func fastForward() throws {
        var harness = Self.playing()
        let (count, story) = (harness.mediaPaths.count, harness.story)
        let place = harness.state.currentTime.seconds
        harness.control(.setRate(8))
        #expect(harness.state.rate == 8)
        #expect(harness.state.reasonForWaitingToPlay == .evaluatingBufferingRate)
        harness.run(until: .seconds(15)) { $0.state.timeControlStatus == .playing }
        #expect(harness.state.timebaseRate == 8)
        #expect(abs(harness.state.currentTime.seconds - place) < 0.001)
        let began = harness.now
        #expect(began < .seconds(12))
        harness.runToEnd(by: .seconds(60))
        #expect(harness.didPlayToEnd)
        #expect(abs((harness.now - began).seconds - (160 - place) / 8) < 0.01)
        #expect(harness.state.currentTime.seconds == 160)
        #expect(harness.state.duration.seconds == 160)
        let first = Int(place / 2)
        #expect(Self.frames(harness, after: count) == Array(first..<80))
        #expect(harness.mediaPaths.count == count + 80 - first)
        #expect(harness.story.dropFirst(story.count).first == "evaluatingBufferingRate")
        #expect(harness.story.suffix(3) == ["playing", "didPlayToEnd", "paused"])
        #expect(harness.rates.suffix(2) == ["8.0 setRateCalled", "0.0 itemEnded"])
        #expect(harness.statistics.numberOfStalls == 0)
        #expect(Self.jumps(harness) == 0)
        #expect(harness.violations.isEmpty)
    }

    @Test("G11: I-frames are spaced so that at most eight per second are shown", arguments: [3, 16, 32, 64])
    func distances(rate: Int) throws {
        var harness = Self.playing(from: .withIFrames(count: 400))
        let count = harness.mediaPaths.count
        harness.control(.setRate(Float(rate)))
        harness.run(until: .seconds(30))
        #expect(harness.state.timebaseRate == Double(rate))
        let numbers = Self.frames(harness, after: count)
        let steps = zip(numbers.dropFirst(), numbers.dropFirst(2)).map { $1 - $0 }
        #expect(steps.allSatisfy { $0 == max(1, rate / 16) })
        #expect(numbers.count > 20)
        #expect(harness.statistics.numberOfStalls == 0)
    }

    @Test("G11: slowly loading I-frames are spaced farther apart, so playback does not stop", arguments: [300, 600])
    func slowFrames(delay: Int) throws {
        var origin = ScriptedOrigin.withIFrames(count: 400)
        origin.media = { visit in
            let isFrame = visit.path.hasPrefix("i")
            return .media(isFrame ? 10_000 : 100_000).after(.milliseconds(isFrame ? delay : 20))
        }
        var harness = Self.playing(from: origin)
        let count = harness.mediaPaths.count
        harness.control(.setRate(16))
        harness.run(until: .seconds(60))
        #expect(harness.state.timeControlStatus == .playing)
        #expect(harness.statistics.numberOfStalls <= 1)
        let numbers = Self.frames(harness, after: count)
        let last = try #require(numbers.last)
        let later = numbers.suffix(10).first ?? 0
        // Frames are 2 s apart, so at rate 16 there are 8 per second.
        #expect(Double(last - later) / 9 >= Double(delay) / 1000 * 8)
        #expect(harness.state.currentTime.seconds > 16 * 40)
    }

    @Test(
        "G11: at a negative rate I-frames play backwards to the first one; the rate then becomes 0",
        arguments: [Float(-1), -4, -0.5])
    func reverse(rate: Float) throws {
        var harness = Self.playing()
        harness.control(.seek(to: .seconds(41)))
        harness.run(until: .seconds(11))
        let (count, jumps) = (harness.mediaPaths.count, Self.jumps(harness))
        let place = harness.state.currentTime.seconds
        harness.control(.setRate(rate))
        harness.run(until: .seconds(15)) { $0.state.timeControlStatus == .playing }
        #expect(harness.state.timebaseRate == Double(rate))
        let began = harness.now
        harness.runToEnd(by: .seconds(200))
        #expect(harness.state.currentTime.seconds == 0)
        #expect(abs((harness.now - began).seconds - place / Double(-rate)) < 0.01)
        #expect(Self.frames(harness, after: count) == Array((0...20).reversed()))
        #expect(harness.story.suffix(3) == ["playing", "didPlayToEnd", "paused"])
        #expect(harness.rates.suffix(2) == ["\(rate) setRateCalled", "0.0 reachedStart"])
        #expect(harness.statistics.numberOfStalls == 0)
        #expect(Self.jumps(harness) == jumps)
        #expect(harness.violations.isEmpty)
        harness.control(.play)
        harness.run(until: harness.now + .seconds(5))
        #expect(harness.state.timebaseRate == 1)
        #expect((4...5).contains(harness.state.currentTime.seconds))
        #expect(harness.mediaPaths.contains("c0.ts"))
    }

    @Test("H08: reverse playback has its own end time, and so has forward playback")
    func endTimes() {
        var harness = Self.playing()
        harness.control(.setReversePlaybackEndTime(.seconds(21)))
        harness.control(.setForwardPlaybackEndTime(.seconds(90)))
        harness.control(.seek(to: .seconds(50)))
        harness.run(until: .seconds(12))
        harness.control(.setRate(-8))
        harness.runToEnd(by: .seconds(40))
        #expect(harness.state.currentTime.seconds == 21)
        #expect(harness.rates.last == "0.0 reachedStart")
        #expect(Self.frames(harness).min() == 10)
        harness.control(.setRate(8))
        harness.run(until: .seconds(60)) { $0.rates.last == "0.0 itemEnded" }
        #expect(harness.state.currentTime.seconds == 90)
        #expect(Self.frames(harness).max() == 44)
    }

    @Test("G11: back at rate 1, or paused, media resumes at the current position", arguments: [Float(1), 2, 0])
    func leaving(rate: Float) throws {
        var harness = Self.playing()
        harness.control(.setRate(8))
        harness.run(until: .seconds(18))
        let (count, place) = (harness.mediaPaths.count, harness.state.currentTime.seconds)
        harness.control(.setRate(rate))
        #expect(abs(harness.state.currentTime.seconds - place) < 0.001)
        let lists = harness.requests(of: "a.m3u8").count
        harness.run(until: .seconds(20))
        let media = harness.mediaPaths.dropFirst(count)
        #expect(media.first == "a\(Int(place / 4)).ts")
        #expect(media.contains("c\(Int(place / 4)).ts"))
        #expect(media.allSatisfy { !$0.hasPrefix("i") })
        #expect(harness.requests(of: "a.m3u8").count == lists)
        #expect(harness.state.timebaseRate == Double(rate))
        #expect(harness.state.timeControlStatus == (rate == 0 ? .paused : .playing))
        let gone = harness.state.currentTime.seconds - place
        #expect(rate == 0 ? gone == 0 : (1...2).contains(gone / Double(rate)))
        #expect(harness.statistics.numberOfStalls == 0)
        #expect(Self.jumps(harness) == 0)
        guard rate != 0 else { return }
        harness.runToEnd(by: .seconds(200))
        #expect(harness.didPlayToEnd)
        #expect(harness.violations.isEmpty)
    }

    @Test("G11: a seek during trick play continues with I-frames there", arguments: [Float(8), -8])
    func seeking(rate: Float) {
        var harness = Self.playing()
        harness.control(.seek(to: .seconds(60)))
        harness.run(until: .seconds(11))
        harness.control(.setRate(rate))
        harness.run(until: .seconds(12))
        let outcomes = harness.seekOutcomes
        harness.control(.seek(to: .seconds(101)))
        #expect(harness.state.currentTime.seconds == 101)
        harness.run(until: .seconds(13))
        #expect(harness.seekOutcomes == outcomes + [true])
        #expect(Self.jumps(harness) == 2)
        #expect(harness.state.timebaseRate == Double(rate))
        let moved = (harness.state.currentTime.seconds - 101) / Double(rate)
        #expect(moved > 0.5 && moved <= 1)
    }

    @Test("G11: a seek in flight completes when the rate starts trick play")
    func rateWhileSeeking() {
        var harness = Self.playing()
        harness.control(.seek(to: .seconds(100)))
        harness.control(.setRate(8))
        harness.run(until: .seconds(12))
        #expect(harness.seekOutcomes == [true])
        #expect(harness.state.timebaseRate == 8)
        #expect(Self.jumps(harness) == 1)
        harness.control(.seek(to: .seconds(50)))
        harness.control(.setRate(1))
        harness.run(until: .seconds(14))
        #expect(harness.seekOutcomes == [true, true])
        #expect(harness.state.timebaseRate == 1)
        #expect((51...52).contains(harness.state.currentTime.seconds))
    }

    @Test("G11: the direction changes at the current position")
    func turning() {
        var harness = Self.playing()
        harness.control(.setRate(16))
        harness.run(until: .seconds(15))
        let place = harness.state.currentTime.seconds
        harness.control(.setRate(-16))
        harness.run(until: .seconds(16))
        #expect(harness.state.timebaseRate == -16)
        let moved = harness.state.currentTime.seconds - place
        #expect(moved < -8 && moved >= -16)
        harness.control(.setRate(32))
        harness.run(until: .seconds(17))
        #expect(harness.state.timebaseRate == 32)
        #expect(harness.statistics.numberOfStalls == 0)
    }

    @Test("G11: a rate set before the item is ready waits for its I-frames", arguments: [Float(8), -8])
    func beforeReady(rate: Float) {
        var harness = EngineHarness(origin: .withIFrames())
        harness.control(.setRate(rate))
        harness.open("main.m3u8")
        harness.control(.seek(to: .seconds(50)))
        harness.run(until: .seconds(4))
        #expect(harness.state.timebaseRate == Double(rate))
        #expect(harness.story.filter { $0 == "playing" }.count == 1)
        #expect((harness.state.currentTime.seconds - 50) / Double(rate) > 2)
    }

    @Test("G11: at the end of trick play, play() stays at the end; after a seek, media plays")
    func afterTheEnd() {
        var harness = Self.playing()
        harness.control(.setRate(32))
        harness.runToEnd(by: .seconds(60))
        harness.control(.play)
        harness.run(until: harness.now + .seconds(2))
        #expect(harness.state.timeControlStatus == .paused)
        #expect(harness.state.currentTime.seconds == 160)
        #expect(harness.story.filter { $0 == "didPlayToEnd" }.count == 1)
        harness.control(.seek(to: .seconds(20)))
        harness.control(.play)
        harness.run(until: harness.now + .seconds(5))
        #expect(harness.state.timebaseRate == 1)
        #expect((24...25).contains(harness.state.currentTime.seconds))
    }

    struct Without: CustomTestStringConvertible {
        var name: String
        var change: @Sendable (inout ScriptedOrigin) -> Void
        var testDescription: String { name }
    }

    static let failures = [
        Without(name: "no list of pictures") { $0.answer("i.m3u8", .status(404)) },
        Without(name: "no list at all") { $0.answer("i.m3u8", .html) },
        Without(name: "a list of nothing") {
            $0.answer("i.m3u8", .text(PlaylistText(targetDuration: 2, isEnded: true)))
        },
    ]

    @Test("G11: if I-frames cannot be loaded, media plays at 2, and reverse playback is refused", arguments: failures)
    func failing(_ failure: Without) {
        var origin = ScriptedOrigin.withIFrames()
        failure.change(&origin)
        var harness = Self.playing(from: origin)
        #expect(harness.engine.item?.capabilities.canPlayFastForward == true)
        harness.control(.setRate(8))
        harness.run(until: .seconds(40))
        #expect(harness.error == nil)
        #expect(harness.state.rate == 8)
        #expect(harness.state.timebaseRate == 2)
        #expect(harness.state.timeControlStatus == .playing)
        harness.control(.setRate(-2))
        #expect(harness.state.rate == 0)
        #expect(harness.rates.last == "0.0 setRateFailed")
    }

    @Test("G11: missing I-frames are skipped")
    func missingFrames() {
        var origin = ScriptedOrigin.withIFrames { list in
            list.segments[12].tags = ["#EXT-X-GAP"]
        }
        for number in [8, 9, 20] { origin.answer("i\(number).ts", .status(404)) }
        origin.answer("i30.ts", .spoiled(.media(MediaError(code: .malformed, text: "spoiled"))))
        var harness = Self.playing(from: origin)
        harness.control(.setRate(8))
        harness.runToEnd(by: .seconds(120))
        #expect(harness.didPlayToEnd)
        #expect(harness.error == nil)
        #expect(!Self.frames(harness).contains(12))
    }

    @Test(
        "G11: the item's flags report its trick play abilities",
        arguments: [("main.m3u8", true), ("a.m3u8", false), ("live.m3u8", false)])
    func flags(path: String, isAble: Bool) {
        var origin = ScriptedOrigin.withIFrames()
        origin.broadcast("live.m3u8", Broadcast())
        var harness = EngineHarness.playing(path, from: origin)
        #expect(harness.engine.item?.capabilities == TimeControlMachine.RateCapabilities())
        harness.run(until: .seconds(5))
        let capabilities = harness.engine.item?.capabilities
        #expect(capabilities?.canPlayFastForward == isAble)
        #expect(capabilities?.canPlayReverse == isAble)
        #expect(capabilities?.canPlaySlowReverse == isAble)
        #expect(capabilities?.canPlayFastReverse == isAble)
    }

    private static func obstacles(_ harness: EngineHarness) -> [String] {
        harness.events.compactMap { event in
            guard case .trickPlayUnavailable(let obstacle, let rate) = event.kind else { return nil }
            return "\(rate) \(obstacle)"
        }
    }

    @Test(
        "G11: the reason for missing I-frames is reported once each time the rate is set",
        arguments: [
            ("a.m3u8", TrickPlayObstacle.noIFrames), ("live.m3u8", .noIFrames), ("main.m3u8", nil),
        ] as [(String, TrickPlayObstacle?)])
    func obstacle(path: String, obstacle: TrickPlayObstacle?) {
        var origin = ScriptedOrigin.withIFrames()
        origin.broadcast("live.m3u8", Broadcast())
        var harness = EngineHarness.playing(path, from: origin)
        harness.run(until: .seconds(5))
        for rate: Float in [8, 1, 8, -1] {
            harness.control(.setRate(rate))
            harness.run(until: harness.now + .seconds(1))
        }
        let expected = [8, 8, -1].map { (rate: Float) in obstacle.map { "\(rate) \($0)" } }
        #expect(Self.obstacles(harness) == expected.compactMap(\.self))
    }

    @Test("G11: the obstacle for a rate set before the item is ready is reported then", arguments: [8, -1] as [Float])
    func obstacleAtStart(rate: Float) {
        var harness = EngineHarness(origin: .withIFrames(), configuration: EngineConfiguration())
        harness.open("a.m3u8")
        harness.control(.setRate(rate))
        #expect(Self.obstacles(harness).isEmpty)
        harness.run(until: .seconds(5))
        #expect(Self.obstacles(harness) == ["\(rate) \(TrickPlayObstacle.noIFrames)"])
    }

    @Test("G11: a variant switch while the item becomes ready does not hide I-frames")
    func changingVariant() {
        var origin = ScriptedOrigin.withIFrames(variants: ["a": 1_000_000, "b": 2_000_000])
        let list = PlaylistText.numbered(0, count: 40, prefix: "b", isEnded: true)
        origin.answer("b.m3u8", .text(list).after(.milliseconds(500)))
        origin.media = { visit in
            .media(visit.path.hasPrefix("i") ? 10_000 : 100_000)
                .after(.milliseconds(visit.path.hasPrefix("c") ? 200 : 20))
        }
        var harness = EngineHarness.playing("main.m3u8", from: origin)
        harness.run(until: .seconds(5)) { $0.engine.item?.isReady == true }
        #expect(harness.engine.item?.variantIndex == 1 && harness.engine.item?.lanes[.main]?.tracker == nil)
        #expect(harness.engine.item?.capabilities.canPlayFastForward == true)
        harness.control(.setRate(8))
        harness.run(until: .seconds(10))
        #expect(Self.obstacles(harness).isEmpty)
        #expect(harness.state.timebaseRate == 8)
        harness.runToEnd(by: .seconds(60))
        #expect(harness.didPlayToEnd && harness.violations.isEmpty)
    }

    @Test("G11: I-frames that fail to load are reported as an obstacle")
    func notLoaded() {
        var origin = ScriptedOrigin.withIFrames()
        origin.answer("i.m3u8", .status(404))
        var harness = Self.playing(from: origin)
        harness.control(.setRate(8))
        harness.run(until: .seconds(60))
        #expect(Self.obstacles(harness) == ["8.0 \(TrickPlayObstacle.notLoaded)"])
    }

    @Test("C12: undecodable I-frame variants are ignored; JPEG frames are supported")
    func codecs() {
        func variants(_ codec: String) -> TrickPlay.IFrameVariants {
            let variant = VariantStream(uri: "i.m3u8", bandwidth: 100_000, codecsText: codec)
            return TrickPlay.IFrameVariants([variant], canPlay: CodecRegistry.canDecode(entry:))
        }
        #expect(variants("mjpg").obstacle(isPaced: true) == nil)
        #expect(variants("xyz1").obstacle(isPaced: true) == .undecodable)
        #expect(variants("mjpg").obstacle(isPaced: false) == .unpaced)
        #expect(CodecString(rawValue: "mjpg").mediaType == .video)
    }

    @Test("G11: in random trick play, the player neither hangs nor loses its position", arguments: 1...12)
    func walk(seed: Int) {
        var random = SplitMix64(seed: UInt64(seed))
        var harness = Self.playing(until: .seconds(3))
        for step in 0..<60 {
            switch Int.random(in: 0..<8, using: &random) {
            case 0...3:
                harness.control(.setRate([-32, -8, -1, 0.5, 1, 2, 3, 8, 64].randomElement(using: &random) ?? 1))
            case 4: harness.control(.pause)
            case 5: harness.control(.play)
            case 6: harness.control(.playImmediately(Bool.random(using: &random) ? 8 : 1))
            default: harness.control(.seek(to: .seconds(Int.random(in: 0...160, using: &random))))
            }
            harness.run(until: harness.now + .milliseconds(Int.random(in: 0...3000, using: &random)))
            let state = harness.state
            #expect((0...160).contains(state.currentTime.seconds), "step \(step)")
            let isForward = state.timebaseRate > 0
            #expect(state.timebaseRate == 0 || isForward == (state.rate > 0), "step \(step)")
            #expect(harness.engine.item?.trick == nil || state.rate > 2 || state.rate <= 0, "step \(step)")
        }
        harness.control(.seek(to: .seconds(100)))
        harness.control(.setRate(1))
        harness.run(until: harness.now + .seconds(5))
        #expect(harness.state.timeControlStatus == .playing)
        #expect((103...105).contains(harness.state.currentTime.seconds))
        #expect(harness.error == nil)
        #expect(harness.violations.isEmpty)
    }
}
