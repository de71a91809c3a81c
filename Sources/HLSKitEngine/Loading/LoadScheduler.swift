import HLSKitLoading
import HLSKitPlaylist
import HLSKitSelection
import HLSKitTime

/// Decides which segment a lane loads next and whether it loads in parallel with others.
///
/// See ``ParallelLoading``.
struct LoadScheduler: Sendable {
    struct Situation: Sendable, Hashable {
        var pacing = EngineConfiguration.Pacing.realTime
        var isMultiplexed = false
        /// The number of segments in flight in all lanes.
        var requestCount = 1
        /// The bytes of segments in flight or not demuxed, including bytes that have not arrived.
        var pendingByteCount = 0
        var nextByteCount = 0
        var nextDuration = Duration.zero
        /// The media ahead of the playhead: playable now, with segments in flight, and the target.
        var ahead = Duration.zero
        var aheadWhenLoaded = Duration.zero
        var target = Duration.seconds(30)
        /// The bits per second, or nil while unknown.
        var throughput: Double?
        /// The time to the first byte. It is known before the throughput.
        var latency = Duration.zero
        var neededBitsPerSecond = 0.0
        var isWaiting = false
        var isPart = false
        /// The bytes in flight that have not arrived.
        var remainingByteCount = 0
    }

    /// The share of the loading time from which round trips are worth saving.
    private static let notableShare = 0.2
    /// The ratio of throughput to required bit rate that counts as ample.
    private static let plenty = 2.0
    /// Parallel requests share the link, so the buffer must last this many times the total loading time.
    private static let safety = 2.0

    var limits = ParallelLoading()
    var maxGapJump = Duration.zero

    // MARK: Beside others

    func mayBegin(_ situation: Situation) -> Bool {
        let (byteCount, overflow) = situation.pendingByteCount.addingReportingOverflow(situation.nextByteCount)
        guard !overflow, byteCount <= limits.maximumByteCount else { return false }
        let maximum = maximumRequestCount(situation.pacing, isMultiplexed: situation.isMultiplexed)
        guard situation.requestCount < maximum else { return false }
        guard situation.pacing == .realTime else { return true }
        guard situation.aheadWhenLoaded + situation.nextDuration <= situation.target else { return false }
        if situation.isPart { return Self.stands(situation) }
        let isAmple = situation.throughput.map { $0 >= Self.plenty * situation.neededBitsPerSecond }
        // Sequential requests would take longer than the media lasts, regardless of throughput. A throughput that is
        // still unknown is high, because a slow link is measured during the first response.
        if situation.latency >= situation.nextDuration / 2 { return isAmple ?? true }
        guard isAmple == true, !situation.isWaiting, let throughput = situation.throughput else { return false }
        let loadingTime = 8 * Double(situation.nextByteCount) / throughput
        let latency = situation.latency.seconds
        let allLoaded = 8 * Double(byteCount) / throughput + latency
        return situation.ahead.seconds >= Self.safety * allLoaded
            && latency >= Self.notableShare * (loadingTime + latency)
    }

    func maximumRequestCount(_ pacing: EngineConfiguration.Pacing, isMultiplexed: Bool) -> Int {
        if pacing == .realTime { return limits.requestsWhilePlaying }
        return isMultiplexed ? max(limits.streams, limits.connections) : limits.connections
    }

    /// Returns whether the link would idle before the response to a request made now.
    ///
    /// Parts take about as long as round trips, and each shares the link only with the end of the previous one.
    private static func stands(_ situation: Situation) -> Bool {
        guard let throughput = situation.throughput, throughput > 0 else { return false }
        return 8 * Double(situation.remainingByteCount) / throughput <= situation.latency.seconds
    }

    // MARK: The next step

    struct Facts: Sendable, Hashable {
        /// Whether the segment would load in parallel with segments in flight.
        var isConcurrent = false
        var isWanted = false
        /// Whether the segment is awaited although none of its media is ahead of the playhead.
        var isOwed = false
        var isLive = false
        var isClosed = false
        var forwardEnd: Duration?
        var effectiveEnd: Duration?
        /// Whether segments that begin after the end time are not loaded, even if they contain earlier media.
        var isSharpEnd = false
        /// The item time from which segments are not loaded yet, or nil for no limit.
        var known: Duration?
    }

    enum Step: Sendable, Hashable {
        /// Do nothing now, or wait for the playlist.
        case nothing
        /// Complete the lane, which has no further segments.
        case complete
        /// Skip the next segment, which is marked as a gap.
        case gap(Int)
        /// Load the next segment. `isChosen`: whether the rule first chooses its variant.
        case load(Int, isChosen: Bool)
    }

    private static let maximumUndemuxedCount = 3
    /// The amount of media before an end time that is worth another segment.
    private static let worthLoading = Duration.milliseconds(100)
    /// The listed duration of a byte range may be too long by up to the distance between sync samples.
    private static let longestOverstatement = Duration.seconds(8)

    /// Returns the next step of a lane.
    ///
    /// - Returns: The step, and whether media loaded again for late outputs has caught up with the lane.
    func next(of lane: MediaLane, _ facts: Facts) -> (step: Step, endsLate: Bool) {
        guard let tracker = lane.tracker, !lane.isComplete, lane.cursor != nil, !lane.playlist.awaitsReload,
            facts.isConcurrent
                || lane.segments.allSatisfy(\.isLoaded) && lane.segments.count < Self.maximumUndemuxedCount
        else { return (.nothing, false) }
        guard let late = lane.late else { return (step(of: lane, tracker, facts), false) }
        // Segments in flight are read to their end before the lane goes back.
        if late.until == nil { return (.nothing, false) }
        return (step(of: lane, tracker, facts), !lane.isLoadedAgain(lane.resumeTime(in: tracker)))
    }

    private func step(of lane: MediaLane, _ tracker: PlaylistTracker, _ facts: Facts) -> Step {
        let atEnd = lane.segments.isEmpty ? Step.complete : .nothing
        guard let index = lane.nextIndex else {
            // A rendition whose playlist continues after the end of the variant is not awaited.
            return !tracker.isLive || facts.isClosed || reachesEnd(lane, facts) ? atEnd : .nothing
        }
        let start = tracker.starts[index]
        if let known = facts.known, start >= known { return .nothing }
        var isForAudio = false
        var isLeft = false
        if let end = facts.isLive ? facts.forwardEnd : facts.effectiveEnd,
            start >= end || hasReached(end, lane, nextAt: start)
        {
            isLeft = isLeftOver(in: tracker, before: end, facts)
            isForAudio =
                facts.forwardEnd == end && !facts.isSharpEnd
                && (needsMoreAudio(lane, before: end, from: start)
                    || endsTooEarly(lane, before: end, at: index, tracker))
            guard isLeft || isForAudio && lane.segments.isEmpty else { return atEnd }
        }
        let isAgain = lane.isLoadedAgain(start)
        // Without demuxed media, playback is impossible even if loaded gaps are long.
        guard facts.isWanted || !lane.isDemuxed || lane.isReplacing || facts.isOwed || isAgain || isForAudio || isLeft
        else {
            return .nothing
        }
        if tracker.playlist.segments[index].isGap { return .gap(index) }
        return .load(index, isChosen: lane.id == .main && !isAgain && !isForAudio && !isLeft)
    }

    /// Returns whether playback ends with the playlist, so that all listed segments are loaded.
    ///
    /// This includes segments with a listed duration of 0 s. A packager's last segment may contain a single frame,
    /// whose duration is rounded to zero.
    private func isLeftOver(in tracker: PlaylistTracker, before end: Duration, _ facts: Facts) -> Bool {
        !facts.isLive && facts.forwardEnd == nil && tracker.end <= end
    }

    private func reachesEnd(_ lane: MediaLane, _ facts: Facts) -> Bool {
        guard !facts.isLive, let end = facts.effectiveEnd, let loadedEnd = lane.loadedEnd else { return false }
        return end - loadedEnd <= maxGapJump
    }

    /// Returns whether the next segment begins too shortly before the end time to contain relevant media.
    ///
    /// Listed durations are rounded. The lane must end so that decoders output their last frames.
    private func hasReached(_ end: Duration, _ lane: MediaLane, nextAt start: Duration) -> Bool {
        guard end - start < Self.worthLoading, !lane.isReplacing, !lane.isLoadedAgain(start) else { return false }
        return lane.loadedEnd.map { $0 >= end } ?? false
    }

    /// Returns whether audio before an end time is in the next segment. Transport streams are cut at frames.
    private func needsMoreAudio(_ lane: MediaLane, before end: Duration, from start: Duration) -> Bool {
        guard let audioEnd = lane.audioEnd else { return false }
        return end - audioEnd > .milliseconds(1) && start - end < Self.longestOverstatement
    }

    /// Returns whether the segment with the end time ended before it, so that the next segment is needed.
    ///
    /// For example, a byte range ends at a sync sample, which may be earlier than listed.
    private func endsTooEarly(
        _ lane: MediaLane, before end: Duration, at index: Int, _ tracker: PlaylistTracker
    ) -> Bool {
        guard lane.id != .subtitles, lane.segments.isEmpty, index > 0, tracker.starts[index - 1] < end,
            let loadedEnd = lane.loadedEnd, loadedEnd > tracker.starts[index - 1]
        else { return false }
        return end - loadedEnd > min(Self.worthLoading, maxGapJump)
    }
}
