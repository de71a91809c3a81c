import HLSKitEngine
public import HLSKitLoading

extension PlayerItem {
    /// The item's requests and playback so far, or `nil` if it has never been a player's current item.
    ///
    /// The log is a snapshot: each read copies its events. It remains available after the item is removed from its
    /// player.
    public var accessLog: AccessLog? {
        let core = attachedCore
        let now = core?.clock.now ?? .zero
        let dropped = core?.snapshot(of: self)?.statistics.numberOfDroppedVideoFrames ?? 0
        let log = core?.read(of: self) { engine in
            guard var journal = engine.journal else { return AccessLog?.none }
            journal.noteDroppedFrames(dropped, inPeriodBefore: false)
            return journal.accessLog(watched: engine.watchedDuration(at: now), at: now)
        }
        return log ?? diary.journal?.accessLog(at: now)
    }

    /// The item's failures, or `nil` if it has never been a player's current item.
    ///
    /// Failures that a retry recovered from are included.
    public var errorLog: ErrorLog? {
        attachedCore?.read(of: self) { $0.journal?.errorLog } ?? diary.journal?.errorLog
    }

    /// Returns a sequence of the measurements of one kind from now on, in order and without gaps.
    ///
    /// The sequence keeps all measurements until they are read. It ends when the item is removed from its player.
    ///
    /// ```swift
    /// for await stall in item.metrics(ofType: MetricPlayerItemStallEvent.self) { print(stall.jsonLine) }
    /// ```
    public func metrics<Event: MetricEvent>(
        ofType type: Event.Type
    ) -> AsyncCompactMapSequence<AsyncStream<any MetricEvent>, Event> {
        diary.metrics.subscribe().compactMap { $0 as? Event }
    }

    /// Returns a sequence of the measurements of all kinds from now on, in the order in which they were made.
    ///
    /// The sequence keeps all measurements until they are read. It ends when the item is removed from its player.
    public func allMetrics() -> AsyncStream<any MetricEvent> { diary.metrics.subscribe() }
}
