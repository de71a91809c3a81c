/// How much media has to be ahead before playing resumes after a stall of a live stream.
///
/// Near the edge there is nothing to be loaded but what is listed next, and that takes as long to come as it lasts. Who
/// resumes with one segment stalls again behind it, and behind each that follows.
///
/// See docs/behaviour/buffering.md.
struct LiveReserve: Sendable, Hashable {
    /// What is listed next lasts so long at most: the longest segment, or the target of parts.
    var piece: Duration
    /// The distance from the edge to play at.
    var offset: Duration
    /// What is listed, from its start to its end.
    var window: Duration

    /// The media that has to be ahead, at rate 1.
    ///
    /// - Parameters:
    ///   - threshold: what is enough where nothing has to be waited for but loads.
    ///   - available: what is listed ahead of the playhead.
    ///   - loadTime: how long the next piece takes to load; nil where that is not known.
    func need(threshold: Duration, available: Duration, loadTime: Duration?) -> Duration {
        let usual = min(threshold, max(offset - piece, piece * 2))
        // The next piece is listed.
        guard available < usual + piece else { return usual }
        let load = min(loadTime ?? piece / 4, piece)
        // Who waits for more than is listed at once falls behind the window.
        return min(max(usual, piece + load), max(piece, window - piece))
    }
}
