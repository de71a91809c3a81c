/// The rank of a player among those with which it shares a ``ResourceBudget``.
///
/// Source: `AVPlayer.NetworkResourcePriority`.
public enum ResourcePriority: Int, Sendable, Hashable, Comparable, CaseIterable {
    /// Previews, and anything else that may load later.
    case low
    case `default`
    /// Playback that a viewer is watching.
    case high

    public static func < (one: Self, other: Self) -> Bool { one.rawValue < other.rawValue }
}
