package import HLSKitLoading
import Synchronization

/// One use of an item by a player, with its ID for servers and the destination of measurements.
package struct ItemSession: Sendable, Hashable {
    /// A UUID.
    package let id: String
    /// The diary, or nil if the app has no access to one.
    var diary: ItemLog?

    package static func == (one: Self, other: Self) -> Bool { one.id == other.id }
    package func hash(into hasher: inout Hasher) { hasher.combine(id) }
}

/// The logs and metric listeners of an item, which outlast the engine's state of the item.
package final class ItemLog: Sendable, Hashable {
    private struct State {
        var journal: SessionLogger?
        var metrics = Broadcast<any MetricEvent>()
        var reporter: ClientDataReporter?
    }

    private let state = Mutex(State())

    package init() {}

    /// The journal of the last ended session.
    package var journal: SessionLogger? { state.withLock(\.journal) }
    /// The measurements of the current session, or of the next one.
    package var metrics: Broadcast<any MetricEvent> { state.withLock(\.metrics) }

    private var reporter: ClientDataReporter? { state.withLock(\.reporter) }

    /// Sends events of the next session to this reporter as well.
    package func report(to reporter: ClientDataReporter) { state.withLock { $0.reporter = reporter } }

    package func take(_ entry: DiaryEntry) {
        switch entry {
        case .metric(let event): metrics.send(event)
        case .report(let occurrence):
            reporter?.take(occurrence.event, occurrence.facts, target: occurrence.target)
        case .closed(var journal):
            // The journal refers to this diary, so keeping the reference would create a retain cycle.
            journal.session.diary = nil
            let ended = journal
            let (metrics, reporter) = state.withLock { state in
                state.journal = ended
                defer { state.metrics = Broadcast() }
                return (state.metrics, state.reporter.take())
            }
            metrics.close()
            reporter?.close()
        }
    }

    package static func == (one: ItemLog, other: ItemLog) -> Bool { one === other }
    package func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}

package enum DiaryEntry: Sendable {
    case metric(any MetricEvent)
    case report(ClientDataOccurrence)
    case closed(SessionLogger)
}
