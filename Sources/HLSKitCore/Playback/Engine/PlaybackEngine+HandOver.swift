/// What belongs to the player and not to an item: it goes from the engine of one item to that of the next.
struct PlayerIntent: Sendable {
    var machine: TimeControlMachine
    var defaultRate: Float
    var networkConditions: NetworkConditions
    /// When the wait for the first picture began; nil where nobody waits.
    var firstControl: Duration?
    /// The host time at which the item before ended: the next one begins there. nil where it did not play to its end.
    var endedAt: Duration?
}

/// Going on from one item to the next, each of which has an engine of its own.
///
/// See docs/behaviour/queue.md.
extension PlaybackEngine {
    /// Tells whoever holds the engines of a queue that the item is over.
    mutating func advance() {
        guard isInQueue else { return apply(.setItem(nil)) }
        if configuration.pacing == .realTime, item?.error == nil, timebase.rate > 0, let end = effectiveEnd,
            playhead >= end
        {
            endedAt = timebase.hostTime(of: end).map { min($0, now) }
        }
        hasResigned = true
        effects.append(.advanceToNextItem)
    }

    /// What the next engine goes on with. This one is not asked any more.
    mutating func resign(at now: Duration) -> PlayerIntent {
        hasResigned = true
        // An item that was never there leaves the wait for the first picture to the one that comes.
        let waitsSince = item == nil ? waits.firstControl : machine.rate == 0 ? nil : now
        return PlayerIntent(
            machine: machine, defaultRate: defaultRate, networkConditions: networkConditions, firstControl: waitsSince,
            endedAt: endedAt)
    }

    /// Becomes the engine of the player's current item. A player that plays goes on playing where there is media; the
    /// item time 0 of this item, or where else it starts, falls on the moment at which the one before ended.
    mutating func takeOver(_ intent: PlayerIntent, at now: Duration) -> [EngineEffect] {
        self.now = max(now, self.now)
        effects.append(.present)
        defaultRate = intent.defaultRate
        networkConditions = intent.networkConditions
        waits.takeOver(since: intent.firstControl)
        let start = playhead
        let wasRunning = intent.machine.timebaseRate != 0
        // What plays goes on without a hole.
        if wasRunning { noteFirstDecoded() }
        run(machine.takeOver(from: intent.machine))
        if machine.timebaseRate != 0 {
            let anchor = wasRunning ? intent.endedAt : nil
            setTimebase(
                TimebaseState(itemTime: start, hostTime: anchor ?? self.now, rate: Double(machine.timebaseRate)),
                watchedFrom: start)
        }
        noteStatus(machine.status)
        return settled()
    }

    /// Whether the player should begin to load the item after this one: this one has all it wants, or is nearly over.
    var letsNextLoad: Bool {
        guard let outlook, outlook.isReady else { return false }
        return lastVerdict.isFull || outlook.isComplete || remaining.map { $0 <= forwardTarget } ?? false
    }

    /// Media time from the playhead to the end; nil while that is not known.
    var remaining: Duration? { effectiveEnd.map { max(.zero, $0 - playhead) } }

    /// What is kept loaded ahead of the playhead.
    var forwardTarget: Duration {
        preferences.forwardBuffer ?? configuration.buffering.forwardDuration
    }
}
