import HLSKitTime

/// The clock of a player or a download: time since it was made, on whatever clock its configuration names.
struct HostClock: Sendable {
    /// The clock that players share.
    let source: SourceClock
    /// The moment that is 0 here.
    let origin: HostTime

    init(_ clock: some Clock<Duration>) {
        source = SourceClock(clock)
        origin = source.now
    }

    /// Where the player's tasks run; see ``SourceClock/taskExecutor``.
    var executor: (any TaskExecutor)? { source.taskExecutor }

    var now: Duration { source.now - origin }

    /// Sleeps until the clock shows `time`; throws when cancelled.
    func sleep(until time: Duration) async throws { try await source.sleep(until: origin + time) }

    func hostTime(_ time: Duration) -> HostTime { origin + time }
}
