import HLSKitLoading
import HLSKitSelection
import HLSKitTime

/// Frequently used facts derived from an item, cached until the item changes.
///
/// Arriving bytes do not invalidate the cache.
package struct CachedItemFacts: Sendable {
    var effectiveEnd: Duration?
    var isLive = false
    var isReady = false
    package var isComplete = false
    var isDrained = false
    var endsEarly = false
    /// Whether playback may end: a failure is pending, nothing is left to load, or an end time is set.
    var mayEnd = false
    /// Lanes that could begin a segment if more media is needed, and lanes with playable media.
    var idleTracks: ForwardBuffer.Tracks = []
    var demuxedTracks: ForwardBuffer.Tracks = []
    /// Lanes that are loading a segment and list another one after it.
    var prefetchableTracks: ForwardBuffer.Tracks = []
    /// Idle lanes that may be complete: none of their segments follow, or playback ends earlier.
    var endedTracks: ForwardBuffer.Tracks = []
    var isReceiving = false
    /// Whether reading a body is suspended because the buffer is too full.
    var isSuspended = false
    var isPartlyDemuxed = false
    var hasChoice = false
    var hasLowerVariant = false
    var maximumForwardBuffer: Duration?

    // From the variant's playlist.
    var hasPlaylist = false
    package var pacingTarget = Duration.seconds(6)
    var listedEnd = Duration.zero
    var lastSegmentDuration: Duration?
    /// For live streams: the maximum duration of the next listed segment or part, and the listed duration.
    var pieceDuration = Duration.zero
    var listedDuration = Duration.zero
    var lastNews = Duration.zero
    /// The next segment to load, or zero if none is listed.
    var nextSegmentDuration = Duration.zero
    var nextSegmentByteCount = 0
    /// The average bit rate of all lanes, or nil while it is unknown.
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
        // Lanes and trackers are large, so they are read in place, and the trackers once.
        var nextStarts = InlineArray<3, Duration?>(repeating: nil)
        for index in item.lanes.values.indices {
            let next = item.lanes.values[index].nextIndex
            note(item.lanes.values[index], next: next, endsEarly: endsEarly)
            let list = item.lanes.values[index].list(next: next)
            nextStarts[index] = list.nextStart
            guard item.lanes.values[index].isRequired else { continue }
            if let end = item.lanes.values[index].loadedEnd { loadedEnd = max(end, loadedEnd ?? end) }
            if let end = list.end { longestEnd = max(end, longestEnd ?? end) }
        }
        // While the variant is live, its end is unknown.
        let end =
            item.mediaEnd ?? (isComplete ? loadedEnd ?? item.start ?? .zero : hasPlaylist && !isLive ? longestEnd : nil)
        effectiveEnd = item.forwardEnd.map { forward in end.map { min($0, forward) } ?? forward } ?? end
        // A rendition may be listed past the end of the variant, and the last segments may have a duration of 0 s.
        if let end = effectiveEnd {
            for index in item.lanes.values.indices {
                guard let start = nextStarts[index], max(start, item.lanes.values[index].loadedEnd ?? start) >= end
                else {
                    continue
                }
                endedTracks.insert(ForwardBuffer.Tracks(item.lanes.values[index].id.bufferTrack))
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

    func isIdle(_ id: LaneID) -> Bool { idleTracks.contains(id.bufferTrack) }

    /// Whether an idle lane needs attention, because it needs more media or may be complete.
    func mayLoad(_ id: LaneID, wanted: ForwardBuffer.Tracks) -> Bool {
        let track = id.bufferTrack
        return wanted.contains(track) || endedTracks.contains(track) || !demuxedTracks.contains(track)
    }

    private mutating func note(_ lane: borrowing MediaLane, next: Int?, endsEarly: Bool) {
        if lane.id == .main, let tracker = lane.tracker { note(tracker, next: next) }
        if lane.isRequired {
            if !lane.isComplete { isComplete = false }
            if !lane.isComplete || lane.drainedEnd == nil { isDrained = false }
        }
        guard lane.presence != .idle else { return }
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
            if next != nil { prefetchableTracks.insert(track) }
            return
        }
        idleTracks.insert(track)
        if endsEarly || next == nil { endedTracks.insert(track) }
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
        // Audio is the smallest part of the bandwidth that a variant declares.
        let isAudioOnly = item.isAudioOnly || item.lanes[.main]?.presence == .idle
        if !isAudioOnly, let declared = item.variant?.averageBandwidth ?? item.variant?.bandwidth, declared > 0 {
            let sizes = item.variants.sizes
            let average = item.variant?.averageBandwidth
            return sizes.correctedBitRate(bandwidth: item.variant?.bandwidth ?? 0, average: average) ?? declared
        }
        return item.variants.sizes.loadedBitRate
    }
}

extension ForwardBuffer.Situation {
    mutating func note(_ outlook: CachedItemFacts) {
        effectiveEnd = outlook.effectiveEnd
        if outlook.isLive { lastAvailable = outlook.listedEnd }
        targetDuration = outlook.pacingTarget
        nextSegmentDuration = outlook.nextSegmentDuration
        nextSegmentByteCount = outlook.nextSegmentByteCount
    }
}

extension MediaLane {
    /// Timestamps ahead of the playlist by less than this belong to frames that are reordered.
    private static let leastLead = Duration.milliseconds(500)

    /// Returns the end of the listed media after the loaded media, and the start of the next segment.
    ///
    /// The end is nil for a live playlist.
    /// If timestamps have jumped ahead of the playlist, the rest of the playlist follows with the same lead.
    ///
    /// - Parameter next: ``nextIndex``.
    fileprivate func list(next: Int?) -> (end: Duration?, nextStart: Duration?) {
        guard let tracker else { return (nil, nil) }
        let nextStart = next.map { tracker.starts[$0] }
        guard !tracker.isLive else { return (nil, nextStart) }
        guard joint == .follows, let loadedEnd, let nextStart else { return (tracker.end, nextStart) }
        let lead = loadedEnd - nextStart
        return (lead > Self.leastLead ? tracker.end + lead : tracker.end, nextStart)
    }
}
