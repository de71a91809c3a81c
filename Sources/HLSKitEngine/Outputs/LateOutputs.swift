import HLSKitMedia
import HLSKitPlaylist
import HLSKitSelection

/// Decides which media to load again for outputs that arrived after it was dropped.
///
/// Unused media was dropped and is loaded again from the playhead. Other outputs and time continue unchanged.
struct LateOutputs: Sendable, Hashable {
    /// The maximum difference between segment starts that rounding can cause.
    private static let rounding = Duration.milliseconds(10)

    private var kinds: Set<MediaKind>
    /// Whether other kinds of the lane's media were used all the time and must not be delivered twice.
    private let keepsOthers: Bool
    /// The item time from which segments load for the first time, or nil while others are in flight.
    private(set) var until: Duration?

    init(_ kinds: Set<MediaKind>, keepsOthers: Bool) {
        self.kinds = kinds
        self.keepsOthers = keepsOthers
    }

    struct Facts: Sendable {
        /// Whether the item plays in real time, has started and has not failed.
        var isPlaying = true
        /// Whether the lane has playable media, and whether another rendition is replacing it.
        var isDemuxed = true
        var isReplacing = false
        /// Whether segments are in flight.
        var isReading = false
        /// The item time at which the lane continues to load, or nil if it has not begun.
        var resume: Duration?
        var playhead = Duration.zero
        var segment: SegmentPosition?
        var segmentStart = Duration.zero
    }

    /// The position to which a lane returns, and the kinds of media it loads.
    struct Return: Sendable, Hashable {
        var kinds: Set<MediaKind>
        var cursor: LaneCursor
        /// The item time before which buffered media is dropped because the late outputs lack it.
        var start: Duration
    }

    /// Whether the media that the outputs need was already loaded.
    static func areTooLate(_ facts: Facts) -> Bool {
        guard facts.isPlaying, facts.isDemuxed, !facts.isReplacing, let resume = facts.resume else { return false }
        return resume > facts.playhead
    }

    mutating func add(_ kinds: Set<MediaKind>) { self.kinds.formUnion(kinds) }

    /// Returns to the playhead when possible. Segments that others use are read to their end first.
    mutating func goBack(_ facts: Facts) -> Return? {
        guard !keepsOthers || until != nil || !facts.isReading else { return nil }
        until = until ?? facts.resume
        guard let segment = facts.segment else {
            return Return(kinds: kinds, cursor: .time(facts.playhead), start: facts.playhead)
        }
        return Return(kinds: kinds, cursor: .position(segment), start: min(facts.playhead, facts.segmentStart))
    }

    /// Whether a segment that begins at `start` was loaded before.
    func isLoadedAgain(_ start: Duration) -> Bool { until.map { start < $0 - Self.rounding } ?? false }

    /// The kinds of media for which a segment is loaded again, or nil for all.
    func kinds(at start: Duration) -> Set<MediaKind>? { keepsOthers && isLoadedAgain(start) ? kinds : nil }

    /// The kinds to take from the next segments because the lane did not go back, or nil if there are none.
    var kindsToCome: Set<MediaKind>? { until == nil ? kinds : nil }
}

extension MediaLane {
    func kinds(at start: Duration) -> Set<MediaKind>? { late?.kinds(at: start) }

    func isLoadedAgain(_ start: Duration) -> Bool { late?.isLoadedAgain(start) ?? false }
}

extension LateOutputs.Facts {
    init(_ lane: MediaLane, isPlaying: Bool, playhead: Duration) {
        self.init(
            isPlaying: isPlaying, isDemuxed: lane.isDemuxed, isReplacing: lane.isReplacing,
            isReading: !lane.segments.isEmpty, playhead: playhead)
        if let tracker = lane.tracker {
            if lane.cursor != nil { resume = lane.resumeTime(in: tracker) }
            guard let index = tracker.index(containing: max(playhead, tracker.start)) else { return }
            segment = tracker.position(at: index)
            segmentStart = tracker.starts[index]
        } else if let time = lane.cursor?.time {
            resume = time
        }
    }
}
