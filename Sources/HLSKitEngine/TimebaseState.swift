import HLSKitTime

/// Which item time is shown at which host time, and how fast it goes on.
package struct TimebaseState: Sendable, Hashable {
    package var itemTime: Duration
    package var hostTime: Duration
    package var rate: Double

    package init(itemTime: Duration, hostTime: Duration, rate: Double) {
        self.itemTime = itemTime
        self.hostTime = hostTime
        self.rate = rate
    }

    package static let stopped = TimebaseState(itemTime: .zero, hostTime: .zero, rate: 0)

    /// Before ``hostTime`` time holds.
    package func itemTime(at host: Duration) -> Duration {
        if rate == 0 || host <= hostTime { return itemTime }
        // Multiplying durations is slow, and 1 is what the rate mostly is.
        if rate == 1 { return itemTime + (host - hostTime) }
        // Rates, and points in time to tie them to, are any that a program thinks of.
        let seconds = (host - hostTime) / .seconds(1) * rate
        guard abs(seconds) < Self.horizon else {
            return itemTime + .seconds(seconds < 0 ? -Self.horizon : Self.horizon)
        }
        return itemTime + (host - hostTime) * rate
    }

    /// The host time at which the item time will be `time`, never a moment too early: who looks before its time has come
    /// would look again for ever under a clock that stands. nil while time stands still or runs the other way, and for
    /// what is centuries away.
    package func hostTime(of time: Duration) -> Duration? {
        guard rate > 0 else { return nil }
        if rate == 1 { return hostTime + (time - itemTime) }
        guard (time - itemTime) / .seconds(1) / rate < Self.horizon else { return nil }
        // Doubles have 53 bits: from the quotient, on to where the item time is reached indeed.
        var host = hostTime + (time - itemTime) / rate
        var step = Duration.nanoseconds(1)
        while itemTime(at: host) < time {
            host += step
            step += step
        }
        return host
    }

    /// As ``hostTime(of:)``, also for time that runs backwards.
    package func hostTime(reaching time: Duration) -> Duration? {
        guard rate < 0 else { return hostTime(of: time) }
        let mirrored = TimebaseState(itemTime: .zero - itemTime, hostTime: hostTime, rate: -rate)
        return mirrored.hostTime(of: .zero - time)
    }

    /// Seconds that nobody waits for; sums of such times do not overflow.
    private static let horizon = 1e12
}
