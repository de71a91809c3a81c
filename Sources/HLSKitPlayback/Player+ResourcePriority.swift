public import HLSKitLoading
import Synchronization

extension Player {
    /// The priority of this player among players with the same ``PlayerConfiguration/resourceBudget``.
    ///
    /// A player yields to a higher-priority player that waits for media or is not likely to keep up. While it yields,
    /// it starts no new segment as long as it has at least ten seconds of media to play, so it does not stall. You can
    /// set the priority at any time, and it takes effect at the next segment. The default is `default`. See
    /// <doc:ManyPlayers>.
    public var networkResourcePriority: ResourcePriority {
        get { core.state.withLock { $0.budget.priority } }
        set {
            core.change { state, afterwards, _ in
                state.budget.priority = newValue
                afterwards.valuesMayDiffer = true
            }
        }
    }
}
