/// The live edge: how near playing comes to it.
///
/// See docs/behaviour/live.md.
extension PlaybackEngine {
    /// The item time beyond which a rate above 1 does not take the playhead: the configured distance from the end of what
    /// is listed, and a segment at least, since nearer than that there would be nothing to go on with. nil while the item
    /// is not live or without pacing, where rates have no meaning.
    private var edge: Duration? {
        guard configuration.pacing == .realTime, timebase.rate > 1, let tracker = item?.lanes[.main]?.tracker,
            tracker.isLive, tracker.segmentCount > 0
        else { return nil }
        return tracker.end - max(liveOffset(of: tracker), tracker.duration(at: tracker.segmentCount - 1))
    }

    /// Playing that was faster has caught up with the stream.
    mutating func checkLiveEdge() {
        guard machine.status == .playing, let edge, playhead >= edge else { return }
        run(.reachedLiveEdge)
    }

    /// When that will be, if nothing new is listed.
    var edgeHostTime: Duration? { edge.flatMap { timebase.hostTime(of: $0) } }
}
