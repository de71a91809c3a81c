import HLSKitLoading
import HLSKitTime
import Testing

@testable import HLSKitEngine

@Suite("Engine, seeks and other moves of the playhead")
struct EngineSeekTests {
    private static func playing(until time: Duration, count: Int = 30) -> EngineHarness {
        var harness = EngineHarness.playing("vod.m3u8", from: .vod(count: count))
        harness.run(until: time)
        return harness
    }

    private static func time(_ harness: EngineHarness) -> Double { harness.state.currentTime.seconds }

    @Test("a seek inside the buffer continues at once and loads nothing twice")
    func insideBuffer() {
        var harness = Self.playing(until: .seconds(5))
        let story = harness.story
        harness.control(.seek(to: .seconds(20)))
        #expect(harness.seekOutcomes == [true])
        #expect(Self.time(harness) == 20)
        #expect(harness.engine.machine.timebaseRate == 1)
        harness.run(until: .seconds(15))
        #expect(Self.time(harness) == 30)
        #expect(harness.story == story)
        #expect(Set(harness.mediaPaths).count == harness.mediaPaths.count)
    }

    @Test("a seek outside the buffer waits for data and does not count as a stall", arguments: [100, 60])
    func outsideBuffer(target: Int) {
        var harness = Self.playing(until: .seconds(5))
        let count = harness.mediaPaths.count
        harness.control(.seek(to: .seconds(target)))
        #expect(harness.state.timeControlStatus == .waitingToPlayAtSpecifiedRate)
        #expect(harness.state.reasonForWaitingToPlay == .evaluatingBufferingRate)
        #expect(harness.state.timebaseRate == 0)
        harness.run(until: .seconds(10))
        #expect(harness.seekOutcomes == [true])
        #expect(harness.mediaPaths.dropFirst(count).first == "s\(target / 4).ts")
        #expect(harness.state.timeControlStatus == .playing)
        #expect(Self.time(harness) > Double(target))
        harness.runToEnd()
        #expect(harness.didPlayToEnd)
        #expect(harness.statistics.numberOfStalls == 0)
        #expect(harness.violations.isEmpty)
    }

    @Test("a segment that needs the one before it is loaded again after that one, once for each seek")
    func earlierSegment() throws {
        var harness = Self.playing(until: .seconds(5), count: 60)
        for (target, end) in [(70, 10), (190, 15)] {
            harness.control(.seek(to: .milliseconds(target * 1000 + 500)))
            let flight = try #require(harness.engine.item?.lanes[.main]?.segments.first)
            #expect(flight.job.mayBeginEarlier)
            let count = harness.mediaPaths.count
            harness.note(.earlierSegmentNeeded(flight.id))
            let earlier = try #require(harness.engine.item?.lanes[.main]?.segments.first)
            #expect(!earlier.job.mayBeginEarlier)
            #expect(earlier.job.start == flight.job.start - .seconds(4))
            harness.run(until: .seconds(end))
            #expect(
                harness.mediaPaths.dropFirst(count).prefix(2) == ["s\(target / 4 - 1).ts", "s\(target / 4).ts"])
            #expect(harness.state.timeControlStatus == .playing)
            #expect(Self.time(harness) > Double(target))
        }
    }

    /// Segments last 4 s and have exact boundaries, so one request leads to the frame at any tolerance.
    @Test(
        "G01: a seek outside the buffer requests one segment at once and shows it when it arrives"
    )
    func requestChain() throws {
        var harness = Self.playing(until: .seconds(5))
        let before = harness.requests.count
        harness.control(.seek(to: .milliseconds(70_500)))
        let chain = harness.requests.dropFirst(before)
        #expect(chain.map(\.path).prefix(1) == ["s17.ts"])
        #expect(chain.first?.began == harness.now)
        harness.run(until: .seconds(10)) { !$0.seekOutcomes.isEmpty }
        #expect(harness.seekOutcomes == [true])
        #expect(harness.requests.dropFirst(before).allSatisfy { $0.resourceClass == .segment })
    }

    @Test("O01: the watched duration excludes skipped media and counts repeated media twice")
    func watched() {
        var harness = Self.playing(until: .seconds(5))
        let first = harness.statistics.durationWatched.seconds
        #expect((4...5).contains(first))
        harness.control(.seek(to: .seconds(20)))
        harness.run(until: .seconds(10))
        harness.control(.seek(to: .seconds(20)))
        harness.run(until: .seconds(13))
        #expect(
            abs(harness.statistics.durationWatched.seconds - first - 8) < 0.2,
            "\(harness.statistics.durationWatched.seconds)")
    }

    @Test("a seek outside the seekable range is refused and changes nothing")
    func outsideRange() {
        var harness = Self.playing(until: .seconds(5))
        harness.control(.seek(to: .seconds(1000)))
        harness.control(.seek(to: .seconds(-1)))
        #expect(harness.seekOutcomes == [false, false])
        #expect(Self.time(harness) > 4)
        #expect(harness.state.timeControlStatus == .playing)
    }

    @Test("the last of several seeks wins; a cancelled seek does not move the playhead")
    func superseded() {
        var harness = Self.playing(until: .seconds(5))
        harness.control(.seek(to: .seconds(100)))
        harness.control(.seek(to: .seconds(60)))
        #expect(harness.seekOutcomes == [false])
        harness.run(until: .seconds(10))
        #expect(harness.seekOutcomes == [false, true])
        harness.control(.seek(to: .seconds(112)))
        harness.control(.cancelSeek)
        #expect(harness.seekOutcomes == [false, true, false])
        harness.runToEnd()
        #expect(harness.didPlayToEnd)
    }

    @Test("a refused seek does not affect the one before it")
    func refused() {
        var harness = Self.playing(until: .seconds(5))
        harness.control(.seek(to: .seconds(100)))
        harness.control(.seek(to: .seconds(1000)))
        #expect(harness.seekOutcomes == [false])
        harness.run(until: .seconds(10))
        #expect(harness.seekOutcomes == [false, true])
        #expect(Self.time(harness) > 100)
        #expect(harness.state.timeControlStatus == .playing)
    }

    @Test("without pacing a seek reloads the media that outputs have consumed")
    func unpaced() {
        var configuration = EngineConfiguration()
        configuration.pacing = .unpaced
        var harness = EngineHarness(origin: .vod(count: 30), configuration: configuration)
        harness.open("vod.m3u8")
        harness.control(.play)
        harness.run(until: .seconds(60)) { $0.engine.playhead >= .seconds(20) }
        let before = harness.mediaPaths
        harness.control(.seek(to: .seconds(5)))
        harness.runToEnd()
        #expect(harness.seekOutcomes == [true])
        #expect(harness.mediaPaths.dropFirst(before.count).first == "s1.ts")
        #expect(harness.didPlayToEnd)
    }

    @Test("a seek before the item is ready becomes its start")
    func beforeReady() {
        var harness = EngineHarness.playing("vod.m3u8", from: .vod(count: 30))
        harness.control(.seek(to: .seconds(50)))
        harness.run(until: .seconds(5))
        #expect(harness.mediaPaths.first == "s12.ts")
        #expect(harness.seekOutcomes == [true])
        #expect(harness.state.timeControlStatus == .playing)
        #expect(Self.time(harness) > 50)
    }

    @Test("H04: after the end, a seek back and play() play the rest again")
    func afterTheEnd() {
        var harness = Self.playing(until: .zero, count: 5)
        harness.runToEnd()
        #expect(harness.state.timeControlStatus == .paused)
        harness.control(.seek(to: .seconds(12)))
        #expect(harness.seekOutcomes == [true])
        harness.control(.play)
        #expect(harness.state.timeControlStatus == .playing)
        harness.run(until: harness.now + .seconds(20))
        #expect(harness.story.count { $0 == "didPlayToEnd" } == 2)
    }

    @Test("another item ends a seek")
    func itemChange() {
        var harness = Self.playing(until: .seconds(5))
        harness.control(.seek(to: .seconds(100)))
        harness.open("vod.m3u8")
        #expect(harness.seekOutcomes == [false])
    }

    // MARK: Host time

    @Test("B08: a rate with a host time runs as if since then, or holds until then", arguments: [-2, 1])
    func hostTime(distance: Int) {
        var harness = Self.playing(until: .seconds(5))
        harness.control(.setAutomaticallyWaits(false))
        let host = harness.now + .seconds(distance)
        harness.control(.setRateAtHostTime(1, .init(itemTime: .seconds(10), hostTime: host)))
        #expect(Self.time(harness) == 10 - Double(min(distance, 0)))
        harness.run(until: harness.now + .milliseconds(500))
        #expect(Self.time(harness) == (distance < 0 ? 12.5 : 10))
        harness.run(until: harness.now + .milliseconds(1500))
        #expect(Self.time(harness) == (distance < 0 ? 14 : 11))
    }

    @Test(
        "B08: a time outside the media is never shown: the player waits at its first or last moment",
        arguments: [
            (rate: Float(1), item: -2, host: 0, now: 0.0, later: 1.0), (1, -2, -3, 1, 4), (0.5, -1, 0, 0, 0.5),
            (-0.5, 0, -3, 0, 0), (-0.5, -2, 1, 0, 0), (1, 200, 0, 120, 120), (1, 115, -10, 120, 120),
        ])
    func outsideTheMedia(_ example: (rate: Float, item: Int, host: Int, now: Double, later: Double)) {
        var harness = Self.playing(until: .seconds(5))
        harness.control(.setAutomaticallyWaits(false))
        let host = harness.now + .seconds(example.host)
        harness.control(.setRateAtHostTime(example.rate, .init(itemTime: .seconds(example.item), hostTime: host)))
        #expect(Self.time(harness) == example.now)
        harness.run(until: harness.now + .seconds(3))
        #expect(Self.time(harness) == example.later)
        var early = EngineHarness.playing("vod.m3u8", from: .vod(count: 30))
        early.control(.setAutomaticallyWaits(false))
        early.control(.setRateAtHostTime(example.rate, .init(itemTime: .seconds(example.item), hostTime: early.now)))
        while early.now < .seconds(5) {
            early.run(until: early.now + .milliseconds(100))
            #expect((0...120).contains(Self.time(early)))
        }
    }

    @Test("B08: a rate with a host time is ignored while automatic waiting is on")
    func hostTimeWhileWaiting() {
        var harness = Self.playing(until: .seconds(5))
        let before = Self.time(harness)
        harness.control(.setRateAtHostTime(2, .init(itemTime: .seconds(10), hostTime: harness.now)))
        #expect(Self.time(harness) == before)
        #expect(harness.state.rate == 1)
    }

    // MARK: Interstitials

    @Test("an interstitial stops the timebase and then releases it")
    func interstitial() {
        var harness = Self.playing(until: .seconds(5))
        harness.control(.setInterstitialRunning(true))
        let time = Self.time(harness)
        harness.run(until: .seconds(25))
        #expect(Self.time(harness) == time)
        #expect(harness.state.reasonForWaitingToPlay == .interstitialEvent)
        harness.control(.setInterstitialRunning(false))
        #expect(harness.state.timeControlStatus == .playing)
        #expect(harness.story.suffix(2) == ["interstitialEvent", "playing"])
        harness.run(until: .seconds(26))
        #expect(Self.time(harness) == time + 1)
    }

    // MARK: End time

    @Test("an end time removed before it was reached has no effect")
    func endTakenBack() {
        var harness = EngineHarness.playing("vod.m3u8", from: .vod())
        harness.control(.setForwardPlaybackEndTime(.seconds(6)))
        harness.run(until: .seconds(3))
        #expect(harness.mediaPaths == ["s0.ts", "s1.ts"])
        harness.control(.setForwardPlaybackEndTime(nil))
        harness.runToEnd()
        #expect(harness.story.count { $0 == "didPlayToEnd" } == 1)
        #expect(Self.time(harness) == 40)
        #expect(harness.statistics.numberOfStalls == 0)
        #expect(harness.violations.isEmpty)
    }

    @Test("after an end time was reached, a later one lets playback continue from there")
    func endMoved() {
        var harness = EngineHarness.playing("vod.m3u8", from: .vod())
        harness.control(.setForwardPlaybackEndTime(.seconds(6)))
        harness.runToEnd()
        #expect(Self.time(harness) == 6)
        harness.control(.setForwardPlaybackEndTime(.seconds(18)))
        harness.control(.play)
        harness.run(until: harness.now + .seconds(5))
        #expect(Self.time(harness) > 9)
        harness.runToEnd()
        #expect(Self.time(harness) == 18)
        #expect(harness.story.count { $0 == "didPlayToEnd" } == 2)
        #expect(harness.violations.isEmpty)
    }

    @Test(
        "a seek past the end time lands on it; playback continues there when the end time is removed")
    func seekBehindEnd() {
        var harness = EngineHarness.playing("vod.m3u8", from: .vod())
        harness.control(.setForwardPlaybackEndTime(.seconds(10)))
        harness.run(until: .seconds(3))
        harness.control(.seek(to: .seconds(30)))
        #expect(Self.time(harness) == 10)
        harness.runToEnd(by: .seconds(20))
        #expect(harness.seekOutcomes == [true])
        #expect(harness.didPlayToEnd)
        harness.control(.setForwardPlaybackEndTime(nil))
        harness.control(.play)
        harness.run(until: harness.now + .seconds(3))
        #expect(harness.state.timeControlStatus == .playing)
        #expect(Self.time(harness) > 10)
        harness.runToEnd()
        #expect(Self.time(harness) == 40)
        #expect(harness.violations.isEmpty)
    }

    @Test("an end time before the playhead ends playback at the playhead")
    func endBehind() {
        var harness = Self.playing(until: .seconds(10))
        let time = Self.time(harness)
        harness.control(.setForwardPlaybackEndTime(.seconds(4)))
        harness.runToEnd(by: .seconds(11))
        #expect(harness.didPlayToEnd)
        #expect(Self.time(harness) == time)
    }
}
