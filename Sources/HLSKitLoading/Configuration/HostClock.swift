package import HLSKitTime

/// The clock of a player or a download: time since it was made, on whatever clock its configuration names.
package struct HostClock: Sendable {
    /// The clock that players share.
    package let source: SourceClock
    /// The moment that is 0 here.
    package let origin: HostTime

    package init(_ clock: some Clock<Duration>) {
        source = SourceClock(clock)
        origin = source.now
    }

    /// Where the player's tasks run; see ``SourceClock/taskExecutor``.
    package var executor: (any TaskExecutor)? { source.taskExecutor }

    package var now: Duration { source.now - origin }

    /// Sleeps until the clock shows `time`; throws when cancelled.
    package func sleep(until time: Duration) async throws { try await source.sleep(until: origin + time) }

    package func hostTime(_ time: Duration) -> HostTime { origin + time }
}
