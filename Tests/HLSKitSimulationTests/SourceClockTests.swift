import HLSKitLoading
import HLSKitPlayback
import HLSKitSimulation
import HLSKitTime
import Testing

@Suite("Clocks that players share", .timeLimit(.minutes(10)))
struct SourceClockTests {
    /// A clock with an unknown epoch.
    private struct Bare: Clock {
        let base: VirtualClock
        var now: VirtualClock.Instant { base.now }
        var minimumResolution: Duration { base.minimumResolution }
        func sleep(until deadline: VirtualClock.Instant, tolerance: Duration?) async throws {
            try await base.sleep(until: deadline, tolerance: tolerance)
        }
    }

    /// A server's clock with a different epoch and a slightly different speed.
    private struct Server: Sendable {
        let clock: VirtualClock
        var speed = 1.0003
        var start = HostTime(offset: .seconds(1_700_000_000))
        var now: HostTime { start + clock.now.offset * speed }
    }

    @Test("B08: a clock with an epoch gives the same host time to every caller at any time")
    func epochs() {
        let clock = VirtualClock()
        let early = SourceClock(clock)
        clock.advance(by: .seconds(5))
        let late = SourceClock(clock)
        #expect(early.now == HostTime(offset: .seconds(5)) && late.now == early.now)
        let bare = SourceClock(Bare(base: clock))
        clock.advance(by: .seconds(2))
        #expect(bare.now == HostTime(offset: .seconds(2)))
        #expect(SourceClock(bare).now == bare.now)
        #expect(SourceClock(Bare(base: clock)).now == .zero)
    }

    @Test("B08: the machine's clock is shared, and equals ContinuousClock")
    func machine() {
        let before = ContinuousClock.now
        let times = [SourceClock.host.now, SourceClock(ContinuousClock()).now]
        let after = ContinuousClock.now
        for time in times { #expect((HostTime(before)...HostTime(after)).contains(time)) }
    }

    @Test("B08: a sleep on a shared clock wakes on time and uses its executor")
    func sleep() throws {
        let clock = VirtualClock()
        clock.advance(by: .seconds(1))
        let source = SourceClock(clock)
        let woke = try clock.run {
            try await source.sleep(until: HostTime(offset: .seconds(4)))
            return source.now
        }
        #expect(woke == HostTime(offset: .seconds(4)))
        #expect(source.executor === clock && !source.isOfThisMachine)
        #expect(SourceClock.host.executor == nil && SourceClock.host.isOfThisMachine)
    }

    @Test("B08: players with one clock have one host time, whenever they were made")
    func players() async throws {
        let clock = VirtualClock()
        let one = Player(configuration: PlayerConfiguration(clock: clock))
        clock.advance(by: .seconds(3))
        let other = Player(configuration: PlayerConfiguration(clock: clock))
        #expect(one.sourceClock.now == other.sourceClock.now)
        #expect(other.creationTime - one.creationTime == .seconds(3))
    }

    @Test(
        "B08: a steered clock follows a server's within a millisecond without jumps and learns its speed",
        arguments: [0.9995, 1, 1.0003, 1.004])
    func steered(speed: Double) {
        let base = VirtualClock()
        let server = Server(clock: base, speed: speed)
        // The clock starts with an error of 40 ms.
        let clock = SteeredClock(showing: server.now - .milliseconds(40), on: SourceClock(base))
        var last = clock.now
        for second in 0..<20 {
            clock.steer(to: server.now)
            for _ in 0..<100 {
                base.advance(by: .milliseconds(10))
                let now = clock.now
                let step = now - last
                #expect(step > .milliseconds(9.3) && step < .milliseconds(10.7), "\(step) at \(base.now.offset)")
                last = now
                let distance = server.now - now
                if second > 3 { #expect(distance < .milliseconds(1) && distance > .milliseconds(-1)) }
            }
        }
        // The clock remains right for a minute without corrections.
        base.advance(by: .seconds(60))
        let distance = server.now - clock.now
        #expect(distance < .milliseconds(1) && distance > .milliseconds(-1), "\(distance)")
    }

    @Test("B08: a server with absurd times makes a steered clock run neither backwards nor away")
    func nonsense() {
        let base = VirtualClock()
        let clock = SteeredClock(on: SourceClock(base))
        var last = clock.now
        for offset in [1_000_000_000, -1_000_000_000, 0, Int64.max, Int64.min, 3_000_000_000] {
            clock.steer(to: HostTime(offset: .seconds(offset)))
            for _ in 0..<10 {
                base.advance(by: .seconds(1))
                let step = clock.now - last
                #expect(step >= .milliseconds(930) && step <= .milliseconds(1070), "\(step)")
                last = clock.now
            }
        }
    }

    @Test("B08: a sleep on a steered clock wakes on time, even if the clock is steered during the sleep")
    func steeredSleep() throws {
        let base = VirtualClock()
        let server = Server(clock: base, speed: 1.002)
        let clock = SteeredClock(showing: server.now, on: SourceClock(base))
        let deadline = server.now + .seconds(30)
        let sleeper = Task(executorPreference: base) {
            try await clock.sleep(until: deadline)
            return (clock.now - deadline, server.now - deadline)
        }
        for _ in 0..<60 {
            base.advance(by: .milliseconds(600))
            clock.steer(to: server.now)
        }
        let (own, theirs) = try base.run { try await sleeper.value }
        #expect(own >= .zero && own < .microseconds(1), "\(own)")
        #expect(theirs < .milliseconds(1) && theirs > .milliseconds(-1), "\(theirs)")
        #expect(SourceClock(clock).executor === base)
    }

    @Test("B08: a sleep on a steered clock ends when cancelled, and an endless sleep is possible")
    func cancelledSleep() throws {
        let base = VirtualClock()
        let clock = SteeredClock(on: SourceClock(base))
        let sleeper = Task(executorPreference: base) {
            try await clock.sleep(until: HostTime(offset: .seconds(Int64.max)))
        }
        base.advance(by: .seconds(2))
        sleeper.cancel()
        #expect(throws: CancellationError.self) { try base.run { try await sleeper.value } }
    }
}
