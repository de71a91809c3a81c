/// Getting pictures ready before time runs, going through them one by one, and loading them anew from another variant.
///
/// See docs/behaviour/seeking.md.
extension PlaybackEngine {
    // MARK: Pinning

    /// Drops what is loaded from another variant than the one that was pinned, but for a segment after the one that is
    /// played.
    mutating func flushForPin() {
        guard case .pinned(let index, flush: true) = preferences.variantPolicy, let item, item.variantIndex != index,
            item.candidates.contains(where: { $0.index == index })
        else { return }
        dropAhead()
    }

    /// Drops what is loaded of the variant, but for a segment after the one that is played.
    mutating func dropAhead() {
        guard let item, item.trick == nil, item.start != nil, item.error == nil, item.pendingFailure == nil,
            let lane = item.lanes[.main],
            let tracker = lane.tracker,
            let playing = tracker.index(containing: max(playhead, tracker.start)), playing + 2 < tracker.segmentCount
        else { return }
        let end = tracker.starts[playing + 2]
        guard lane.segments.contains(where: { $0.job.start >= end }) || lane.loadedEnd.map({ $0 > end }) == true else {
            return
        }
        let beyond = self.item?.lanes[.main]?.segments.remove { $0.job.start >= end } ?? []
        for flight in beyond.reversed() { cancel(flight) }
        let wasComplete = self.item?.lanes[.main]?.begin(.cut(end), at: .time(end)) ?? false
        self.item?.mediaEnd = nil
        self.item?.variants.decideAgain()
        self.item?.seek.forgetSyncSamples(from: end)
        buffer.removeMedia(from: end, in: .video)
        effects.append(.truncate(.main, from: end))
        guard wasComplete else { return }
        buffer.markEnd(of: .video, false)
        effects.append(.reopenLane(.main))
        followPlaylist(of: .main)
    }
}
