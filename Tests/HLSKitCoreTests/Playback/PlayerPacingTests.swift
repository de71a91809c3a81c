import HLSKitCore
import TestSupport
import Testing

/// Each test runs in a separate process, so that no other test occupies the threads of the pool.
@Suite("Playing in real time", .timeLimit(.minutes(10)))
struct PlayerPacingTests {
    private static let url = "file://\(SampleMedia.folder)/master.m3u8"

    @Test("video and audio arrive together when the timebase reaches them")
    func pacing() async {
        await #expect(processExitsWith: .success) {
            let clock = SourceClock(FastClock(factor: 1))
            let writer = CapturingWriter(clock: clock)
            let item = try PlayerItem(Self.url, quality: "180p", to: writer) { $0.endPosition = .time(.seconds(2)) }
            let play = try await Play.toEnd(item, .paced(by: clock))

            #expect(play.didPlayToEnd)
            #expect(writer.frames.count == 50 && play.state.statistics.numberOfDroppedVideoFrames == 0)
            let started = try #require(play.playing)
            func lateness(_ time: Duration, _ arrival: HostTime) -> Duration {
                (arrival - started.hostTime) + started.itemTime - time
            }
            let frames = writer.frames.map { lateness($0.time, $0.arrival) }.sorted()
            let sounds = writer.sounds.filter { $0.time >= .zero }.map { lateness($0.time, $0.arrival) }.sorted()
            #expect(try #require(frames.first) > .milliseconds(-5))
            #expect(try #require(sounds.first) > .milliseconds(-5))
            #expect(try #require((frames + sounds).max()) <= .milliseconds(40))
            let (shown, heard) = (frames[frames.count / 2], sounds[sounds.count / 2])
            #expect(max(shown, heard) - min(shown, heard) <= .milliseconds(10))
        }
    }

    @Test("the player evaluates, then plays, once")
    func statuses() async {
        await #expect(processExitsWith: .success) {
            let item = try PlayerItem(Self.url, quality: "180p", to: CapturingWriter()) {
                $0.endPosition = .time(.milliseconds(400))
            }
            let play = try await Play.toEnd(item, .paced(by: SourceClock(FastClock(factor: 1))))

            #expect(play.didPlayToEnd)
            #expect(play.statuses.first?.hasPrefix("waiting") == true)
            #expect(play.statuses.contains("waiting evaluatingBufferingRate"))
            #expect(play.statuses.filter { $0 == "playing" }.count == 1)
            #expect(play.state.statistics.numberOfStalls == 0)
        }
    }
}

extension Play {
    fileprivate var playing: (hostTime: HostTime, itemTime: Duration)? {
        for event in events {
            guard case .timeControl(let change) = event.kind, change.new == .playing else { continue }
            return change.itemTime.duration.map { (event.hostTime, $0) }
        }
        return nil
    }
}
