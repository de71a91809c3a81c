/// Where an item starts and ends: by its playlists, by what the program has set, and by its media.
struct ItemExtent: Sendable {
    /// What another end time changes.
    enum Move: Sendable, Hashable {
        case stays
        /// Less is to be played, or as much.
        case nearer
        /// Media behind the end time until now is to be played, too.
        case beyond(Duration)
    }

    /// The item time at which playing starts; nil until a playlist tells.
    private(set) var start: Duration?
    /// Media before this item time is not presented.
    private(set) var startWindow: Duration?
    /// The end time that is set.
    private(set) var forwardEnd: Duration?
    /// Where reverse playing ends; nil is the start.
    private(set) var reverseEnd: Duration?
    /// Where the media really ends, once all of it was presented.
    private(set) var mediaEnd: Duration?

    /// A playlist tells where the item starts.
    ///
    /// - Parameter end: where the preferences end it; nil leaves the end time as it is.
    mutating func begin(at place: StartPlace, until end: Duration?) {
        start = place.start
        startWindow = place.window
        forwardEnd = (end ?? forwardEnd).map { max($0, place.start) }
    }

    /// Media is loaded for another place.
    mutating func jump(to landing: Landing) {
        startWindow = landing.floor
        mediaEnd = nil
    }

    /// More media comes.
    mutating func reopen() { mediaEnd = nil }

    /// All media was presented, up to there.
    mutating func close(at end: Duration?) { mediaEnd = end }

    mutating func setReverseEnd(_ time: Duration?) { reverseEnd = time }

    /// Sets the end time. One that lies behind the playhead is there at once.
    mutating func setForwardEnd(_ time: Duration?, playhead: Duration) -> Move {
        let end = time.map { start == nil ? $0 : max($0, playhead) }
        guard end != forwardEnd else { return .stays }
        defer { forwardEnd = end }
        guard let old = forwardEnd, end.map({ $0 > old }) ?? true else { return .nearer }
        return .beyond(old)
    }

    /// The duration of the item.
    ///
    /// - Parameters:
    ///   - listedEnd: where what is listed ends.
    ///   - hasFailed: not all that is listed was played.
    func duration(listedEnd: Duration, hasFailed: Bool) -> Duration {
        // At an end time that is set, or at a failure, media is over before the item is.
        let isWhole = forwardEnd.map { $0 > listedEnd } ?? true
        return isWhole && !hasFailed ? mediaEnd ?? listedEnd : listedEnd
    }
}
