import HLSKitLoading
import HLSKitPlaylist
import HLSKitSelection

/// The segment that is needed first among those that may be loaded in parallel.
struct PrefetchChoice: Sendable, Hashable {
    /// An amount of media that certainly suffices to decode the first frame.
    private static let firstFrameDuration = Duration.milliseconds(500)

    struct Facts: Sendable {
        /// Tracks that need more media and are loading already.
        var wanted: ForwardBuffer.Tracks = []
        /// Segments from this time on are not loaded. `nil` means no limit.
        var end: Duration?
        /// Whether the throughput is known or there is only one variant. Otherwise the first segment has to determine
        /// the variant of the next one.
        var isMeasured = true
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

    /// Whether the first frame is still loading. It should not share the link with later media.
    fileprivate static func awaitsFirstFrame(_ main: borrowing MediaLane) -> Bool {
        guard main.loadedEnd == nil else { return false }
        guard let head = main.segments.first, let time = head.demuxedUpTo else { return true }
        return time - head.job.start < firstFrameDuration
    }
}

extension MediaLanes {
    func nextToPrefetch(_ facts: PrefetchChoice.Facts) -> PrefetchChoice? {
        guard !facts.wanted.isEmpty, facts.isMeasured, isAllUnderWay, knowsLists else { return nil }
        var first: PrefetchChoice?
        for id in LaneID.allCases where facts.wanted.contains(id.bufferTrack) {
            guard let index = self[id]?.nextIndex, let start = self[id]?.tracker?.starts[index] else { continue }
            if let end = facts.end, start >= end { continue }
            if first.map({ start < $0.start }) ?? true { first = PrefetchChoice(id, index: index, start: start) }
        }
        if first != nil, facts.presentsMedia, let main = self[.main], PrefetchChoice.awaitsFirstFrame(main) {
            return nil
        }
        return first
    }

    /// Whether no segment has to be requested again. If one has to, no other is loaded in parallel.
    private var isAllUnderWay: Bool {
        segments.allSatisfy { $0.allSatisfy { $0.isLoaded || $0.request != nil } }
    }

    /// Whether all playlists are known. Otherwise another lane may need a segment earlier.
    private var knowsLists: Bool {
        for id in [LaneID.main, .audio] {
            if let lane = self[id], lane.tracker == nil { return false }
        }
        return true
    }
}

extension MediaLane {
    /// Whether the failure of a segment is put aside until that segment is needed next.
    ///
    /// If the server does not respond, all current requests fail together. Only the first one then retries and uses up
    /// its time.
    func mayPark(_ segment: SegmentID, after error: LoadingError) -> Bool {
        guard [.timedOut, .connectionLost, .cannotConnect].contains(error.code), let first = loading else {
            return false
        }
        return first.id != segment && segments.firstIndex(of: segment) != nil
    }
}

extension ParallelLoading {
    func allowsMany(_ pacing: EngineConfiguration.Pacing) -> Bool {
        pacing == .realTime ? requestsWhilePlaying > 1 : max(connections, streams) > 1
    }
}
