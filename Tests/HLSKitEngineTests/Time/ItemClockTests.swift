import HLSKitLoading
import HLSKitTime
import Testing

@testable import HLSKitEngine

@Suite("Item clock")
struct ItemClockTests {
    private static func at(_ itemTime: Duration, rate: Double = 1) -> TimebaseState {
        TimebaseState(itemTime: itemTime, hostTime: .zero, rate: rate)
    }

    @Test("played time counts as watched, skipped time does not")
    func watches() {
        var clock = ItemClock()
        clock.set(Self.at(.zero), playhead: .zero, jump: nil)
        clock.watch(from: .zero)
        #expect(clock.watched(upTo: .seconds(4)) == .seconds(4))
        #expect(clock.watchedTotal == .zero)
        clock.set(Self.at(.seconds(60)), playhead: .seconds(4), jump: .seconds(60))
        clock.watch(from: .seconds(60))
        #expect(clock.watchedTotal == .seconds(4))
        #expect(clock.watched(upTo: .seconds(61)) == .seconds(5))
        clock.lose(.milliseconds(60_500)..<(.seconds(62)), at: .seconds(60))
        #expect(clock.watched(upTo: .seconds(61)) == .milliseconds(4_500))
        clock.recover(.seconds(60)..<(.seconds(62)), at: .seconds(60))
        #expect(clock.watched(upTo: .seconds(61)) == .seconds(5))
    }

    @Test("without a jump, time does not go back to an end that has moved closer")
    func passes() {
        var clock = ItemClock()
        #expect(clock.lastTime(before: nil) == nil)
        #expect(clock.lastTime(before: .seconds(8)) == .seconds(8))
        clock.passEnd(at: .seconds(10))
        #expect(clock.lastTime(before: .seconds(8)) == .seconds(10))
        clock.set(Self.at(.seconds(2)), playhead: .seconds(10), jump: nil)
        #expect(clock.lastTime(before: .seconds(8)) == .seconds(10))
        clock.set(Self.at(.seconds(2)), playhead: .seconds(10), jump: .seconds(2))
        #expect(clock.lastTime(before: .seconds(8)) == .seconds(8))
        #expect(clock.presentedUpTo == .seconds(2))
    }

    @Test(
        "the playhead stays within its bounds",
        arguments: [
            (.nothing, 0), (.outputs(start: nil), 0), (.outputs(start: .seconds(3)), 3), (.media(end: nil), 9),
            (.media(end: .seconds(5)), 5), (.frames(limit: .seconds(4), isReverse: false, end: .seconds(9)), 4),
            (.frames(limit: .seconds(12), isReverse: true, end: .seconds(20)), 12),
        ] as [(ItemClock.Bounds, Int)])
    func bounds(_ bounds: ItemClock.Bounds, expected: Int) {
        var clock = ItemClock()
        clock.set(Self.at(.zero), playhead: .zero, jump: nil)
        #expect(clock.playhead(bounds, at: .seconds(9)) == .seconds(expected))
    }

    @Test("time at the end stays if the end moves closer")
    func holds() throws {
        var clock = ItemClock()
        clock.set(Self.at(.zero), playhead: .zero, jump: nil)
        #expect(clock.mark(.media(end: .seconds(20)), at: .seconds(9)) == nil)
        #expect(clock.mark(.outputs(start: nil), at: .seconds(9)) == nil)
        let mark = try #require(clock.mark(.media(end: .milliseconds(9_500)), at: .seconds(9)))
        clock.hold(mark, .media(end: .seconds(8)), at: .seconds(9))
        #expect(clock.playhead(.media(end: .seconds(8)), at: .seconds(10)) == .seconds(9))
    }

    @Test("a process that was stopped continues at the end of its loaded media")
    func sleeps() {
        var clock = ItemClock()
        #expect(!clock.hasSlept(from: .zero, to: .seconds(60)))
        clock.set(Self.at(.zero), playhead: .zero, jump: nil)
        #expect(!clock.hasSlept(from: .seconds(1), to: .seconds(6)))
        #expect(clock.hasSlept(from: .seconds(1), to: .seconds(7)))
        let loaded = [Duration.zero..<(.seconds(12)), .seconds(50)..<(.seconds(60))]
        #expect(clock.afterSleep(until: .seconds(12), from: .seconds(1), loaded: loaded) == nil)
        let woken = clock.afterSleep(until: .seconds(40), from: .seconds(1), loaded: loaded)
        #expect(woken == TimebaseState(itemTime: .seconds(12), hostTime: .seconds(40), rate: 1))
    }

    @Test("another item keeps only the timebase")
    func resets() {
        var clock = ItemClock()
        clock.set(Self.at(.seconds(2), rate: 0), playhead: .zero, jump: .seconds(2))
        clock.passEnd(at: .seconds(4))
        clock.reset()
        #expect(clock.timebase == Self.at(.seconds(2), rate: 0))
        #expect(clock.presentedUpTo == nil)
        #expect(clock.lastTime(before: .seconds(3)) == .seconds(3))
        #expect(clock.watchedTotal == .zero)
    }

    @Test("the timer is set again only if the next moment changes")
    func timer() {
        var timer = PlaybackEngine.WakeTimer()
        #expect(timer.set(to: nil) == nil)
        #expect(timer.set(to: .seconds(1)) == .arm(.seconds(1)))
        #expect(timer.set(to: .seconds(1)) == nil)
        #expect(timer.set(to: nil) == .disarm)
        #expect(timer.set(to: .seconds(1)) == .arm(.seconds(1)))
        timer.fire()
        #expect(timer.set(to: .seconds(1)) == .arm(.seconds(1)))
    }

    @Test("waiting time is counted at the start and in stalls until playback runs")
    func waits() {
        var waits = TimeControl.WaitingTimes()
        waits.begin(at: .seconds(1))
        waits.begin(at: .seconds(2))
        #expect(Self.counted(waits) == [nil, 0])
        waits.play(at: .seconds(4))
        #expect(Self.counted(waits) == [3, 0])
        waits.stall(at: .seconds(10))
        #expect(Self.counted(waits, at: .seconds(12)) == [3, 2])
        #expect(Self.counted(waits) == [3, 0])
        waits.play(at: .seconds(13))
        waits.play(at: .seconds(20))
        #expect(Self.counted(waits, at: .seconds(30)) == [3, 3])
        // The new item has not waited yet, although the user has wanted to play since the first item.
        waits.forgetItem()
        #expect(Self.counted(waits) == [nil, 0])
        #expect(waits.firstControl == .seconds(1))
    }

    private static func counted(_ waits: TimeControl.WaitingTimes, at now: Duration? = nil) -> [Double?] {
        var statistics = PlaybackStatistics()
        waits.count(at: now, &statistics)
        return [statistics.startupTime?.seconds, statistics.stallDuration.seconds]
    }
}
