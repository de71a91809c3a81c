import HLSKitTime

/// The relation of item time to host time, and the rate of item time.
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

    /// Returns the item time at a host time. Before ``hostTime``, item time does not advance.
    package func itemTime(at host: Duration) -> Duration {
        if rate == 0 || host <= hostTime { return itemTime }
        // Multiplying durations is slow, and the rate is usually 1.
        if rate == 1 { return itemTime + (host - hostTime) }
        // An app may set any rate and any anchor, so the product may overflow.
        let seconds = (host - hostTime) / .seconds(1) * rate
        guard abs(seconds) < Self.horizon else {
            return itemTime + .seconds(seconds < 0 ? -Self.horizon : Self.horizon)
        }
        return itemTime + (host - hostTime) * rate
    }

    /// The host time at which the item time will be `time`. Never too early: a caller that checks too early would check
    /// again forever under a stopped clock.
    ///
    /// - Returns: The host time, or `nil` if time is stopped, runs backward or needs centuries.
    package func hostTime(of time: Duration) -> Duration? {
        guard rate > 0 else { return nil }
        if rate == 1 { return hostTime + (time - itemTime) }
        guard (time - itemTime) / .seconds(1) / rate < Self.horizon else { return nil }
        // A `Double` has 53 bits, so the quotient may be too early. Advance until the item time is reached.
        var host = hostTime + (time - itemTime) / rate
        var step = Duration.nanoseconds(1)
        while itemTime(at: host) < time {
            host += step
            step += step
        }
        return host
    }

    /// As ``hostTime(of:)``, but also for negative rates.
    package func hostTime(reaching time: Duration) -> Duration? {
        guard rate < 0 else { return hostTime(of: time) }
        let mirrored = TimebaseState(itemTime: .zero - itemTime, hostTime: hostTime, rate: -rate)
        return mirrored.hostTime(of: .zero - time)
    }

    /// A limit in seconds that keeps sums of durations from overflowing.
    private static let horizon = 1e12
}
