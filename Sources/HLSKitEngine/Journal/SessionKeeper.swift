import HLSKitLoading
import HLSKitPlaylist

/// Decides which session an item is, and keeps the journal of the one that is under way.
package struct SessionKeeper: Sendable {
    /// What the item went through; nil where nobody can ask.
    private(set) var journal: SessionJournal?
    private var ids: SessionIDGenerator
    private let fixedID: String?
    private let tellsServers: Bool

    init(_ configuration: EngineConfiguration) {
        ids = SessionIDGenerator(seed: configuration.sessionSeed)
        fixedID = configuration.sessionID
        tellsServers = configuration.sendsSessionID || configuration.clientData != nil
    }

    /// The session that a new item is; nil where neither a diary nor servers are told of it.
    mutating func session(of item: EngineItem) -> ItemSession? {
        guard item.diary != nil || tellsServers else { return nil }
        return ItemSession(id: fixedID ?? ids.next(), diary: item.diary)
    }

    // MARK: The journal

    /// Whether the journal is another session's, and is to be closed.
    func isOther(than session: ItemSession?) -> Bool { session?.id != journal?.session.id }

    mutating func open(_ session: ItemSession?, epoch: PlaylistDate, isCurrent: Bool, at now: Duration) {
        journal = session.map { SessionJournal(session: $0, epoch: epoch, isCurrent: isCurrent, at: now) }
    }

    /// The session is over.
    ///
    /// - Returns: what is still to be told.
    mutating func close(_ view: SessionJournal.View) -> [EngineEffect] {
        journal?.close(view)
        defer { journal = nil }
        return journal?.takeEffects() ?? []
    }

    // MARK: What happens

    /// - Parameters:
    ///   - effects: what follows from the event.
    ///   - hasStart: the item has a place to start at.
    /// - Returns: what the diary and the player's listeners are told.
    mutating func look(
        at event: EngineEvent?, _ effects: [EngineEffect], hasStart: Bool, _ view: SessionJournal.View
    ) -> [EngineEffect] {
        if case .control(.seek)? = event,
            !effects.contains(where: { if case .seekRefused = $0 { true } else { false } })
        {
            let hasFlushed = effects.contains { if case .flush = $0 { true } else { false } }
            journal?.noteSeek(isInBuffer: !hasFlushed && hasStart, view)
        }
        journal?.look(at: event, effects, view)
        return journal?.takeEffects() ?? []
    }

    /// Bytes have come, and nothing follows from them.
    mutating func received(_ byteCount: Int, of id: RequestID) { journal?.received(byteCount, of: id) }

    /// What outputs have dropped until now. `inPeriodBefore`: in the period that has just ended.
    package mutating func noteDroppedFrames(_ total: Int, inPeriodBefore: Bool) {
        journal?.noteDroppedFrames(total, inPeriodBefore: inPeriodBefore)
    }

    mutating func noteWatched(_ total: Duration) { journal?.noteWatched(total) }
}
