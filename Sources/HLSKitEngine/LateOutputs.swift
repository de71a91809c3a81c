import HLSKitMedia
import HLSKitPlaylist
import HLSKitSelection

/// Decides what is loaded once more of a lane for outputs that came when its media had been loaded and dropped, and from
/// where.
///
/// Media that nobody took was dropped, and is loaded again from the playhead on. Other outputs continue as they were, and
/// so does time.
///
/// Source: docs/behaviour/playback.md.
struct LateOutputs: Sendable, Hashable {
    /// A segment begins where another one did, but for what rounding makes of it.
    private static let rounding = Duration.milliseconds(10)

    private var kinds: Set<MediaKind>
    /// Other kinds of the lane were taken all the time: they are not handed on once more.
    private let keepsOthers: Bool
    /// The item time from which on segments are loaded for the first time; nil while those under way are waited for.
    private(set) var until: Duration?

    /// - Parameter keepsOthers: other kinds of media of the lane are taken already.
    init(_ kinds: Set<MediaKind>, keepsOthers: Bool) {
        self.kinds = kinds
        self.keepsOthers = keepsOthers
    }

    /// What is known of the lane and of its item.
    struct Facts: Sendable {
        /// The item plays in real time, has begun and has not failed.
        var isPlaying = true
        /// Media of the lane can be played; that of another rendition is to take its place.
        var isDemuxed = true
        var isReplacing = false
        /// Segments are under way.
        var isReading = false
        /// The item time at which the lane continues to load; nil where it has not begun.
        var resume: Duration?
        var playhead = Duration.zero
        /// The segment at the playhead, if it is listed.
        var segment: SegmentPosition?
        var segmentStart = Duration.zero
    }

    /// Where a lane goes back to, and what for.
    struct Return: Sendable, Hashable {
        var kinds: Set<MediaKind>
        var cursor: LaneCursor
        /// Media before is not there for everybody: who goes back to it has it loaded again.
        var start: Duration
    }

    /// Whether media that outputs would take from now on was loaded already.
    static func areTooLate(_ facts: Facts) -> Bool {
        guard facts.isPlaying, facts.isDemuxed, !facts.isReplacing, let resume = facts.resume else { return false }
        return resume > facts.playhead
    }

    /// More outputs have come late.
    mutating func add(_ kinds: Set<MediaKind>) { self.kinds.formUnion(kinds) }

    /// Goes back to the playhead as soon as nothing is in the way: segments that others take are read to their end.
    mutating func goBack(_ facts: Facts) -> Return? {
        guard !keepsOthers || until != nil || !facts.isReading else { return nil }
        until = until ?? facts.resume
        guard let segment = facts.segment else {
            return Return(kinds: kinds, cursor: .time(facts.playhead), start: facts.playhead)
        }
        return Return(kinds: kinds, cursor: .position(segment), start: min(facts.playhead, facts.segmentStart))
    }

    /// A segment that begins there was loaded before.
    func isLoadedAgain(_ start: Duration) -> Bool { until.map { start < $0 - Self.rounding } ?? false }

    /// The kinds of media that a segment is loaded once more for; nil for all.
    func kinds(at start: Duration) -> Set<MediaKind>? { keepsOthers && isLoadedAgain(start) ? kinds : nil }

    /// The kinds that nothing was gone back for: they are taken from what comes next. nil where there are none.
    var kindsToCome: Set<MediaKind>? { until == nil ? kinds : nil }
}

extension MediaLane {
    /// The kinds of media that a segment is loaded once more for; nil for all.
    func kinds(at start: Duration) -> Set<MediaKind>? { late?.kinds(at: start) }

    /// A segment that begins there was loaded before.
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
