package import HLSKitLoading
import Synchronization

/// One use of an item by a player: what names it to servers, and where what is measured goes.
package struct ItemSession: Sendable, Hashable {
    /// A UUID.
    package let id: String
    /// nil where nobody can ask.
    var diary: ItemDiary?

    package static func == (one: Self, other: Self) -> Bool { one.id == other.id }
    package func hash(into hasher: inout Hasher) { hasher.combine(id) }
}

/// What outlives the engine's knowledge of an item: its logs once it is over, and those who listen to its metrics.
package final class ItemDiary: Sendable, Hashable {
    private struct State {
        var journal: SessionJournal?
        var metrics = Broadcast<any MetricEvent>()
        var reporter: ClientDataReporter?
    }

    private let state = Mutex(State())

    package init() {}

    /// The journal of the session that ended last.
    package var journal: SessionJournal? { state.withLock(\.journal) }
    /// The measurements of the session that goes on, or of the next one.
    package var metrics: Broadcast<any MetricEvent> { state.withLock(\.metrics) }

    private var reporter: ClientDataReporter? { state.withLock(\.reporter) }

    /// Events of the session that begins go there as well.
    package func report(to reporter: ClientDataReporter) { state.withLock { $0.reporter = reporter } }

    package func take(_ entry: DiaryEntry) {
        switch entry {
        case .metric(let event): metrics.send(event)
        case .report(let occurrence):
            reporter?.take(occurrence.event, occurrence.facts, target: occurrence.target)
        case .closed(var journal):
            // It knows this diary, which keeps it: neither would ever go.
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

    package static func == (one: ItemDiary, other: ItemDiary) -> Bool { one === other }
    package func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}

/// What an engine tells a diary.
package enum DiaryEntry: Sendable {
    case metric(any MetricEvent)
    /// For those who are told of events.
    case report(ClientDataOccurrence)
    case closed(SessionJournal)
}
