package import HLSKitPlaylist

/// Lists of one item laid side by side.
extension PlaylistTracker {
    /// The item time of the first segment of a list that is presented with this one, or in its place: by dates, else by
    /// sequence numbers, else by their ends. Lists that begin at 0, and have always been whole, all do.
    ///
    /// I-frames have numbers of their own: their list is laid beside this one by dates; where there are none, by what both
    /// begin with, or else by their ends.
    ///
    /// - Parameter successor: where it begins if neither dates nor numbers tell, where that is known better than by its end.
    package func start(of other: MediaPlaylist, successor: @autoclosure () -> Duration? = nil) -> Duration {
        guard !other.hasEndList || beganLive || start != .zero else { return .zero }
        if other.isIFramesOnly != written.isIFramesOnly { return start(ofIFrames: other) }
        return start(ofNeighbor: other) ?? successor() ?? end - other.duration
    }

    private func start(ofIFrames other: MediaPlaylist) -> Duration {
        if let there = other.segments.first?.derivedProgramDateTime,
            let here = written.segments.first?.derivedProgramDateTime
        {
            return start + (there - here)
        }
        let areWhole = written.playlistType == .event && other.playlistType == .event
        return areWhole ? start : end - other.duration
    }

    /// The item time at which another rendition's list begins: by dates, else by sequence numbers; nil where neither
    /// tells.
    package func start(ofNeighbor other: MediaPlaylist) -> Duration? {
        if let there = other.segments.first?.derivedProgramDateTime,
            let here = written.segments.first?.derivedProgramDateTime
        {
            return start + (there - here)
        }
        let distance = other.mediaSequence &- written.mediaSequence &- renumbering
        if distance >= 0, distance < segmentStarts.count { return segmentStarts[distance] }
        guard distance < 0, distance >= -other.segments.count else { return nil }
        return start - other.segments.prefix(-distance).reduce(.zero) { $0 + $1.duration }
    }

    /// The item time at which the list of another variant begins whose window has moved past all that is known of this
    /// one, as far as time allows that.
    package func start(ofSuccessor other: MediaPlaylist, at now: Duration) -> Duration? {
        guard isLive else { return nil }
        let end = writtenEnd
        let (distance, overflow) = other.mediaSequence.subtractingReportingOverflow(end)
        let target = pacingTarget
        guard !overflow, (1...100_000).contains(distance), target * distance <= now - lastLoadBegan + target * 2 else {
            return nil
        }
        return self.end + target * distance
    }
}
