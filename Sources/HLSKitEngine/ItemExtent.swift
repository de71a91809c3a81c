/// Where an item starts, by its playlists, and ends, by its media.
struct ItemExtent: Sendable, Hashable {
    /// The item time at which playing starts; nil until a playlist tells.
    private(set) var start: Duration?
    /// Where the media really ends, once all of it was presented.
    private(set) var mediaEnd: Duration?

    /// A playlist tells where the item starts.
    mutating func begin(at time: Duration) { start = time }

    /// More media comes.
    mutating func reopen() { mediaEnd = nil }

    /// All media was presented, up to there.
    mutating func close(at end: Duration?) { mediaEnd = end }

    /// The duration of the item.
    ///
    /// - Parameters:
    ///   - listedEnd: where what is listed ends.
    ///   - forwardEnd: the end time that is set.
    ///   - hasFailed: not all that is listed was played.
    func duration(listedEnd: Duration, forwardEnd: Duration?, hasFailed: Bool) -> Duration {
        // At an end time that is set, or at a failure, media is over before the item is.
        let isWhole = forwardEnd.map { $0 > listedEnd } ?? true
        return isWhole && !hasFailed ? mediaEnd ?? listedEnd : listedEnd
    }
}
