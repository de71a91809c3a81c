import HLSKitSelection

/// How far an item has been searched for parts to skip. Media after that point is not loaded.
///
/// This applies only if the item has a rule that skips parts.
struct ScheduleReach: Sendable {
    let isFollowed: Bool
    /// Whether the item still waits to learn where its first break is, or that there is none.
    private(set) var isAwaited: Bool
    /// The end of a live playlist when it was last searched.
    private var end: Duration?

    /// - Parameter isFollowed: Whether parts of the item may be skipped.
    init(isFollowed: Bool = false) {
        self.isFollowed = isFollowed
        isAwaited = isFollowed
    }

    /// Called when the item knows where its first break is.
    mutating func start() { isAwaited = false }

    /// Called when a playlist was searched.
    mutating func note(_ tracker: PlaylistTracker) {
        if isFollowed, tracker.isLive { end = tracker.end }
    }

    /// Whether a playlist has yet to be searched.
    func lacks(_ tracker: PlaylistTracker?) -> Bool {
        guard isFollowed, let tracker, tracker.isLive else { return false }
        return end.map { $0 < tracker.end } ?? true
    }

    /// The time from which no segment may be loaded yet, in any playlist, or `nil` if there is no limit.
    func bound(_ tracker: PlaylistTracker?) -> Duration? { isFollowed && tracker?.isLive == true ? end : nil }
}
