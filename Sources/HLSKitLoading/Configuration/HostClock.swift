package import HLSKitTime

/// The clock of a player or download, which shows the time since its creation on the configured clock.
package struct HostClock: Sendable {
    package let source: SourceClock
    /// The host time at which this clock shows 0.
    package let origin: HostTime

    package init(_ clock: some Clock<Duration>) {
        source = SourceClock(clock)
        origin = source.now
    }

    package var executor: (any TaskExecutor)? { source.taskExecutor }

    package var now: Duration { source.now - origin }

    package func sleep(until time: Duration) async throws { try await source.sleep(until: origin + time) }

    package func hostTime(_ time: Duration) -> HostTime { origin + time }
}
