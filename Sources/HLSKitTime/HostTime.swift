/// A moment on the clock by which players present media.
///
/// All players that have the same clock mean the same moment by the same host time, and events of several players can
/// be put in order by it. Differences are durations: `player.sourceClock.now + .milliseconds(500)`, `end - start`.
///
/// See docs/reference/playback.md.
public struct HostTime: InstantProtocol, Sendable, Hashable, Codable {
    /// Time since the epoch of the clock: of the machine's own since the machine was started, of a clock that follows a
    /// server's whatever the server counts from.
    public var offset: Duration

    /// Makes the moment `offset` after the epoch of the clock.
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
    /// Makes the moment of the machine's clock, whose epoch is the start of the machine.
    public init(_ instant: ContinuousClock.Instant) {
        self.init(offset: ContinuousClock.machineStart.duration(to: instant))
    }

    /// The moment of the machine's clock; of use only for times of that clock.
    public var continuousClockInstant: ContinuousClock.Instant {
        ContinuousClock.machineStart.advanced(by: offset)
    }
}

extension HostTime: CustomStringConvertible {
    /// Seconds since the epoch of the clock, like `1.5 s`.
    public var description: String { "\(MediaTime(offset))" }
}

extension ContinuousClock {
    /// The moment from which its instants count: on Linux the start of the machine.
    package static var machineStart: Instant {
        #if compiler(>=6.3)
            ContinuousClock().systemEpoch
        #else
            // What `systemEpoch` is, which came with Swift 6.3: an instant is a duration since the epoch, and nothing else.
            unsafeBitCast(Duration.zero, to: Instant.self)
        #endif
    }
}

extension SuspendingClock {
    /// The moment from which its instants count: on Linux the start of the machine.
    package static var machineStart: Instant {
        #if compiler(>=6.3)
            SuspendingClock().systemEpoch
        #else
            unsafeBitCast(Duration.zero, to: Instant.self)
        #endif
    }
}
