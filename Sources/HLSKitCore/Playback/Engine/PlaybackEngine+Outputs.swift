import HLSTime

/// What is waited for at the outputs: the first picture before time runs, the last ones before the end is told.
///
/// Source: docs/behaviour/playback.md.
extension PlaybackEngine {
    /// A decoder that gives nothing does not hold the start for longer.
    static let longestWaitForFirstPicture = Duration.seconds(5)

    // MARK: Start

    /// Time does not begin to run before the first media is decoded. Who ties it to host time has said when it runs.
    var holdsStart: Bool {
        configuration.seeksAwaitOutputs && configuration.pacing == .realTime && machine.automaticallyWaits
            && item?.seek.hasDecodedFirst == false && item?.trick == nil
    }

    /// Asks the outputs for the first media, once there is some.
    mutating func checkStart() {
        guard holdsStart, let item, item.start != nil, item.isReady, !lastVerdict.isEmpty, item.seek.mayAskForFirst
        else { return }
        effects.append(.arm(.firstPicture, at: now + Self.longestWaitForFirstPicture))
        let number = prime()
        self.item?.seek.askForFirst(number)
    }

    /// Media at the playhead is decoded, or is waited for no longer.
    mutating func noteFirstDecoded() {
        guard item?.seek.hasDecodedFirst == false, item?.seek.noteFirstDecoded() == true else { return }
        effects.append(.disarm(.firstPicture))
    }

    // MARK: End

    /// Of the segment behind an end time, no more is read than the sound that is before it.
    mutating func endSound(_ flight: SegmentInFlight, demuxedUpTo time: Duration) {
        let id = flight.id.lane
        guard let end = item?.forwardEnd, flight.job.start >= end, time >= end else { return }
        cancel(flight)
        item?.lanes[id]?.segments.remove(flight.id)
        item?.lanes[id]?.extend(to: end)
        complete(id)
    }

    // MARK: Nothing

    /// Nothing of a kind of media comes out of its decoder.
    mutating func noteUndecodable(_ id: LaneID, _ error: PlayerError, isAll: Bool) {
        guard let lane = item?.lanes[id], item?.error == nil else { return }
        var error = error
        error.url = error.url ?? lane.playlistURL
        guard isAll else { return effects.append(.publish(.recoverableError(error))) }
        if lane.isRequired { item?.end.noteUndecodable(error) }
    }
}
