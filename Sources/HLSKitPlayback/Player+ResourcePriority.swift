public import HLSKitLoading
import Synchronization

/// Which player goes first.
extension Player {
    /// How the player ranks among those with the same ``PlayerConfiguration/resourceBudget``. Default: `default`.
    ///
    /// While a player of a higher priority waits for media or is not likely to keep up, this one begins no segment as long
    /// as it has enough to play for ten seconds; it does not stall because of it. May be set at any time and takes effect
    /// with the next segment.
    ///
    /// See docs/loading.md.
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
