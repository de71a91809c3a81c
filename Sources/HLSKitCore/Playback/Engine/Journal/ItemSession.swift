import Synchronization

/// One use of an item by a player: what names it to servers, and where what is measured goes.
struct ItemSession: Sendable, Hashable {
    /// A UUID.
    let id: String
    /// nil where nobody can ask.
    var diary: ItemDiary?

    static func == (one: Self, other: Self) -> Bool { one.id == other.id }
    func hash(into hasher: inout Hasher) { hasher.combine(id) }
}

/// What outlives the engine's knowledge of an item: its logs once it is over, and those who listen to its metrics.
final class ItemDiary: Sendable, Hashable {
    private struct State {
        var journal: SessionJournal?
        var metrics = Broadcast<any MetricEvent>()
        var reporter: ClientDataReporter?
    }

    private let state = Mutex(State())

    /// The journal of the session that ended last.
    var journal: SessionJournal? { state.withLock(\.journal) }
    /// The measurements of the session that goes on, or of the next one.
    var metrics: Broadcast<any MetricEvent> { state.withLock(\.metrics) }

    private var reporter: ClientDataReporter? { state.withLock(\.reporter) }

    /// Events of the session that begins go there as well.
    func report(to reporter: ClientDataReporter) { state.withLock { $0.reporter = reporter } }

    func take(_ entry: DiaryEntry) {
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

    static func == (one: ItemDiary, other: ItemDiary) -> Bool { one === other }
    func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}

/// What an engine tells a diary.
enum DiaryEntry: Sendable {
    case metric(any MetricEvent)
    /// For those who are told of events.
    case report(ClientDataOccurrence)
    case closed(SessionJournal)
}
