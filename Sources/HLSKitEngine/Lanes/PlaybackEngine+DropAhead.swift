import HLSKitSelection

/// Dropping loaded media to load it again from another variant.
extension PlaybackEngine {
    /// Drops media that is not of the pinned variant, but keeps one segment after the playing one.
    mutating func flushForPin() {
        guard case .pinned(let id, flush: true) = preferences.variantPolicy, item?.variant?.id != id,
            item?.candidates.contains(where: { $0.id == id }) == true
        else { return }
        dropAhead()
    }

    /// Drops the variant's loaded media, but keeps one segment after the playing one.
    mutating func dropAhead() {
        guard item?.trick == nil, item?.start != nil, item?.error == nil, item?.pendingFailure == nil,
            let end = item?.lanes[.main]?.placeToDropFrom(at: playhead)
        else { return }
        let beyond = item?.lanes[.main]?.segments.remove { $0.job.start >= end } ?? []
        for flight in beyond.reversed() { cancel(flight) }
        let wasComplete = item?.lanes[.main]?.begin(.cut(end), at: .time(end)) ?? false
        item?.extent.reopen()
        item?.variants.decideAgain()
        item?.seek.forgetSyncSamples(from: end)
        buffer.removeMedia(from: end, in: .video)
        effects.append(.truncate(.main, from: end))
        guard wasComplete else { return }
        buffer.markEnd(of: .video, false)
        effects.append(.reopenLane(.main))
        followPlaylist(of: .main)
    }
}
