import HLSKitLoading
import HLSKitPlaylist

/// Assigns sessions to items and keeps the journal of the current session.
package struct SessionKeeper: Sendable {
    private(set) var journal: SessionLogger?
    private var ids: SessionIDGenerator
    private let fixedID: String?
    private let identifiesSessions: Bool

    init(_ configuration: EngineConfiguration) {
        ids = SessionIDGenerator(seed: configuration.sessionSeed)
        fixedID = configuration.sessionID
        identifiesSessions = configuration.sendsSessionID || configuration.clientData != nil
    }

    /// Returns the session of a new item, or nil if neither a diary nor a server needs one.
    mutating func session(of item: EngineItem) -> ItemSession? {
        guard item.diary != nil || identifiesSessions else { return nil }
        return ItemSession(id: fixedID ?? ids.next(), diary: item.diary)
    }

    // MARK: The journal

    func isOther(than session: ItemSession?) -> Bool { session?.id != journal?.session.id }

    mutating func open(_ session: ItemSession?, epoch: PlaylistDate, isCurrent: Bool, at now: Duration) {
        journal = session.map { SessionLogger(session: $0, epoch: epoch, isCurrent: isCurrent, at: now) }
    }

    mutating func close(_ view: SessionLogger.View) -> [EngineEffect] {
        journal?.close(view)
        defer { journal = nil }
        return journal?.takeEffects() ?? []
    }

    // MARK: What happens

    mutating func look(
        at event: EngineEvent?, _ effects: [EngineEffect], hasStart: Bool, _ view: SessionLogger.View
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

    mutating func received(_ byteCount: Int, of id: RequestID) { journal?.received(byteCount, of: id) }

    /// Notes the total of frames dropped by outputs. `inPeriodBefore`: the frames belong to the previous period.
    package mutating func noteDroppedFrames(_ total: Int, inPeriodBefore: Bool) {
        journal?.noteDroppedFrames(total, inPeriodBefore: inPeriodBefore)
    }

    mutating func noteWatched(_ total: Duration) { journal?.noteWatched(total) }
}
