import HLSPlaylist
import HLSTime

/// The distance from the live edge: which one would do, and keeping it.
///
/// See docs/behaviour/live.md.
extension PlaybackEngine {
    /// The distance from the live edge to play at; nil for an item that is not live or not known yet.
    var configuredLiveOffset: Duration? {
        guard let tracker = item?.lanes[.main]?.tracker, tracker.isLive else { return nil }
        return liveOffset(of: tracker)
    }

    /// The distance with which playback would probably not stall: one target duration more for each stall of late.
    var recommendedLiveOffset: Duration? {
        guard let tracker = item?.lanes[.main]?.tracker, tracker.isLive else { return nil }
        return item?.liveOffset.recommendation(
            configured: liveOffset(of: tracker), target: tracker.pacingTarget, window: tracker.end - tracker.start,
            at: now)
    }

    /// Tells of a recommendation that has changed.
    mutating func checkRecommendedOffset() {
        guard outlook?.isLive == true, let recommended = recommendedLiveOffset,
            item?.liveOffset.isNews(recommended) == true, item?.liveOffset.recommend(recommended) == true
        else { return }
        effects.append(.publish(.recommendedTimeOffsetFromLiveChanged(MediaTime(recommended))))
    }

    mutating func noteStallOfLive() {
        guard outlook?.isLive == true else { return }
        let now = now
        item?.liveOffset.stall(at: now)
    }

    // MARK: Keeping the distance

    /// A wait began or ended.
    mutating func noteWait(from old: TimeControlStatus, to new: TimeControlStatus, at time: Duration) {
        guard preferences.automaticallyPreservesTimeOffsetFromLive, outlook?.isLive == true, old != new else { return }
        if new == .waitingToPlayAtSpecifiedRate {
            let distance = item?.start == nil ? nil : distanceFromEdge(of: time)
            item?.liveOffset.hold(distance)
        } else if old == .waitingToPlayAtSpecifiedRate, new == .playing, item?.liveOffset.isHeld == true {
            item?.liveOffset.resume()
        }
    }

    /// A seek has brought the playhead elsewhere: that is the distance that is wanted now.
    mutating func noteMove(to time: Duration) {
        guard item?.liveOffset.isHeld == true else { return }
        let distance = item?.seek.request?.isOwn == true ? nil : distanceFromEdge(of: time)
        item?.liveOffset.hold(distance)
    }

    private func distanceFromEdge(of time: Duration) -> Duration? {
        item?.lanes[.main]?.tracker.map { $0.end - time }
    }

    /// Skips what a wait has cost.
    mutating func checkLiveOffset() {
        guard item?.liveOffset.hasWaited == true else { return }
        guard let held = item?.liveOffset.take(), let tracker = item?.lanes[.main]?.tracker, tracker.isLive,
            machine.status == .playing, item?.seek.isUnderWay == false
        else { return }
        let target = max(tracker.start, tracker.end - held)
        // Less than that is not worth a jump.
        guard target - playhead > configuration.buffering.maxGapJump else { return }
        seek(SeekRequest(destination: .time(target), isOwn: true))
    }
}

extension PlaylistTracker {
    /// The date of the media at an item time; nil where nothing tells.
    func date(at time: Duration) -> PlaylistDate? {
        let last = segmentCount - 1
        guard last >= 0, let index = time == end ? last : index(containing: time), time >= start,
            let date = playlist.segments[index].derivedProgramDateTime
        else { return nil }
        return date + (time - starts[index])
    }
}
