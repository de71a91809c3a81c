import HLSTime

/// What is waited for at the outputs: the first picture before time runs, the last ones before the end is told.
///
/// Source: docs/behaviour/playback.md.
extension PlaybackEngine {
    /// A decoder that gives nothing does not hold the start for longer.
    static let longestWaitForFirstPicture = Duration.seconds(5)
    /// Nor do outputs that do not come to an end time.
    static let longestWaitForLastPicture = Duration.seconds(1)

    // MARK: Start

    /// Time does not begin to run before the first media is decoded. Who ties it to host time has said when it runs.
    var holdsStart: Bool {
        configuration.seeksAwaitOutputs && configuration.pacing == .realTime && machine.automaticallyWaits
            && item?.hasDecoded == false && item?.trick == nil
    }

    /// Asks the outputs for the first media, once there is some.
    mutating func checkStart() {
        guard holdsStart, let item, item.start != nil, item.isReady, !lastVerdict.isEmpty, item.startPrime == nil,
            item.primeNumber == nil, item.prerollNumber == nil, item.seekTarget == nil
        else { return }
        lastPrime += 1
        let number = lastPrime
        self.item?.startPrime = number
        effects.append(.arm(.firstPicture, at: now + Self.longestWaitForFirstPicture))
        effects.append(.prime(number))
    }

    /// Media at the playhead is decoded, or is waited for no longer.
    mutating func noteFirstDecoded() {
        guard item?.hasDecoded == false else { return }
        item?.hasDecoded = true
        guard item?.startPrime != nil else { return }
        item?.startPrime = nil
        effects.append(.disarm(.firstPicture))
    }

    // MARK: End

    /// Whether the outputs have still to present what is due before an end time.
    mutating func awaitsLastPictures() -> Bool {
        guard configuration.seeksAwaitOutputs, item?.isDrained == false else { return false }
        guard let deadline = item?.endDeadline else {
            let deadline = now + Self.longestWaitForLastPicture
            item?.endDeadline = deadline
            effects.append(.arm(.lastPicture, at: deadline))
            return true
        }
        return now < deadline
    }

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
        if lane.isRequired { item?.undecodable = error }
    }
}
