package import HLSKitPlaylist

/// Lists of one item laid side by side.
extension PlaylistTracker {
    /// Lists of one live stream end within this much of each other. Dates that say otherwise are wrong.
    private static let farthestEnd = Duration.seconds(900)

    /// The item time of the first segment of a list that is presented with this one, or in its place: by dates while they make
    /// sense, else by sequence numbers, else by their ends. Lists that begin at 0, and have always been whole, all do.
    ///
    /// I-frames have numbers of their own: their list is laid beside this one by dates; where there are none, by what both
    /// begin with, or else by their ends.
    ///
    /// - Parameter successor: where it begins if neither dates nor numbers tell, where that is known better than by its end.
    package func start(
        of other: MediaPlaylist, at now: Duration, successor: @autoclosure () -> Duration? = nil
    ) -> Duration {
        guard !other.isComplete || beganLive || start != .zero else { return .zero }
        if other.isIFramesOnly != written.isIFramesOnly { return start(ofIFrames: other, at: now) }
        return start(ofNeighbor: other, at: now) ?? successor() ?? end - other.duration
    }

    private func start(ofIFrames other: MediaPlaylist, at now: Duration) -> Duration {
        if let start = start(byDatesOf: other, at: now) { return start }
        let areWhole = written.playlistType == .event && other.playlistType == .event
        return areWhole ? start : end - other.duration
    }

    /// The item time at which another rendition's list begins: by dates, else by sequence numbers; nil where neither
    /// tells. Where they disagree, that counts by which the lists end at the same time, as those of one live stream do.
    package func start(ofNeighbor other: MediaPlaylist, at now: Duration) -> Duration? {
        let byNumbers = start(byNumbersOf: other)
        guard let byDates = start(byDatesOf: other, at: now) else { return byNumbers }
        guard let byNumbers, let distance = distance(ofEndOf: other, from: byDates, at: now),
            let other = self.distance(ofEndOf: other, from: byNumbers, at: now)
        else { return byDates }
        return distance > pacingTarget * 1.5 && other < distance - pacingTarget / 2 ? byNumbers : byDates
    }

    private func start(byDatesOf other: MediaPlaylist, at now: Duration) -> Duration? {
        guard let there = other.segments.first?.derivedProgramDateTime,
            let here = written.segments.first?.derivedProgramDateTime
        else { return nil }
        let start = start + (there - here)
        return distance(ofEndOf: other, from: start, at: now).map { $0 > Self.farthestEnd } ?? false ? nil : start
    }

    private func start(byNumbersOf other: MediaPlaylist) -> Duration? {
        let distance = other.mediaSequence &- written.mediaSequence &- renumbering
        if distance >= 0, distance < segmentStarts.count { return segmentStarts[distance] }
        guard distance < 0, distance >= -other.segments.count else { return nil }
        return start - other.segments.prefix(-distance).reduce(.zero) { $0 + $1.duration }
    }

    /// How far from the end of this list, which has grown since it was loaded, another ends that begins there; nil for lists
    /// that do not grow.
    private func distance(ofEndOf other: MediaPlaylist, from start: Duration, at now: Duration) -> Duration? {
        guard isLive, !other.isComplete else { return nil }
        let last = start + other.duration
        let latest = end + max(.zero, now - lastLoadBegan)
        return last < end ? end - last : max(.zero, last - latest)
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
