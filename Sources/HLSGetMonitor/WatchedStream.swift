import HLSGetKit
import HLSKitCore
import Synchronization

/// A stream under watch: where its health is kept, for those who show it.
final class WatchedStream: Sendable {
    let entry: MonitorEntry
    /// The URL as it may be shown.
    let shownURL: String
    let clock: SourceClock
    private let epoch: HostTime
    private let health: Mutex<StreamHealth>
    private let tell: @Sendable (WatchedStream, StreamHealth.Change) -> Void

    /// - Parameter epoch: where the monitor's time begins.
    init(
        _ entry: MonitorEntry, rules: HealthRules, clock: SourceClock, epoch: HostTime,
        tell: @escaping @Sendable (WatchedStream, StreamHealth.Change) -> Void
    ) {
        var rules = rules
        if let holdTime = entry.holdTime { rules.holdTime = holdTime }
        rules.ignored.formUnion(entry.ignored)
        self.entry = entry
        shownURL = ErrorLine.bare(url: entry.url)
        self.clock = clock
        self.epoch = epoch
        self.tell = tell
        health = Mutex(StreamHealth(rules: rules))
    }

    /// The monitor's time.
    var now: Duration { clock.now - epoch }

    var snapshot: StreamHealth { health.withLock(\.self) }

    func handle(_ event: StreamHealth.Event) {
        // The time is read inside, so that it does not go back from one event to the next.
        if let change = health.withLock({ $0.handle(event, at: now) }) { tell(self, change) }
    }

    func advance() {
        if let change = health.withLock({ $0.advance(to: now) }) { tell(self, change) }
    }
}
