import HLSKitSelection

/// The point at which an item is left for a break that plays other items.
///
/// Loading and presenting treat it as the end of the item. Apps do not see it as an end.
package struct BreakPoint: Sendable, Hashable {
    package enum Place: Sendable, Hashable {
        case time(Duration)
        /// Like ``time(_:)``, but media after that time is not wanted.
        case skip(Duration)
        /// After the whole item was played, before its end is reported.
        case end
    }

    private(set) var place: Place?

    /// The time of the next break, or nil if none is scheduled before the end of the item.
    var time: Duration? { place?.time }
    /// Whether segments that begin after the break point are not loaded.
    ///
    /// This applies even if they contain earlier media.
    var isSkip: Bool { if case .skip = place { true } else { false } }

    /// Moves the break point. A point before the playhead is reached immediately.
    ///
    /// - Parameter playhead: The playhead, or nil before the start position of the item is known.
    /// - Returns: Whether the break point has changed.
    mutating func move(to new: Place?, playhead: Duration?) -> Bool {
        var new = new
        switch new {
        case .time(let time): new = .time(max(time, playhead ?? time))
        case .skip(let time): new = .skip(max(time, playhead ?? time))
        case .end, nil: break
        }
        guard place != new else { return false }
        place = new
        return true
    }

    /// Whether the item is left for a break when it reaches its current end.
    ///
    /// - Parameter end: The end time that the app has set.
    func isReached(before end: Duration?) -> Bool {
        switch place {
        case nil: false
        case .end: true
        case .time(let time), .skip(let time): end.map { time <= $0 } ?? true
        }
    }
}

extension BreakPoint.Place {
    /// The item time, or nil for the end of the item.
    package var time: Duration? {
        switch self {
        case .time(let time), .skip(let time): time
        case .end: nil
        }
    }
}

// MARK: - Schedule

extension BreakPoint {
    /// How far an item has been searched for parts to skip. Media after that point is not loaded.
    ///
    /// This applies only if the item has a rule that skips parts.
    struct ScheduleReach: Sendable {
        let isFollowed: Bool
        /// Whether the item still waits to learn where its first break is, or that there is none.
        private(set) var isAwaited: Bool
        /// The end of a live playlist when it was last searched.
        private var end: Duration?

        init(isFollowed: Bool = false) {
            self.isFollowed = isFollowed
            isAwaited = isFollowed
        }

        mutating func start() { isAwaited = false }

        mutating func note(_ tracker: PlaylistTracker) {
            if isFollowed, tracker.isLive { end = tracker.end }
        }

        func lacks(_ tracker: PlaylistTracker?) -> Bool {
            guard isFollowed, let tracker, tracker.isLive else { return false }
            return end.map { $0 < tracker.end } ?? true
        }

        /// The time from which no segment may be loaded yet, in any playlist, or `nil` if there is no limit.
        func bound(_ tracker: PlaylistTracker?) -> Duration? { isFollowed && tracker?.isLive == true ? end : nil }
    }
}
