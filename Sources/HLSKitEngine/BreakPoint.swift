/// Where an item is left for a break, in which others are played in its place.
///
/// It is an end of the item for everything that loads and presents, and none for what programs see.
package struct BreakPoint: Sendable, Hashable {
    package enum Place: Sendable, Hashable {
        case time(Duration)
        /// As ``time(_:)``, and nothing of what is behind it is wanted.
        case skip(Duration)
        /// When all of the item was played, before that is told.
        case end
    }

    /// nil where none is to come.
    private(set) var place: Place?

    /// Before the end of the item; nil where none is to come there.
    var time: Duration? { place?.time }
    /// Nothing is loaded that begins behind it, whatever of what is before it may be there.
    var isSkip: Bool { if case .skip = place { true } else { false } }

    /// The next break is elsewhere. One that lies behind the playhead is there at once.
    ///
    /// - Parameter playhead: nil before it is known where the item starts.
    /// - Returns: whether that is news.
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

    /// Whether the item is left where it ends now.
    ///
    /// - Parameter end: the end time that the program has set.
    func isReached(before end: Duration?) -> Bool {
        switch place {
        case nil: false
        case .end: true
        case .time(let time), .skip(let time): end.map { time <= $0 } ?? true
        }
    }
}

extension BreakPoint.Place {
    /// nil for the end of the item.
    package var time: Duration? {
        switch self {
        case .time(let time), .skip(let time): time
        case .end: nil
        }
    }
}
