package import HLSKitPlaylist

extension PlaylistTracker {
    /// The largest difference between the ends of the playlists of one live stream. Dates that give a larger one are
    /// wrong.
    private static let farthestEnd = Duration.seconds(900)

    /// Returns the item time of the first segment of a playlist that accompanies or replaces this one.
    ///
    /// The time follows from dates if they are plausible, otherwise from sequence numbers, otherwise from the ends of
    /// the playlists. Playlists that begin at 0 and have always been complete all start at 0.
    ///
    /// I-frame playlists have separate sequence numbers. They are aligned by dates, otherwise by the first media of
    /// both playlists, otherwise by their ends.
    ///
    /// - Parameter successor: The start to use if neither dates nor numbers give one, if a better value than the common
    ///   end is known.
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

    /// Returns the item time at which another rendition's playlist begins, or nil if it has neither matching dates nor
    /// numbers.
    ///
    /// If dates and numbers disagree, the method prefers the one for which both playlists end at the same time, as
    /// playlists of one live stream do.
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

    /// Returns the distance between the ends of this playlist and another, or nil if either does not grow.
    ///
    /// The end of this playlist includes its estimated growth since it was loaded.
    private func distance(ofEndOf other: MediaPlaylist, from start: Duration, at now: Duration) -> Duration? {
        guard isLive, !other.isComplete else { return nil }
        let last = start + other.duration
        let latest = end + max(.zero, now - lastLoadBegan)
        return last < end ? end - last : max(.zero, last - latest)
    }

    /// Returns the item time at which another variant's playlist begins if its window has moved past all known
    /// segments. Returns nil if the time since the last load is too short for that.
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
