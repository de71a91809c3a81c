import HLSKitLoading
import HLSKitPlaylist
import HLSKitSelection

/// Says which item time the destination of a seek is, and where the seek lands.
///
/// See docs/behaviour/seeking.md.
struct LandingRule: Sendable {
    /// The playlist of what is played, also while I-frames are.
    let tracker: PlaylistTracker
    /// The distance from the live edge at which to play.
    var liveOffset = Duration.zero
    var held = HeldMedia()
    /// I-frames are played in the place of media.
    var showsIFrames = false

    // MARK: Places

    /// The item time of a destination; nil where it is outside of what can be sought in.
    func time(of destination: SeekRequest.Destination) -> Duration? {
        switch destination {
        case .edge:
            guard tracker.isLive else { return held.end ?? tracker.end }
            return max(tracker.seekableStart, tracker.end - liveOffset)
        case .date(let date): return tracker.time(of: date)
        case .time(let time):
            guard time <= max(tracker.end, held.end ?? .zero) else { return nil }
            let start = tracker.seekableStart
            if time >= start { return time }
            // The window may have moved since the caller read where it begins.
            return tracker.isLive && start - time <= tracker.pacingTarget ? start : nil
        }
    }

    // MARK: Landings

    /// Where a seek to `target` lands.
    func landing(for request: SeekRequest, at target: Duration, _ syncSamples: SyncIndex) -> Landing {
        // Nothing is presented behind an end time that is set.
        let target = min(target, held.end ?? target)
        let tolerance = request.tolerance
        // Of pictures the one is shown that is on there.
        if showsIFrames { return .segmentStart(target) }
        if tolerance.isZero { return .exact(target) }
        if tolerance.isUnlimited {
            // The nearest way to a picture.
            let reach = tracker.pacingTarget
            let sync = syncSamples.landing(for: target) { abs($0 - target) <= reach && held.reaches($0) }
            if let sync { return .sync(sync) }
            return held.reaches(target) ? .exact(target) : unheldLanding(for: request, at: target)
        }
        guard held.reaches(target) else { return unheldLanding(for: request, at: target) }
        return held.landing(at: target, tolerance, syncSamples)
    }

    /// Where a seek lands for which an item waits that has no place to start at yet; nil where it can go nowhere.
    func firstLanding(for request: SeekRequest) -> Landing? {
        var target = time(of: request.destination)
        if target == nil, case .time(let time) = request.destination {
            target = min(max(time, tracker.start), tracker.end)
        }
        return target.map { unheldLanding(for: request, at: $0) }
    }

    private func unheldLanding(for request: SeekRequest, at target: Duration) -> Landing {
        if request.tolerance.isZero { return .exact(target) }
        guard request.tolerance.isUnlimited else { return .undecided(near: target) }
        guard let index = tracker.entryIndex(containing: target), tracker.starts[index] >= .zero else {
            return .exact(target)
        }
        return .segmentStart(tracker.starts[index])
    }
}

/// Media that is loaded and can be presented once more.
struct HeldMedia: Sendable, Hashable {
    /// Where all lanes have media.
    var ranges: [Range<Duration>] = []
    /// Where playing ends; nil while that is not known.
    var end: Duration?
    /// Less media than this is not enough to present.
    var shortest = Duration.zero

    /// Whether presenting can go on at an item time.
    func reaches(_ time: Duration) -> Bool {
        guard time >= .zero else { return false }
        let end = end ?? .seconds(Int64.max)
        return ranges.contains { range in
            (range.contains(time) || time == end && time == range.upperBound)
                && min(time + shortest, end) <= range.upperBound
        }
    }

    /// Where a seek lands whose target is held.
    func landing(at target: Duration, _ tolerance: SeekRequest.Tolerance, _ syncSamples: SyncIndex) -> Landing {
        syncSamples.landing(for: target) { tolerance.allows($0, for: target) && reaches($0) }.map(Landing.sync)
            ?? .exact(target)
    }
}

extension PlaylistTracker {
    /// The item time that bears this date; nil where none does.
    func time(of date: PlaylistDate) -> Duration? {
        for (index, segment) in playlist.segments.enumerated() {
            guard let start = segment.derivedProgramDateTime else { continue }
            let offset = date - start
            if offset >= .zero, offset < duration(at: index) { return starts[index] + offset }
        }
        return nil
    }
}
