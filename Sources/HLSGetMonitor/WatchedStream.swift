import HLSGetKit
import HLSKitCore
import Synchronization

final class WatchedStream: Sendable {
    let entry: MonitorEntry
    let shownURL: String
    let clock: SourceClock
    private let epoch: HostTime
    private let epochDate: PlaylistDate
    private let health: Mutex<StreamHealth>
    private let report: @Sendable (WatchedStream, StreamHealth.Change) -> Void

    /// - Parameters:
    ///   - epoch: The zero of the monitor's time.
    ///   - epochDate: The date of the epoch.
    init(
        _ entry: MonitorEntry, rules: HealthRules, clock: SourceClock, epoch: HostTime,
        epochDate: PlaylistDate = PlaylistDate(seconds: 0),
        report: @escaping @Sendable (WatchedStream, StreamHealth.Change) -> Void
    ) {
        var rules = rules
        if let holdTime = entry.holdTime { rules.holdTime = holdTime }
        rules.ignored.formUnion(entry.ignored)
        self.entry = entry
        shownURL = ErrorLine.bare(url: entry.url)
        self.clock = clock
        self.epoch = epoch
        self.epochDate = epochDate
        self.report = report
        health = Mutex(StreamHealth(rules: rules))
    }

    var now: Duration { clock.now - epoch }

    /// The date of a time of the monitor, to the second.
    func date(at time: Duration) -> PlaylistDate { epochDate + .seconds(Int64(time.inSeconds.rounded(.down))) }

    var snapshot: StreamHealth { health.withLock(\.self) }

    func handle(_ event: StreamHealth.Event) {
        // Read the time inside the lock, so that it never goes back between events.
        if let change = health.withLock({ $0.handle(event, at: now) }) { report(self, change) }
    }

    func advance() {
        if let change = health.withLock({ $0.advance(to: now) }) { report(self, change) }
    }
}
