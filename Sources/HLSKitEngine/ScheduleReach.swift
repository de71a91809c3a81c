import HLSKitSelection

/// How far an item was looked at for parts that are left out, where it has a rule for that: nothing is loaded that was not.
///
/// See docs/decisions/interstitials.md.
struct ScheduleReach: Sendable {
    let isFollowed: Bool
    /// The item was not told yet where it is left first, or that it is not.
    private(set) var isAwaited: Bool
    /// Where the list of a live stream ended when it was looked at.
    private var end: Duration?

    /// - Parameter isFollowed: parts of the item may be left out.
    init(isFollowed: Bool = false) {
        self.isFollowed = isFollowed
        isAwaited = isFollowed
    }

    /// The item knows where it is left.
    mutating func start() { isAwaited = false }

    /// A list was looked at.
    mutating func note(_ tracker: PlaylistTracker) {
        if isFollowed, tracker.isLive { end = tracker.end }
    }

    /// A list is to be looked at.
    func lacks(_ tracker: PlaylistTracker?) -> Bool {
        guard isFollowed, let tracker, tracker.isLive else { return false }
        return end.map { $0 < tracker.end } ?? true
    }

    /// Where what begins must not be loaded yet, in any list; nil for nowhere.
    func bound(_ tracker: PlaylistTracker?) -> Duration? { isFollowed && tracker?.isLive == true ? end : nil }
}
