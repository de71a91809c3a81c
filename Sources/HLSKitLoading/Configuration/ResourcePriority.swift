/// How a player ranks among those it shares a ``ResourceBudget`` with.
///
/// Source: `AVPlayer.NetworkResourcePriority`. See docs/loading.md.
public enum ResourcePriority: Int, Sendable, Hashable, Comparable, CaseIterable {
    /// Previews, and whatever may come later.
    case low
    case `default`
    /// Playback that someone is watching.
    case high

    public static func < (one: Self, other: Self) -> Bool { one.rawValue < other.rawValue }
}
