import HLSKitMedia
import HLSKitSelection

extension MediaLane {
    /// Returns where the lane continues after a jump to `target`, and the start of its loaded media then.
    ///
    /// - Parameter isExact: Whether all media from `target` is needed. The media of a segment may end later than
    ///   listed.
    func place(afterJumpTo target: Duration, isExact: Bool = false) -> (cursor: LaneCursor, loadedEnd: Duration) {
        guard let tracker, var index = tracker.entryIndex(containing: max(target, tracker.start)) else {
            return (.sought(target), target)
        }
        if isExact, index > 0, overhang.reaches(target, after: tracker.starts[index]) { index -= 1 }
        // If the lane's playlist begins later, the media before that does not exist.
        return (.position(tracker.position(at: index)), min(tracker.starts[index], target))
    }

    /// Returns where the lane continues with the segment before the one at `start`, and the start of its media.
    func place(beforeSegmentAt start: Duration) -> (cursor: LaneCursor, loadedEnd: Duration) {
        guard let tracker, let index = tracker.entryIndex(containing: max(start, tracker.start)) else {
            return (.sought(start), start)
        }
        let earlier = max(0, index - 1)
        return (.position(tracker.position(at: earlier)), tracker.starts[earlier])
    }

    /// Returns the start of the second segment after the current one, or nil if nothing is loaded there.
    func placeToDropFrom(at playhead: Duration) -> Duration? {
        guard let tracker, let playing = tracker.index(containing: max(playhead, tracker.start)),
            playing + 2 < tracker.segmentCount
        else { return nil }
        let end = tracker.starts[playing + 2]
        let isLoaded = segments.contains { $0.job.start >= end } || loadedEnd.map { $0 > end } == true
        return isLoaded ? end : nil
    }
}

// MARK: - Restarts

extension MediaLane {
    /// The reason why a lane continues with something other than the next segment.
    ///
    /// | | loaded media | segments in flight | may repeat media | previous failures |
    /// |---|---|---|---|---|
    /// | `jump` | is ignored | are dropped | no | are forgotten |
    /// | `earlier` | is ignored | are dropped | no | are forgotten |
    /// | `elsewhere` | is kept | are kept | yes | are kept |
    /// | `again` | is kept | were dropped before | yes | are kept for this segment |
    /// | `cut` | is kept up to the cut | were dropped before if after the cut | yes | are kept |
    /// | `replacement` | plays until new media arrives | are dropped | no | are forgotten |
    /// | `late` | is kept for existing outputs | are dropped | no | are forgotten |
    /// | `gap` | is kept | are kept | unchanged | are kept |
    enum LaneRestart: Hashable, Sendable {
        /// The playhead has jumped, and media is loaded from its new position.
        ///
        /// `loadedEnd`: the start of the media that is loaded then.
        case jump(loadedEnd: Duration)
        /// After a jump, media is loaded from the segment before the new position, but not from earlier ones.
        case earlier(loadedEnd: Duration)
        /// The same media comes from another playlist because of a new variant, host or URL.
        case elsewhere
        /// A segment is requested again and uses the attempts of this role.
        case again(SegmentID)
        /// Media from this time is loaded again in another quality.
        case cut(Duration)
        /// Another rendition replaces the current one. The number identifies the change.
        case replacement(Int)
        /// Outputs arrived after media for them was loaded and dropped.
        case late
        /// Segments are missing or the server has restarted, so the next media does not follow loaded media.
        case gap

        /// Whether everything begun earlier is useless.
        var forgets: Bool {
            switch self {
            case .jump, .earlier, .replacement, .late: true
            case .elsewhere, .again, .cut, .gap: false
            }
        }

        var reopens: Bool {
            if case .cut = self { true } else { forgets }
        }

        /// Returns how the next segment joins if it would otherwise join as `before`.
        func joint(after before: LaneJoint) -> LaneJoint {
            switch self {
            case .jump, .earlier, .replacement, .late: .begins
            case .elsewhere, .cut: .repeats(role: before.role)
            case .again(let role): .repeats(role: role)
            case .gap: before == .follows ? .begins : before
            }
        }
    }
}

// MARK: - Media past listed ends

extension MediaLane {
    /// The media of a playlist's segments past their listed ends.
    ///
    /// It is as long as the delay between the listed and the actual start of a segment's media.
    struct SegmentOverhang: Sendable, Hashable {
        private(set) var overhang = Duration.zero

        /// Larger differences are errors in the playlist and are ignored.
        private static let longest = Duration.seconds(1)
        /// The tolerance between media times and listed times.
        private static let exactness = Duration.milliseconds(1)

        mutating func noteRead(upTo end: Duration, listedEnd: Duration) { overhang = max(.zero, end - listedEnd) }

        /// Returns whether the segment before the one at `start` contains media at or after `time`.
        func reaches(_ time: Duration, after start: Duration) -> Bool {
            overhang <= Self.longest && start + overhang > time + Self.exactness
        }
    }
}
