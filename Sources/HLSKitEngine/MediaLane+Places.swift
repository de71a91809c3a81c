import HLSKitSelection

/// Where a lane goes on when something else is to be played than what it has loaded.
extension MediaLane {
    /// Where the lane goes on when the playhead jumps to `target`, and where what is loaded then begins.
    ///
    /// - Parameter isExact: all media from there on is wanted. The last of a segment may be of behind what is listed of it.
    func place(afterJumpTo target: Duration, isExact: Bool = false) -> (cursor: LaneCursor, loadedEnd: Duration) {
        guard let tracker, var index = tracker.entryIndex(containing: max(target, tracker.start)) else {
            return (.sought(target), target)
        }
        if isExact, index > 0, beyond.reaches(target, beyond: tracker.starts[index]) { index -= 1 }
        // A lane whose list begins later has a hole there that nothing fills.
        return (.position(tracker.position(at: index)), min(tracker.starts[index], target))
    }

    /// Where the second segment after the one that is played begins; nil where nothing from there on is loaded.
    func placeToDropFrom(at playhead: Duration) -> Duration? {
        guard let tracker, let playing = tracker.index(containing: max(playhead, tracker.start)),
            playing + 2 < tracker.segmentCount
        else { return nil }
        let end = tracker.starts[playing + 2]
        let isLoaded = segments.contains { $0.job.start >= end } || loadedEnd.map { $0 > end } == true
        return isLoaded ? end : nil
    }
}
