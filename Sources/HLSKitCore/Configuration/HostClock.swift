/// The clock of a player: time since the player was made, on whatever clock its configuration names.
struct HostClock: Sendable {
    /// Where the player's tasks run: the clock itself where it is an executor too, as in simulations; nil means the
    /// global executor.
    let executor: (any TaskExecutor)?
    private let read: @Sendable () -> Duration
    private let wait: @Sendable (Duration) async throws -> Void

    init(_ clock: some Clock<Duration>) {
        let epoch = clock.now
        executor = clock.executor
        read = { epoch.duration(to: clock.now) }
        wait = { time in try await clock.sleep(until: epoch.advanced(by: time), tolerance: nil) }
    }

    var now: Duration { read() }

    /// Sleeps until the clock shows `time`; throws when cancelled.
    func sleep(until time: Duration) async throws { try await wait(time) }
}

extension Clock {
    /// Where work by this clock runs: the clock itself where it is an executor too, as in simulations; nil means the
    /// global executor.
    var executor: (any TaskExecutor)? { self as? any TaskExecutor }

    /// Its time passes as it does for people, and not as a test says.
    var isOfThisMachine: Bool { self is ContinuousClock || self is SuspendingClock }
}
