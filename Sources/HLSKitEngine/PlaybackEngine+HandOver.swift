import HLSKitLoading

/// What belongs to the player and not to an item: it goes from the engine of one item to that of the next.
package struct PlayerIntent: Sendable {
    package var timeControl: TimeControl.Intent
    var networkConditions: NetworkConditions
}

/// Going on from one item to the next, each of which has an engine of its own.
///
/// See docs/behaviour/queue.md.
extension PlaybackEngine {
    /// Tells whoever holds the engines of a queue that the item is over.
    mutating func advance() {
        guard isInQueue else { return apply(.setItem(nil)) }
        if item?.error == nil { timeControl.endItem(timeBounds, at: now) }
        hasResigned = true
        effects.append(.advanceToNextItem)
    }

    /// The intent that the next engine continues with. This one is not asked any more.
    package mutating func resign(at now: Duration) -> PlayerIntent {
        hasResigned = true
        return PlayerIntent(
            timeControl: timeControl.intent(timeBounds, at: now), networkConditions: networkConditions)
    }

    /// Becomes the engine of the player's current item. A player that plays goes on playing where there is media; the
    /// item time 0 of this item, or where else it starts, falls on the moment at which the one before ended.
    package mutating func takeOver(_ intent: PlayerIntent, at now: Duration) -> [EngineEffect] {
        self.now = max(now, self.now)
        effects.append(.present)
        networkConditions = intent.networkConditions
        // Media that plays continues without a hole.
        if intent.timeControl.isRunning { noteFirstDecoded() }
        carryOut(timeControl.takeOver(intent.timeControl, timeBounds, at: self.now))
        return settled()
    }

    /// Whether the player should begin to load the item after this one: this one has all it wants, or is nearly over.
    package var letsNextLoad: Bool {
        guard let outlook, outlook.isReady else { return false }
        return lastVerdict.isFull || outlook.isComplete || remaining.map { $0 <= forwardTarget } ?? false
    }

    /// Media time from the playhead to the end; nil while that is not known.
    package var remaining: Duration? { effectiveEnd.map { max(.zero, $0 - playhead) } }

    /// What is kept loaded ahead of the playhead.
    package var forwardTarget: Duration {
        preferences.forwardBuffer ?? configuration.buffering.forwardDuration
    }
}
