import HLSKitLoading
import HLSKitPlaylist
import HLSKitSelection

/// The segment that is needed first among those that may be loaded beside what is on its way.
struct PrefetchChoice: Sendable, Hashable {
    /// Media by which the first frame is surely decoded.
    private static let firstPictureDuration = Duration.milliseconds(500)

    /// What the choice depends on besides the lanes.
    struct Facts: Sendable {
        /// Tracks that want more media and load already.
        var wanted: ForwardBuffer.Tracks = []
        /// Segments from there on are not loaded; nil where nothing ends.
        var end: Duration?
        /// Before anything was measured, where there is a choice, the first segment tells which variant the next comes
        /// from.
        var isMeasured = true
        /// Somebody waits for media.
        var presentsMedia = true
    }

    private(set) var id: LaneID
    private(set) var index: Int
    private(set) var start: Duration

    fileprivate init(_ id: LaneID, index: Int, start: Duration) {
        self.id = id
        self.index = index
        self.start = start
    }

    /// The first frame is not to share the link with what comes after it.
    fileprivate static func awaitsFirstPicture(_ main: borrowing MediaLane) -> Bool {
        guard main.loadedEnd == nil else { return false }
        guard let head = main.segments.first, let time = head.demuxedUpTo else { return true }
        return time - head.job.start < firstPictureDuration
    }
}

extension MediaLanes {
    /// The next segment to be loaded beside others; nil where there is none, or none may.
    func nextToPrefetch(_ facts: PrefetchChoice.Facts) -> PrefetchChoice? {
        guard !facts.wanted.isEmpty, facts.isMeasured, isAllUnderWay, knowsLists else { return nil }
        var first: PrefetchChoice?
        for id in LaneID.allCases where facts.wanted.contains(id.bufferTrack) {
            guard let index = self[id]?.nextIndex, let start = self[id]?.tracker?.starts[index] else { continue }
            if let end = facts.end, start >= end { continue }
            if first.map({ start < $0.start }) ?? true { first = PrefetchChoice(id, index: index, start: start) }
        }
        if first != nil, facts.presentsMedia, let main = self[.main], PrefetchChoice.awaitsFirstPicture(main) {
            return nil
        }
        return first
    }

    /// Whether nothing is amiss: where a segment has to be asked for again, nothing is put beside it.
    private var isAllUnderWay: Bool {
        LaneID.allCases.allSatisfy { id in
            self[id]?.segments.allSatisfy { $0.isLoaded || $0.request != nil } ?? true
        }
    }

    /// What another lane needs first is not known before its list is here.
    private var knowsLists: Bool {
        for id in [LaneID.main, .audio] {
            if let lane = self[id], lane.tracker == nil { return false }
        }
        return true
    }
}

extension MediaLane {
    /// Whether the failure of a segment is left aside until it is the one that is needed next. Where nobody answers, all
    /// that is under way fails together: one of them tells when that is over, and only its time is up.
    func mayPark(_ segment: SegmentID, after error: LoadingError) -> Bool {
        guard [.timedOut, .connectionLost, .cannotConnect].contains(error.code), let first = loading else {
            return false
        }
        return first.id != segment && segments.firstIndex(of: segment) != nil
    }
}

extension ParallelLoading {
    /// Segments may be loaded side by side at all.
    func allowsMany(_ pacing: EngineConfiguration.Pacing) -> Bool {
        pacing == .realTime ? requestsWhilePlaying > 1 : max(connections, streams) > 1
    }
}
