/// The start of an item according to its playlists, and its end according to its media.
struct ItemExtent: Sendable, Hashable {
    /// The item time at which playback starts, or nil until a playlist determines it.
    private(set) var start: Duration?
    /// The actual end of the media, known once all of it was presented.
    private(set) var mediaEnd: Duration?

    mutating func begin(at time: Duration) { start = time }

    /// Notes that more media follows.
    mutating func reopen() { mediaEnd = nil }

    /// Notes that all media was presented up to this time.
    mutating func close(at end: Duration?) { mediaEnd = end }

    /// Returns the duration of the item.
    ///
    /// - Parameters:
    ///   - listedEnd: The end according to the playlists.
    ///   - forwardEnd: The end time that the app has set.
    ///   - hasFailed: Whether some listed media was not played.
    func duration(listedEnd: Duration, forwardEnd: Duration?, hasFailed: Bool) -> Duration {
        // At an end time or a failure, the presented media ends before the item does.
        let isWhole = forwardEnd.map { $0 > listedEnd } ?? true
        return isWhole && !hasFailed ? mediaEnd ?? listedEnd : listedEnd
    }
}
