import HLSKitLoading

/// State that belongs to the player rather than to an item. It moves from one item's engine to the next.
package struct PlayerIntent: Sendable {
    package var timeControl: TimeControl.Intent
    var networkConditions: NetworkConditions
}

extension PlaybackEngine {
    /// Notifies the owner of the queue's engines that the item has ended.
    mutating func advance() {
        guard isInQueue else { return apply(.setItem(nil)) }
        if item?.error == nil { timeControl.endItem(timeBounds, at: now) }
        hasResigned = true
        effects.append(.advanceToNextItem)
    }

    /// Returns the intent with which the next engine continues. This engine is no longer used.
    package mutating func resign(at now: Duration) -> PlayerIntent {
        hasResigned = true
        return PlayerIntent(
            timeControl: timeControl.intent(timeBounds, at: now), networkConditions: networkConditions)
    }

    /// Makes this the engine of the player's current item.
    ///
    /// A playing player continues to play if there is media. This item's start then coincides with the end of the
    /// previous item.
    package mutating func takeOver(_ intent: PlayerIntent, at now: Duration) -> [EngineEffect] {
        self.now = max(now, self.now)
        effects.append(.present)
        networkConditions = intent.networkConditions
        // Playing media continues without a gap.
        if intent.timeControl.isRunning { noteFirstDecoded() }
        carryOut(timeControl.takeOver(intent.timeControl, timeBounds, at: self.now))
        return settled()
    }

    /// Whether the player should start loading the next item: this one has loaded enough, or is almost finished.
    package var allowsNextLoad: Bool {
        guard let outlook, outlook.isReady else { return false }
        return lastVerdict.isFull || outlook.isComplete || remaining.map { $0 <= forwardTarget } ?? false
    }

    package var remaining: Duration? { effectiveEnd.map { max(.zero, $0 - playhead) } }

    package var forwardTarget: Duration {
        preferences.forwardBuffer ?? configuration.buffering.forwardDuration
    }
}
