import Glibc
package import HLSKitPlaylist
public import HLSKitTime

/// A clock whose moments mean the same to everybody who uses it: ``epoch`` is the moment at which its host time is 0.
///
/// A clock of your own conforms to it where several players are to share it.
public protocol EpochClock: Clock where Duration == Swift.Duration {
    /// The moment that is `HostTime.zero`. Never changes.
    var epoch: Instant { get }
}

/// The clock by which players present media: that of the machine, or one that a program has given.
///
/// Two players that have the same clock can be locked together by `Player.setRate(_:time:atHostTime:)`; so can players
/// of several machines by a ``SteeredClock``. Copies are the same clock. See docs/behaviour/time.md.
public struct SourceClock: Clock {
    /// The clock of the machine, `ContinuousClock`: it begins with the start of the machine, and passes while the machine
    /// sleeps.
    public static let host = SourceClock(ContinuousClock())

    /// Where tasks run that live by the clock: the clock itself where it is an executor too, as in simulations; nil means
    /// the global executor.
    package let taskExecutor: (any TaskExecutor)?
    /// Time passes as it does for people, and not as a test says.
    package let passesAsForPeople: Bool
    /// That of the clock beneath.
    public let minimumResolution: Swift.Duration
    private let read: @Sendable () -> Swift.Duration
    private let wait: @Sendable (Swift.Duration) async throws -> Void

    /// Makes the clock that another one is.
    ///
    /// Its epoch is that of the clock: of `ContinuousClock` and `SuspendingClock` the start of the machine, of an
    /// ``EpochClock`` its own. Other clocks have none, and begin now: players share such a clock only where they are given
    /// the same `SourceClock`.
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

    /// The moment that it is.
    public var now: HostTime { HostTime(offset: read()) }

    /// Sleeps until the clock shows `deadline`; throws `CancellationError` when the task is cancelled. `tolerance` is not
    /// used.
    public func sleep(until deadline: HostTime, tolerance: Swift.Duration? = nil) async throws {
        try await wait(deadline.offset)
    }

    /// The date of now: the system's where time passes as it does for people, else 1970-01-01, so that what happens under a
    /// virtual clock has the same dates each time.
    package var date: PlaylistDate {
        guard passesAsForPeople else { return PlaylistDate(seconds: 0) }
        // struct timespec, whose members the compiler takes for those of another module: seconds and nanoseconds.
        var time = (seconds: Int64(0), nanoseconds: Int64(0))
        withUnsafeMutableBytes(of: &time) { bytes in
            guard let base = bytes.baseAddress else { return }
            clock_gettime(CLOCK_REALTIME, base.assumingMemoryBound(to: timespec.self))
        }
        return PlaylistDate(seconds: time.seconds, attoseconds: time.nanoseconds * 1_000_000_000)
    }
}

extension Clock {
    /// Where work by this clock runs: the clock itself where it is an executor too, as in simulations; nil means the
    /// global executor.
    package var executor: (any TaskExecutor)? {
        switch self {
        case let clock as SourceClock: clock.taskExecutor
        case let clock as SteeredClock: clock.base.taskExecutor
        default: self as? any TaskExecutor
        }
    }

    /// Its time passes as it does for people, and not as a test says.
    package var isOfThisMachine: Bool {
        switch self {
        case let clock as SourceClock: clock.passesAsForPeople
        case let clock as SteeredClock: clock.base.passesAsForPeople
        default: self is ContinuousClock || self is SuspendingClock
        }
    }
}
