import HLSGetKit
import HLSKitCore
import Synchronization

/// A watched stream and its health, shared by its watcher and the displays.
final class WatchedStream: Sendable {
    let entry: MonitorEntry
    /// The URL without secrets.
    let shownURL: String
    let clock: SourceClock
    private let epoch: HostTime
    private let health: Mutex<StreamHealth>
    private let tell: @Sendable (WatchedStream, StreamHealth.Change) -> Void

    /// - Parameter epoch: The zero of the monitor's time.
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
        // Read the time inside the lock, so that it never goes back between events.
        if let change = health.withLock({ $0.handle(event, at: now) }) { tell(self, change) }
    }

    func advance() {
        if let change = health.withLock({ $0.advance(to: now) }) { tell(self, change) }
    }
}
