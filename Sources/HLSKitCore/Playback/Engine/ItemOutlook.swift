/// What follows from an item alone and is asked for all the time. Kept until something of the item changes, which the
/// arrival of bytes is not.
struct ItemOutlook: Sendable {
    /// Where playing ends; nil while that is not known.
    var effectiveEnd: Duration?
    var isLive = false
    var isReady = false
    /// No further media will be loaded.
    var isComplete = false
    /// All media was presented.
    var isDrained = false
    /// Something may be over: a failure waits, or nothing is left to load.
    var mayEnd = false
    /// A lane could begin a segment if more media is wanted.
    var mayLoad = false
    /// The variant's segment is being received.
    var isReceiving = false
    /// A body is not read on because the buffer is over-full.
    var isSuspended = false
    /// Media of a segment counts that is still on its way.
    var isPartlyDemuxed = false
    var hasChoice = false
    var maximumForwardBuffer: Duration?

    // Of the variant's playlist.
    var hasPlaylist = false
    var pacingTarget = Duration.seconds(6)
    var listedEnd = Duration.zero
    var lastSegmentDuration: Duration?
    /// The segment to be loaded next; zero where none is listed.
    var nextSegmentDuration = Duration.zero
    var nextSegmentByteCount = 0
    /// Average bit rate of what is being loaded, all lanes together; nil while it is not known.
    var bitRate: Double?

    init(_ item: borrowing ItemState) {
        isReady = item.isReady
        hasChoice = item.choice.count > 1
        maximumForwardBuffer = item.maximumForwardBuffer
        bitRate = Self.bitRate(item)
        isComplete = !item.lanes.isEmpty
        isDrained = isComplete
        for id in LaneID.allCases {
            guard let lane = item.lanes[id] else { continue }
            note(lane)
            guard id == .main else { continue }
            isReceiving = lane.segments.contains { !$0.isLoaded && $0.request != nil }
            if let tracker = lane.tracker { note(tracker, next: lane.nextIndex) }
        }
        let end = item.mediaEnd ?? (isComplete ? item.loadedEnd : item.listedEnd)
        effectiveEnd = item.forwardEnd.map { forward in end.map { min($0, forward) } ?? forward } ?? end
        mayEnd = isComplete || item.pendingFailure != nil
    }

    private mutating func note(_ lane: borrowing MediaLane) {
        if lane.isRequired {
            if !lane.isComplete { isComplete = false }
            if !lane.isComplete || lane.drainedEnd == nil { isDrained = false }
        }
        var isIdle = true
        for index in lane.segments.indices {
            if !lane.segments[index].isLoaded { isIdle = false }
            if lane.segments[index].isSuspended { isSuspended = true }
            if lane.segments[index].demuxedUpTo != nil { isPartlyDemuxed = true }
        }
        if isIdle, !lane.isComplete, lane.tracker != nil { mayLoad = true }
    }

    private mutating func note(_ tracker: borrowing PlaylistTracker, next: Int?) {
        hasPlaylist = true
        isLive = tracker.isLive
        pacingTarget = tracker.pacingTarget
        listedEnd = tracker.end
        let count = tracker.segmentCount
        if count > 0 { lastSegmentDuration = tracker.end - tracker.starts[count - 1] }
        guard let next else { return }
        nextSegmentDuration = tracker.duration(at: next)
        nextSegmentByteCount = Int(min(nextSegmentDuration.seconds * (bitRate ?? 0) / 8, 1e15))
    }

    private static func bitRate(_ item: borrowing ItemState) -> Double? {
        if let declared = item.variant?.averageBandwidth ?? item.variant?.bandwidth, declared > 0 {
            return Double(declared)
        }
        guard item.loadedDuration > .zero else { return nil }
        return Double(item.loadedBytes) * 8 / item.loadedDuration.seconds
    }
}
