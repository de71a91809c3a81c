import HLSTime

/// A process that was stopped, or a machine that slept.
///
/// Source: docs/behaviour/live.md.
extension PlaybackEngine {
    /// While a live stream is played, something happens more often than this.
    private static let longestSilence = Duration.seconds(5)

    /// Time does not go on beyond the media that there was while nobody was awake to stop it there: what comes next would
    /// be waited for as long as the stop was. Called with the time of an event, before that is handled.
    mutating func holdTime(until time: Duration) {
        guard time - now > Self.longestSilence, configuration.pacing == .realTime, timebase.rate > 0,
            item?.isLive == true, item?.trick == nil
        else { return }
        let before = playhead
        let loaded = buffer.loadedTimeRanges().last { $0.lowerBound <= before }
        let end = max(before, loaded?.upperBound ?? before)
        guard timebase.itemTime(at: time) > end else { return }
        setTimebase(TimebaseState(itemTime: end, hostTime: time, rate: timebase.rate), watchedFrom: before)
    }
}
