import HLSKitSelection

extension MediaLane {
    /// Returns whether a segment that a server lacks may become available.
    func mayComeLater(_ flight: SegmentInFlight, hasAlternative: Bool) -> Bool {
        guard let tracker, let index = tracker.index(of: flight.position) else { return false }
        // Parts are listed only when they are available.
        if flight.position.part != nil, hasAlternative { return false }
        // Without an alternative, a server that temporarily lacks a listed segment is asked again.
        return tracker.isAtEdge(index) || !hasAlternative && tracker.isLive
    }

    func hasLeftPlaylist(of flight: SegmentInFlight) -> Bool { flight.playlistURL != playlistURL }

    func hasWhole(of flight: SegmentInFlight) -> Bool {
        !hasLeftPlaylist(of: flight) && tracker?.listsWhole(flight.position) == true
    }

    /// Returns the part that waits for another attempt although its full segment is available.
    ///
    /// - Parameter hasFailed: Returns whether both attempts for a segment have failed.
    func partToReplace(_ hasFailed: (SegmentInFlight) -> Bool) -> SegmentInFlight? {
        segments.first { !$0.isLoaded && $0.request == nil && !$0.isParked && hasWhole(of: $0) && hasFailed($0) }
    }

    /// Loads the full segment instead of this part and the parts after it.
    mutating func loadWhole(insteadOf part: SegmentPosition) {
        playlist.loadWhole(part)
        // The position uses the segment's number because its rest may be too short for a lookup by time.
        move(to: .position(part))
    }

    /// Whether everything requested before the URL expired was read.
    var isAtEndOfURL: Bool { playlist.hasRunOut && segments.isEmpty }

    struct Abandoned: Sendable {
        /// Last first. In the opposite order, the segment after a dropped one would be read immediately.
        var flights: [SegmentInFlight]
        /// The end of the media read before it. Ranges skipped after this time are dropped too.
        var end: Duration
    }

    /// Abandons a segment and all later ones.
    ///
    /// - Returns: The abandoned part, or nil if there are no such segments.
    mutating func abandon(from segment: SegmentID) -> Abandoned? {
        let flights = segments.remove { $0.id >= segment }
        guard let first = flights.first else { return nil }
        let end = first.demuxedUpTo ?? first.job.start
        if first.demuxedUpTo == nil { shorten(to: end) } else { setLoadedEnd(end) }
        return Abandoned(flights: flights.reversed(), end: end)
    }
}

extension ItemState {
    /// Returns a lane's first segment that will not arrive after loading has ended.
    ///
    /// Maps and keys that are still loading count as available.
    func firstMissing(in id: LaneID) -> SegmentID? {
        lanes[id]?.segments.first { flight in
            !flight.isLoaded || flight.job.resources.contains { resources[$0, id] == .waitingForRetry }
        }?.id
    }
}
