import HLSKitSelection

/// The positions at which a lane continues when playback needs other media than it has loaded.
extension MediaLane {
    /// Returns where the lane continues after a jump to `target`, and the start of its loaded media then.
    ///
    /// - Parameter isExact: Whether all media from `target` is needed. The media of a segment may end later than
    ///   listed.
    func place(afterJumpTo target: Duration, isExact: Bool = false) -> (cursor: LaneCursor, loadedEnd: Duration) {
        guard let tracker, var index = tracker.entryIndex(containing: max(target, tracker.start)) else {
            return (.sought(target), target)
        }
        if isExact, index > 0, beyond.reaches(target, beyond: tracker.starts[index]) { index -= 1 }
        // If the lane's playlist begins later, the media before that does not exist.
        return (.position(tracker.position(at: index)), min(tracker.starts[index], target))
    }

    /// Returns the start of the second segment after the current one, or nil if nothing is loaded there.
    func placeToDropFrom(at playhead: Duration) -> Duration? {
        guard let tracker, let playing = tracker.index(containing: max(playhead, tracker.start)),
            playing + 2 < tracker.segmentCount
        else { return nil }
        let end = tracker.starts[playing + 2]
        let isLoaded = segments.contains { $0.job.start >= end } || loadedEnd.map { $0 > end } == true
        return isLoaded ? end : nil
    }
}
