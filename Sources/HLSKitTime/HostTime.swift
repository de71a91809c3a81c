/// A point in time on the clock that players use to present media.
///
/// Players with the same clock interpret a host time identically, so you can order the events of several players by it.
/// Differences are durations: `player.sourceClock.now + .milliseconds(500)`, `end - start`.
public struct HostTime: InstantProtocol, Sendable, Hashable, Codable {
    /// The time since the epoch of the clock.
    ///
    /// The machine's own clock counts from the start of the machine. A clock that follows a server counts from the
    /// server's epoch.
    public var offset: Duration

    /// Creates the time `offset` after the epoch of the clock.
    public init(offset: Duration) { self.offset = offset }

    /// The epoch of the clock.
    public static let zero = HostTime(offset: .zero)

    public func advanced(by duration: Duration) -> HostTime { HostTime(offset: offset + duration) }

    public func duration(to other: HostTime) -> Duration { other.offset - offset }

    public static func < (left: HostTime, right: HostTime) -> Bool { left.offset < right.offset }

    public static func + (time: HostTime, duration: Duration) -> HostTime { HostTime(offset: time.offset + duration) }

    public static func - (time: HostTime, duration: Duration) -> HostTime { HostTime(offset: time.offset - duration) }

    /// The time from `right` to `left`.
    public static func - (left: HostTime, right: HostTime) -> Duration { left.offset - right.offset }

    public static func += (time: inout HostTime, duration: Duration) { time.offset += duration }
    public static func -= (time: inout HostTime, duration: Duration) { time.offset -= duration }
}

extension HostTime {
    /// Creates the time of an instant of the machine's clock, whose epoch is the start of the machine.
    public init(_ instant: ContinuousClock.Instant) {
        self.init(offset: ContinuousClock.machineStart.duration(to: instant))
    }

    /// The equivalent instant of the machine's clock.
    ///
    /// It is meaningful only for times of that clock.
    public var continuousClockInstant: ContinuousClock.Instant {
        ContinuousClock.machineStart.advanced(by: offset)
    }
}

extension HostTime: CustomStringConvertible {
    /// The seconds since the epoch of the clock, like `1.5 s`.
    public var description: String { "\(MediaTime(offset))" }
}

extension ContinuousClock {
    /// The instant from which this clock counts: on Linux the start of the machine.
    package static var machineStart: Instant {
        #if compiler(>=6.3)
            ContinuousClock().systemEpoch
        #else
            // Replaces `systemEpoch`, which needs Swift 6.3. An instant consists only of the duration since the epoch.
            unsafeBitCast(Duration.zero, to: Instant.self)
        #endif
    }
}

extension SuspendingClock {
    /// The instant from which this clock counts: on Linux the start of the machine.
    package static var machineStart: Instant {
        #if compiler(>=6.3)
            SuspendingClock().systemEpoch
        #else
            unsafeBitCast(Duration.zero, to: Instant.self)
        #endif
    }
}
