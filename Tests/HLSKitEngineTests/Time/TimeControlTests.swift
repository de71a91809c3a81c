import HLSKitLoading
import HLSKitTime
import Testing

@testable import HLSKitEngine

@Suite("Time control and the playhead")
struct TimeControlTests {
    /// A player with a playable item of 20 s. The user has wanted to play since 0.5 s.
    private struct Player {
        var control = TimeControl()
        var end: Duration? = .seconds(20)

        var statistics: PlaybackStatistics {
            var statistics = PlaybackStatistics()
            control.count(&statistics)
            return statistics
        }

        init() {
            control.beginWait(at: .milliseconds(500))
            _ = take(.itemChanged(.init(status: .readyToPlay, buffer: .likely)), at: 0)
        }

        mutating func take(_ event: TimeControlMachine.Event, at now: Double) -> [String] {
            TimeControlTests.describe(
                control.handle(event, .media(end: end), at: .seconds(now)))
        }
    }

    private static func describe(_ actions: [TimeControl.Action]) -> [String] {
        actions.map { action in
            switch action {
            case .stalled(let time): "stalled at \(time.seconds)"
            case .playedToEnd: "played to the end"
            case .failedToPlayToEnd: "failed"
            case .rateChanged(let rate, _): "rate \(rate)"
            case .paused: "rests"
            case .statusChanged(let change, let time):
                "\(change.old) to \(change.new) at \(time.seconds), timebase \(change.timebaseRate)"
            case .timebase(let timebase): "timebase \(timebase.rate) from \(timebase.itemTime.seconds)"
            case .advance: "advance"
            case .evaluate: "evaluate"
            }
        }
    }

    @Test("playback events report the position before time stops or starts")
    func plays() {
        var player = Player()
        #expect(!player.control.hasPlayed)
        let begin = player.take(.play(defaultRate: 1), at: 2)
        #expect(begin == ["rate 1.0", "paused to playing at 0.0, timebase 1.0", "timebase 1.0 from 0.0"])
        #expect(player.control.hasPlayed)
        #expect(player.statistics.startupTime == .seconds(1.5))
        let stall = player.take(.bufferChanged(.init()), at: 6)
        #expect(
            stall == [
                "stalled at 4.0", "playing to waitingToPlayAtSpecifiedRate at 4.0, timebase 0.0",
                "timebase 0.0 from 4.0",
            ])
        #expect(player.control.isWaiting && player.control.isInNeed)
        let resumption = player.take(.bufferChanged(.likely), at: 9)
        #expect(
            resumption == [
                "waitingToPlayAtSpecifiedRate to playing at 4.0, timebase 1.0", "timebase 1.0 from 4.0",
            ])
        #expect(player.statistics.stallDuration == .seconds(3))
        #expect(!player.control.isInNeed)
        let pause = player.take(.setRate(0), at: 10)
        #expect(
            pause == ["rate 0.0", "rests", "playing to paused at 5.0, timebase 0.0", "timebase 0.0 from 5.0"])
        #expect(player.control.clock.watchedTotal == .seconds(5))
    }

    @Test("an item played to its end is followed by the next one at that moment")
    func handsOver() {
        var player = Player()
        _ = player.take(.setActionAtItemEnd(.advance), at: 0)
        _ = player.take(.play(defaultRate: 1), at: 2)
        let end = player.take(.reachedEnd, at: 22.5)
        #expect(end == ["played to the end", "advance"])
        player.control.endItem(.media(end: player.end), at: .seconds(22.5))
        let intent = player.control.intent(.media(end: player.end), at: .seconds(22.5))
        #expect(intent.isRunning)

        var next = Player()
        let actions = next.control.takeOver(intent, .media(end: next.end), at: .seconds(22.5))
        #expect(Self.describe(actions) == ["timebase 1.0 from 0.0"])
        #expect(next.control.clock.timebase.hostTime == .seconds(22))
        #expect(next.control.playhead(.media(end: nil), at: .seconds(23)) == .seconds(1))
        #expect(next.control.hasPlayed)
    }

    @Test("an item left before its end is followed by the next one at once")
    func skips() {
        var player = Player()
        _ = player.take(.play(defaultRate: 1), at: 2)
        player.control.endItem(.media(end: player.end), at: .seconds(5))
        let intent = player.control.intent(.media(end: player.end), at: .seconds(5))
        var next = Player()
        _ = next.control.takeOver(intent, .media(end: next.end), at: .seconds(5))
        #expect(next.control.clock.timebase.hostTime == .seconds(5))
    }

    @Test("another item starts without the previous item's played time")
    func changesItem() {
        var player = Player()
        _ = player.take(.play(defaultRate: 1), at: 2)
        player.control.setTimebase(.stopped, .media(end: player.end), at: .seconds(5))
        #expect(player.control.clock.watchedTotal == .seconds(3))
        player.control.changeItem()
        #expect(!player.control.hasPlayed)
        #expect(player.control.clock.watchedTotal == .zero)
    }

    @Test("while the rate is 0, the buffer is judged at the rate of play()", arguments: [Float(0), 1, 1.5])
    func judges(_ rate: Float) {
        var control = TimeControl()
        control.setDefaultRate(rate)
        #expect(control.judgedRate(0) == (rate == 0 ? 1 : Double(rate)))
        #expect(control.judgedRate(2) == 2)
    }
}

extension TimeControlMachine.BufferState {
    fileprivate static let likely = Self(isEmpty: false, isLikelyToKeepUp: true)
}
