import Glibc
package import HLSKitPlaylist
public import HLSKitTime

/// A clock with a fixed epoch, so that host times mean the same to all of its users.
///
/// If several players should share your own clock, conform it to this protocol.
public protocol EpochClock: Clock where Duration == Swift.Duration {
    /// The instant of `HostTime.zero`, which never changes.
    var epoch: Instant { get }
}

/// The clock by which players present media: the machine's clock or your own.
///
/// Two players with the same clock can be synchronized with `Player.setRate(_:time:atHostTime:)`. A ``SteeredClock``
/// extends this to several machines. Copies represent the same clock.
public struct SourceClock: Clock {
    /// The clock of the machine, `ContinuousClock`.
    ///
    /// It starts with the machine and continues while the machine sleeps.
    public static let host = SourceClock(ContinuousClock())

    /// The executor of tasks that depend on the clock. It is the clock itself if that is an executor, as in
    /// simulations, or nil for the global executor.
    package let taskExecutor: (any TaskExecutor)?
    /// Whether the clock shows real time rather than simulated time.
    package let passesAsForPeople: Bool
    /// The resolution of the underlying clock.
    public let minimumResolution: Swift.Duration
    private let read: @Sendable () -> Swift.Duration
    private let wait: @Sendable (Swift.Duration) async throws -> Void

    /// Creates a clock that wraps another one.
    ///
    /// The epoch of `ContinuousClock` and `SuspendingClock` is the start of the machine, and an ``EpochClock`` has its
    /// own. Other clocks have no epoch and start now, so players only share such a clock if they get the same
    /// `SourceClock`.
    public init(_ clock: some Clock<Swift.Duration>) {
        switch clock {
        case let clock as SourceClock: self = clock
        case let clock as ContinuousClock: self.init(clock, epoch: ContinuousClock.machineStart)
        case let clock as SuspendingClock: self.init(clock, epoch: SuspendingClock.machineStart)
        case let clock as any EpochClock: self = Self.opened(clock)
        default: self.init(clock, epoch: clock.now)
        }
    }

    private init<Base: Clock>(_ clock: Base, epoch: Base.Instant) where Base.Duration == Swift.Duration {
        taskExecutor = clock.executor
        passesAsForPeople = clock.isOfThisMachine
        minimumResolution = clock.minimumResolution
        read = { epoch.duration(to: clock.now) }
        wait = { offset in try await clock.sleep(until: epoch.advanced(by: offset), tolerance: nil) }
    }

    private static func opened(_ clock: some EpochClock) -> SourceClock { SourceClock(clock, epoch: clock.epoch) }

    /// The current host time.
    public var now: HostTime { HostTime(offset: read()) }

    /// Sleeps until the clock shows `deadline`.
    ///
    /// The method throws `CancellationError` if the task is cancelled. It ignores `tolerance`.
    public func sleep(until deadline: HostTime, tolerance: Swift.Duration? = nil) async throws {
        try await wait(deadline.offset)
    }

    /// The system's date, or 1970-01-01 in simulated time, so that simulations always have the same dates.
    package var date: PlaylistDate {
        guard passesAsForPeople else { return PlaylistDate(seconds: 0) }
        // struct timespec: seconds and nanoseconds. The compiler attributes its members to another module.
        var time = (seconds: Int64(0), nanoseconds: Int64(0))
        withUnsafeMutableBytes(of: &time) { bytes in
            guard let base = bytes.baseAddress else { return }
            clock_gettime(CLOCK_REALTIME, base.assumingMemoryBound(to: timespec.self))
        }
        return PlaylistDate(seconds: time.seconds, attoseconds: time.nanoseconds * 1_000_000_000)
    }
}

extension Clock {
    package var executor: (any TaskExecutor)? {
        switch self {
        case let clock as SourceClock: clock.taskExecutor
        case let clock as SteeredClock: clock.base.taskExecutor
        default: self as? any TaskExecutor
        }
    }

    /// Whether the clock shows real time rather than simulated time.
    package var isOfThisMachine: Bool {
        switch self {
        case let clock as SourceClock: clock.passesAsForPeople
        case let clock as SteeredClock: clock.base.passesAsForPeople
        default: self is ContinuousClock || self is SuspendingClock
        }
    }
}
