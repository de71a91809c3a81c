import HLSKitEngine
public import HLSKitLoading

extension PlayerItem {
    /// The item's requests and how it played, up to now; nil before it was a player's current item.
    ///
    /// A snapshot: reading it costs a copy of its events. Stays when the item is removed. See docs/behaviour/logs.md.
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

    /// The item's failures, including those that a retry fixed; nil before it was a player's current item.
    public var errorLog: ErrorLog? {
        attachedCore?.read(of: self) { $0.journal?.errorLog } ?? diary.journal?.errorLog
    }

    /// The measurements of one kind from now on, in order and without gaps. Ends when the item is removed.
    /// All are kept until they are read.
    ///
    /// ```swift
    /// for await stall in item.metrics(ofType: MetricPlayerItemStallEvent.self) { print(stall.jsonLine) }
    /// ```
    public func metrics<Event: MetricEvent>(
        ofType type: Event.Type
    ) -> AsyncCompactMapSequence<AsyncStream<any MetricEvent>, Event> {
        diary.metrics.subscribe().compactMap { $0 as? Event }
    }

    /// The measurements of all kinds from now on, in the order in which they were made. Ends when the item is removed.
    /// All are kept until they are read.
    public func allMetrics() -> AsyncStream<any MetricEvent> { diary.metrics.subscribe() }
}
