/// The amount of media required ahead before a live stream resumes after a stall.
///
/// Near the edge, only the next listed segment can be loaded, and it takes as long to appear as it lasts. Playback that
/// resumes with one segment would stall again after each segment.
struct LiveReserve: Sendable, Hashable {
    /// The maximum duration of the next listed piece: the longest segment or the part target duration.
    var piece: Duration
    /// The distance from the edge at which to play.
    var offset: Duration
    var window: Duration

    /// Returns the media required ahead at rate 1.
    ///
    /// - Parameters:
    ///   - threshold: The amount of media that is enough if only loading takes time.
    ///   - available: The media listed ahead of the playhead.
    ///   - loadTime: The time to load the next piece, or nil if unknown.
    func need(threshold: Duration, available: Duration, loadTime: Duration?) -> Duration {
        let usual = min(threshold, max(offset - piece, piece * 2))
        // The next piece is already listed.
        guard available < usual + piece else { return usual }
        let load = min(loadTime ?? piece / 4, piece)
        // Waiting for more media than the window lists would fall behind the window.
        return min(max(usual, piece + load), max(piece, window - piece))
    }
}
