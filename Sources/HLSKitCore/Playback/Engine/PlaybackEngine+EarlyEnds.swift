/// Media that ends before its playlist says, where an end time is set.
extension PlaybackEngine {
    /// The segment that holds the end time ended before it: a part of a file, say, which goes up to a picture that
    /// decoding can start at, wherever that is. What is wanted lies in the next.
    ///
    /// - Parameter index: of the next segment, which is listed behind the end time.
    func endsTooEarly(_ lane: MediaLane, before end: Duration, at index: Int) -> Bool {
        guard lane.id != .subtitles, lane.segments.isEmpty, index > 0, let tracker = lane.tracker,
            tracker.starts[index - 1] < end, let loadedEnd = lane.loadedEnd, loadedEnd > tracker.starts[index - 1]
        else { return false }
        return end - loadedEnd > min(Self.worthLoading, configuration.buffering.maxGapJump)
    }

    /// Less media than this before an end time is not worth another segment.
    private static let worthLoading: Duration = .milliseconds(100)
}
