import HLSTime

/// What there is to present near an end, and what cannot be presented.
///
/// Source: docs/behaviour/playback.md.
extension PlaybackEngine {
    /// Of the segment behind an end time, no more is read than the sound that is before it.
    mutating func endSound(_ flight: SegmentInFlight, demuxedUpTo time: Duration) {
        let id = flight.id.lane
        guard let end = item?.forwardEnd, flight.job.start >= end, time >= end else { return }
        cancel(flight)
        item?.lanes[id]?.segments.remove(flight.id)
        item?.lanes[id]?.extend(to: end)
        complete(id)
    }

    /// Nothing of a kind of media comes out of its decoder.
    mutating func noteUndecodable(_ id: LaneID, _ error: PlayerError, isAll: Bool) {
        guard let lane = item?.lanes[id], item?.error == nil else { return }
        var error = error
        error.url = error.url ?? lane.playlistURL
        guard isAll else { return effects.append(.publish(.recoverableError(error))) }
        if lane.isRequired { item?.end.noteUndecodable(error) }
    }
}
