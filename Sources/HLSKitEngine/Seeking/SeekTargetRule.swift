import HLSKitLoading
import HLSKitPlaylist
import HLSKitSelection
import HLSKitTime

/// Converts the destination of a seek to an item time and chooses where the seek lands.
struct SeekTargetRule: Sendable {
    /// The regular playlist, even during I-frame playback.
    let tracker: PlaylistTracker
    var liveOffset = Duration.zero
    var held = HeldMedia()
    var showsIFrames = false

    // MARK: Places

    /// Returns the item time of a destination, or nil if it is outside the seekable range.
    func time(of destination: SeekRequest.Destination) -> Duration? {
        switch destination {
        case .edge:
            guard tracker.isLive else { return held.end ?? tracker.end }
            return max(tracker.seekableStart, tracker.end - liveOffset)
        case .date(let date): return tracker.time(of: date)
        case .time(let time):
            // An end time that the app sets may be later than the edge of a live stream.
            guard time <= (tracker.isLive ? tracker.end : max(tracker.end, held.end ?? .zero)) else { return nil }
            let start = tracker.seekableStart
            if time >= start { return time }
            // The window may have moved after the caller read its start.
            return tracker.isLive && start - time <= tracker.pacingTarget ? start : nil
        }
    }

    // MARK: Landings

    func landing(for request: SeekRequest, at target: Duration, _ syncSamples: SyncIndex) -> SeekTarget {
        // Nothing is presented after an end time that is set.
        let target = min(target, held.end ?? target)
        let tolerance = request.tolerance
        // I-frame playback shows the frame at the target.
        if showsIFrames { return .segmentStart(target) }
        if tolerance.isZero { return .exact(target) }
        if tolerance.isUnlimited {
            // Choose the landing that shows a frame soonest.
            let reach = tracker.pacingTarget
            let sync = syncSamples.landing(for: target) { abs($0 - target) <= reach && held.reaches($0) }
            if let sync { return .sync(sync) }
            return held.reaches(target) ? .exact(target) : unheldLanding(for: request, at: target)
        }
        guard held.reaches(target) else { return unheldLanding(for: request, at: target) }
        return held.landing(at: target, tolerance, syncSamples)
    }

    /// Returns the landing of a seek before the item has a start position, or nil if there is none.
    func firstLanding(for request: SeekRequest) -> SeekTarget? {
        var target = time(of: request.destination)
        if target == nil, case .time(let time) = request.destination {
            target = min(max(time, tracker.start), tracker.end)
        }
        return target.map { unheldLanding(for: request, at: $0) }
    }

    private func unheldLanding(for request: SeekRequest, at target: Duration) -> SeekTarget {
        if request.tolerance.isZero { return .exact(target) }
        guard request.tolerance.isUnlimited else { return .undecided(near: target) }
        guard let index = tracker.entryIndex(containing: target), tracker.starts[index] >= .zero else {
            return .exact(target)
        }
        return .segmentStart(tracker.starts[index])
    }
}

/// Loaded media that can be presented again.
struct HeldMedia: Sendable, Hashable {
    var ranges: [Range<Duration>] = []
    var end: Duration?
    /// The minimum amount of media that can be presented.
    var shortest = Duration.zero

    /// Returns whether playback can continue at an item time.
    func reaches(_ time: Duration) -> Bool {
        guard time >= .zero else { return false }
        let end = end ?? .seconds(Int64.max)
        return ranges.contains { range in
            (range.contains(time) || time == end && time == range.upperBound)
                && min(time + shortest, end) <= range.upperBound
        }
    }

    func landing(at target: Duration, _ tolerance: SeekRequest.Tolerance, _ syncSamples: SeekTargetRule.SyncIndex)
        -> SeekTarget
    {
        syncSamples.landing(for: target) { tolerance.allows($0, for: target) && reaches($0) }.map(SeekTarget.sync)
            ?? .exact(target)
    }
}

extension PlaylistTracker {
    func time(of date: PlaylistDate) -> Duration? {
        for (index, segment) in playlist.segments.enumerated() {
            guard let start = segment.derivedProgramDateTime else { continue }
            let offset = date - start
            if offset >= .zero, offset < duration(at: index) { return starts[index] + offset }
        }
        return nil
    }
}

// MARK: - Landing

/// The position at which media is presented after a seek.
package enum SeekTarget: Sendable, Hashable {
    /// At exactly this item time. Its frame is decoded from the previous sync sample.
    case exact(Duration)
    /// At a sync sample of the video or at the start of any sample.
    case sync(Duration)
    /// At the start of a segment, with its first sample.
    case segmentStart(Duration)
    /// Near this item time. Once media is available, the exact position is chosen. Nothing is read before that.
    case undecided(near: Duration)

    package var time: Duration {
        switch self {
        case .exact(let time), .sync(let time), .segmentStart(let time), .undecided(let time): time
        }
    }

    /// The item time before which media is decoded and dropped.
    package var floor: Duration? {
        switch self {
        case .exact(let time), .sync(let time): time
        case .segmentStart, .undecided: nil
        }
    }
}

// MARK: - Sync samples

extension SeekTargetRule {
    /// The item times of the loaded frames at which decoding can start, in order.
    struct SyncIndex: Sendable, Hashable {
        private(set) var times: [Duration] = []

        mutating func insert(_ new: [Duration]) {
            for time in new {
                // They usually arrive in order.
                var index = times.endIndex
                while index > 0, times[index - 1] > time { index -= 1 }
                if index > 0, times[index - 1] == time { continue }
                times.insert(time, at: index)
            }
        }

        mutating func removeAll(before time: Duration) {
            times.removeAll { $0 < time }
        }

        mutating func removeAll(from time: Duration) {
            times.removeAll { $0 >= time }
        }

        mutating func removeAll() {
            times.removeAll()
        }

        /// The latest allowed time up to `target` or, if there is none, the earliest allowed time after it.
        func landing(for target: Duration, where allows: (Duration) -> Bool) -> Duration? {
            times.last { $0 <= target && allows($0) } ?? times.first { $0 > target && allows($0) }
        }
    }
}

// MARK: - Anchors

extension SeekTargetRule {
    /// The range of item times that can be anchored to host time.
    struct AnchorBounds: Sendable, Hashable {
        private(set) var start = Duration.zero
        /// The end, or nil while it is unknown.
        private(set) var end: Duration?

        /// - Parameter effectiveEnd: The end of playback, if it is known.
        init(in tracker: PlaylistTracker?, effectiveEnd: Duration?) {
            guard let tracker else { return }
            start = tracker.seekableStart
            let end = effectiveEnd ?? tracker.end
            self.end = max(start, tracker.isLive ? min(end, tracker.end) : end)
        }

        /// Returns the anchor, moved into the range of existing media.
        ///
        /// Outside the range, time waits until it leads into the range. If it leads away from the range, it stops at
        /// the bound.
        func keep(
            _ anchor: TimeControlMachine.TimebaseAnchor, rate: Float, at now: Duration
        ) -> TimeControlMachine.TimebaseAnchor {
            var anchor = anchor
            guard rate.isFinite, rate != 0 else {
                anchor.itemTime = within(anchor.itemTime)
                return anchor
            }
            let wait = (within(anchor.itemTime) - anchor.itemTime).seconds / Double(rate)
            if wait > 0 { anchor.hostTime += .seconds(min(wait, 1e9)) }
            anchor.itemTime = within(anchor.itemTime)
            let time = TimebaseState(itemTime: anchor.itemTime, hostTime: anchor.hostTime, rate: Double(rate))
                .itemTime(at: now)
            return time == within(time) ? anchor : .init(itemTime: within(time), hostTime: now)
        }

        private func within(_ time: Duration) -> Duration { min(max(time, start), end ?? max(time, start)) }
    }
}
