import HLSKitSelection

/// Segments of a lane that fail, and those that are given up.
extension MediaLane {
    /// Whether a segment that a server does not have may come yet.
    ///
    /// - Parameter hasAlternative: it may be had elsewhere.
    func mayComeLater(_ flight: SegmentInFlight, hasAlternative: Bool) -> Bool {
        guard let tracker, let index = tracker.index(of: flight.position) else { return false }
        // Parts are listed when they are there.
        if flight.position.part != nil, hasAlternative { return false }
        // Where it cannot be had elsewhere, a server that forgets for a moment what it lists is asked again.
        return tracker.isAtEdge(index) || !hasAlternative && tracker.isLive
    }

    /// The lane goes on with another playlist already.
    func hasLeftPlaylist(of flight: SegmentInFlight) -> Bool { flight.playlistURL != playlistURL }

    /// The segment can be loaded in the place of a part of it.
    func hasWhole(of flight: SegmentInFlight) -> Bool {
        !hasLeftPlaylist(of: flight) && tracker?.listsWhole(flight.position) == true
    }

    /// The part that waits for another try, and can be had with its segment now.
    ///
    /// - Parameter hasFailed: what was asked for twice.
    func partToReplace(_ hasFailed: (SegmentInFlight) -> Bool) -> SegmentInFlight? {
        segments.first { !$0.isLoaded && $0.request == nil && !$0.isParked && hasWhole(of: $0) && hasFailed($0) }
    }

    /// The segment is loaded in the place of a part of it, and of those behind that.
    mutating func loadWhole(insteadOf part: SegmentPosition) {
        playlist.loadWhole(part)
        // By its number: what is left of the segment may be too little for a time.
        move(to: .position(part))
    }

    /// All was read that was asked for before its URL ran out.
    var isAtEndOfURL: Bool { playlist.hasRunOut && segments.isEmpty }

    /// What is given up of a lane.
    struct Abandoned: Sendable {
        /// From the end: whatever follows a segment that is let go would be read at once.
        var flights: [SegmentInFlight]
        /// Where what was read of them ends. What was passed over behind it goes with it.
        var end: Duration
    }

    /// Gives a segment up, and those that come after it.
    ///
    /// - Returns: nil where there is none of them.
    mutating func abandon(from segment: SegmentID) -> Abandoned? {
        let flights = segments.remove { $0.id >= segment }
        guard let first = flights.first else { return nil }
        let end = first.demuxedUpTo ?? first.job.start
        if first.demuxedUpTo == nil { shorten(to: end) } else { setLoadedEnd(end) }
        return Abandoned(flights: flights.reversed(), end: end)
    }
}

extension ItemState {
    /// The first segment of a lane that does not come once loading cannot go on, but for maps and keys that are on their
    /// way.
    func firstMissing(in id: LaneID) -> SegmentID? {
        lanes[id]?.segments.first { flight in
            !flight.isLoaded || flight.job.resources.contains { resources[$0, id] == .waitingForRetry }
        }?.id
    }
}
