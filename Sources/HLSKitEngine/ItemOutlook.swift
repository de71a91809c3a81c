import HLSKitLoading
import HLSKitSelection

/// What follows from an item alone and is asked for all the time. Kept until something of the item changes, which the
/// arrival of bytes is not.
package struct ItemOutlook: Sendable {
    /// Where playing ends; nil while that is not known.
    var effectiveEnd: Duration?
    var isLive = false
    var isReady = false
    /// No further media will be loaded.
    package var isComplete = false
    /// All media was presented.
    var isDrained = false
    /// An end time is set.
    var endsEarly = false
    /// Something may be over: a failure waits, nothing is left to load, or an end time is set.
    var mayEnd = false
    /// Lanes that could begin a segment if more media is wanted, and those of which some can be played already.
    var idleTracks: ForwardBuffer.Tracks = []
    var demuxedTracks: ForwardBuffer.Tracks = []
    /// Lanes that are loading a segment and list one after it.
    var prefetchableTracks: ForwardBuffer.Tracks = []
    /// Idle lanes that may be complete: no further segment is listed, or playing ends before the last one.
    var endedTracks: ForwardBuffer.Tracks = []
    /// The variant's segment is being received.
    var isReceiving = false
    /// A body is not read on because the buffer is over-full.
    var isSuspended = false
    /// Media of a segment counts that is still on its way.
    var isPartlyDemuxed = false
    var hasChoice = false
    /// Of the variants that a rule chooses among, some are lower than what is loaded.
    var hasLowerVariant = false
    var maximumForwardBuffer: Duration?

    // Of the variant's playlist.
    var hasPlaylist = false
    package var pacingTarget = Duration.seconds(6)
    var listedEnd = Duration.zero
    var lastSegmentDuration: Duration?
    /// What is listed next lasts so long at most, and what is listed in all; of a live stream.
    var pieceDuration = Duration.zero
    var listedDuration = Duration.zero
    /// When something new was last listed.
    var lastNews = Duration.zero
    /// The segment to be loaded next; zero where none is listed.
    var nextSegmentDuration = Duration.zero
    var nextSegmentByteCount = 0
    /// Average bit rate of what is being loaded, all lanes together; nil while it is not known.
    var bitRate: Double?

    init(_ item: borrowing ItemState) {
        isReady = item.isReady
        hasChoice = item.variants.hasChoice
        hasLowerVariant = item.variants.hasLower(than: item.variant)
        maximumForwardBuffer = item.variants.maximumForwardBuffer
        bitRate = Self.bitRate(item)
        endsEarly = item.forwardEnd != nil
        isComplete = !item.lanes.isEmpty
        isDrained = isComplete
        var loadedEnd: Duration?
        var longestEnd: Duration?
        for id in LaneID.allCases {
            guard let lane = item.lanes[id] else { continue }
            note(lane, endsEarly: endsEarly)
            if lane.isRequired {
                if let end = lane.loadedEnd { loadedEnd = max(end, loadedEnd ?? end) }
                if let end = lane.endByList { longestEnd = max(end, longestEnd ?? end) }
            }
            guard id == .main, let tracker = lane.tracker else { continue }
            note(tracker, next: lane.nextIndex)
        }
        // Nothing is known of the end while the variant is live.
        let end =
            item.mediaEnd ?? (isComplete ? loadedEnd ?? item.start ?? .zero : hasPlaylist && !isLive ? longestEnd : nil)
        effectiveEnd = item.forwardEnd.map { forward in end.map { min($0, forward) } ?? forward } ?? end
        // A rendition may be listed beyond where the variant ends, and segments as lasting 0 s at the very end.
        if let end = effectiveEnd {
            for id in LaneID.allCases {
                guard let lane = item.lanes[id], let tracker = lane.tracker, let next = lane.nextIndex,
                    tracker.starts[next] >= end || lane.loadedEnd.map({ $0 >= end }) ?? false
                else { continue }
                endedTracks.insert(ForwardBuffer.Tracks(id.bufferTrack))
            }
        }
        mayEnd = isComplete || endsEarly
        if let trick = item.trick {
            effectiveEnd = min(trick.end, item.endTime.time ?? trick.end)
            bitRate = trick.bitRate
            isDrained = false
        }
        if case .some = item.pendingFailure {
            mayEnd = true
            if let end = item.failsAt, item.trick == nil {
                effectiveEnd = min(effectiveEnd ?? end, end)
                endsEarly = true
            }
        }
    }

    /// The lane could begin a segment if more media is wanted.
    func isIdle(_ id: LaneID) -> Bool { idleTracks.contains(id.bufferTrack) }

    /// An idle lane may have something to do: more media is wanted of it, or it may be complete.
    func mayLoad(_ id: LaneID, wanted: ForwardBuffer.Tracks) -> Bool {
        let track = id.bufferTrack
        return wanted.contains(track) || endedTracks.contains(track) || !demuxedTracks.contains(track)
    }

    private mutating func note(_ lane: borrowing MediaLane, endsEarly: Bool) {
        if lane.isRequired {
            if !lane.isComplete { isComplete = false }
            if !lane.isComplete || lane.drainedEnd == nil { isDrained = false }
        }
        guard lane.presence != .resting else { return }
        var isIdle = true
        for index in lane.segments.indices {
            if !lane.segments[index].isLoaded {
                isIdle = false
                if lane.id == .main, lane.segments[index].request != nil { isReceiving = true }
            }
            if lane.segments[index].isSuspended { isSuspended = true }
            if lane.segments[index].demuxedUpTo != nil { isPartlyDemuxed = true }
        }
        let track = ForwardBuffer.Tracks(lane.id.bufferTrack)
        if lane.isDemuxed { demuxedTracks.insert(track) }
        guard !lane.isComplete, lane.cursor != nil else { return }
        guard isIdle else {
            if lane.nextIndex != nil { prefetchableTracks.insert(track) }
            return
        }
        idleTracks.insert(track)
        if endsEarly || lane.nextIndex == nil { endedTracks.insert(track) }
    }

    private mutating func note(_ tracker: borrowing PlaylistTracker, next: Int?) {
        hasPlaylist = true
        isLive = tracker.isLive
        pacingTarget = tracker.pacingTarget
        listedEnd = tracker.end
        let count = tracker.segmentCount
        if count > 0 { lastSegmentDuration = tracker.end - tracker.starts[count - 1] }
        pieceDuration = tracker.pieceDuration
        listedDuration = tracker.end - tracker.start
        lastNews = tracker.lastNewSegment
        guard let next else { return }
        nextSegmentDuration = tracker.duration(at: next)
        nextSegmentByteCount = Int(min(nextSegmentDuration.seconds * (bitRate ?? 0) / 8, 1e15))
    }

    private static func bitRate(_ item: borrowing ItemState) -> Double? {
        // Of what a variant declares, sound is the least.
        let isSoundOnly = item.isSoundOnly || item.lanes[.main]?.presence == .resting
        if !isSoundOnly, let declared = item.variant?.averageBandwidth ?? item.variant?.bandwidth, declared > 0 {
            return item.variants.sizes.understatedBitRate(item.variant?.bandwidth ?? 0) ?? Double(declared)
        }
        return item.variants.sizes.loadedBitRate
    }
}

extension ForwardBuffer.Situation {
    /// Takes in what follows from the item.
    mutating func note(_ outlook: ItemOutlook) {
        effectiveEnd = outlook.effectiveEnd
        if outlook.isLive { lastAvailable = outlook.listedEnd }
        targetDuration = outlook.pacingTarget
        nextSegmentDuration = outlook.nextSegmentDuration
        nextSegmentByteCount = outlook.nextSegmentByteCount
    }
}

extension MediaLane {
    /// Timestamps that ran ahead of the list by less than this are those of pictures that are shown later than decoded.
    private static let leastLead = Duration.milliseconds(500)

    /// Where the last segment ends that is listed, behind what is loaded: timestamps may have jumped ahead of the list, and
    /// what is listed is loaded all the same. nil while the list grows.
    fileprivate var endByList: Duration? {
        guard let tracker, !tracker.isLive else { return nil }
        guard joint == .follows, let loadedEnd, let nextIndex else { return tracker.end }
        let lead = loadedEnd - tracker.starts[nextIndex]
        return lead > Self.leastLead ? tracker.end + lead : tracker.end
    }
}
