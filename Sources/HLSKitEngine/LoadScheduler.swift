import HLSKitLoading
import HLSKitPlaylist
import HLSKitSelection

/// Says what a lane does next: which segment it loads, and whether beside those that are on their way.
///
/// See docs/loading.md; ``ParallelLoading``.
struct LoadScheduler: Sendable {
    /// What the answer depends on.
    struct Situation: Sendable, Hashable {
        var pacing = EngineConfiguration.Pacing.realTime
        /// The connection that the next request would go over carries several responses at once.
        var isMultiplexed = false
        /// Segments of all lanes whose bytes are on their way.
        var requestCount = 1
        /// Bytes of segments that are on their way or wait to be read, those to come included.
        var pendingByteCount = 0
        var nextByteCount = 0
        var nextDuration = Duration.zero
        /// Media ahead of the playhead that can be played now; with what is on its way; and what is wanted.
        var ahead = Duration.zero
        var aheadWhenLoaded = Duration.zero
        var target = Duration.seconds(30)
        var throughput: ThroughputEstimate?
        /// Bits per second that playing takes.
        var neededBitsPerSecond = 0.0
        /// Playing waits for media.
        var isWaiting = false
        /// The next one is a part of a stream of low latency.
        var isPart = false
        /// What is still to come of those that are on their way.
        var remainingByteCount = 0
    }

    /// Round trips are worth saving from this part of the loading time on.
    private static let notableShare = 0.2
    /// The link gives so many times what playing takes.
    private static let plenty = 2.0
    /// What comes next shares the link with what comes after it: the buffer has to last so many times as long as all of
    /// it takes.
    private static let safety = 2.0

    var limits = ParallelLoading()
    /// Holes up to this are nothing.
    var maxGapJump = Duration.zero

    // MARK: Beside others

    /// Whether the next segment may be requested while others are on their way.
    func mayBegin(_ situation: Situation) -> Bool {
        let (byteCount, overflow) = situation.pendingByteCount.addingReportingOverflow(situation.nextByteCount)
        guard !overflow, byteCount <= limits.maximumByteCount else { return false }
        guard situation.pacing == .realTime else {
            return situation.requestCount < (situation.isMultiplexed ? limits.streams : limits.connections)
        }
        guard situation.requestCount < limits.requestsWhilePlaying,
            situation.aheadWhenLoaded + situation.nextDuration <= situation.target,
            let throughput = situation.throughput, throughput.bitsPerSecond > 0
        else { return false }
        if situation.isPart { return Self.stands(after: situation.remainingByteCount, throughput) }
        // One after another would take longer than it lasts, whatever the link gives.
        if throughput.latency >= situation.nextDuration / 2,
            throughput.bitsPerSecond >= Self.plenty * situation.neededBitsPerSecond
        {
            return true
        }
        guard !situation.isWaiting, throughput.bitsPerSecond >= Self.plenty * situation.neededBitsPerSecond else {
            return false
        }
        let loadingTime = 8 * Double(situation.nextByteCount) / throughput.bitsPerSecond
        let latency = throughput.latency.seconds
        let allLoaded = 8 * Double(byteCount) / throughput.bitsPerSecond + latency
        return situation.ahead.seconds >= Self.safety * allLoaded
            && latency >= Self.notableShare * (loadingTime + latency)
    }

    /// Whether the link would stand still before an answer to a request of now: parts are as short as round trips are
    /// long, and each shares the link with the end of the one before it alone.
    private static func stands(after byteCount: Int, _ throughput: ThroughputEstimate) -> Bool {
        8 * Double(byteCount) / throughput.bitsPerSecond <= throughput.latency.seconds
    }

    // MARK: The next step

    /// What the next step of a lane depends on besides the lane.
    struct Facts: Sendable, Hashable {
        /// The segment would be loaded beside those that are on their way.
        var isBeside = false
        /// More media of the lane is wanted now.
        var isWanted = false
        /// It is waited for, though nothing of it is ahead of the playhead any more.
        var isOwed = false
        /// Of the item: its variant is live, or is taken to be over.
        var isLive = false
        var isClosed = false
        /// The end time that is set, and where playing ends.
        var forwardEnd: Duration?
        var effectiveEnd: Duration?
        /// What begins behind the end time is not loaded, whatever of what is before it may be in it.
        var isSharpEnd = false
        /// What begins from there on is not loaded yet; nil for nothing.
        var known: Duration?
    }

    enum Step: Sendable, Hashable {
        /// Not now, or what it lists is waited for.
        case nothing
        /// No further segment comes.
        case complete
        /// The next segment is marked as a gap.
        case gap(Int)
        /// `isChosen`: the rule says first which variant it comes from.
        case load(Int, isChosen: Bool)
    }

    /// Segments of one lane that may be loaded and not yet demuxed.
    private static let maximumUndemuxedCount = 3
    /// Less media than this before an end time is not worth another segment.
    private static let worthLoading = Duration.milliseconds(100)
    /// A part of a file may be listed longer than it is by as much as pictures to begin with are apart.
    private static let longestOverstatement = Duration.seconds(8)

    /// The next step of a lane.
    ///
    /// - Returns: whether what was loaded once more for late outputs has come to where the lane was before, too.
    func next(of lane: MediaLane, _ facts: Facts) -> (step: Step, endsLate: Bool) {
        guard let tracker = lane.tracker, !lane.isComplete, lane.cursor != nil, !lane.playlist.awaitsReload,
            facts.isBeside
                || lane.segments.allSatisfy(\.isLoaded) && lane.segments.count < Self.maximumUndemuxedCount
        else { return (.nothing, false) }
        guard let late = lane.late else { return (step(of: lane, tracker, facts), false) }
        // What is under way is read to its end before the lane goes back.
        if late.until == nil { return (.nothing, false) }
        return (step(of: lane, tracker, facts), !lane.isLoadedAgain(lane.resumeTime(in: tracker)))
    }

    private func step(of lane: MediaLane, _ tracker: PlaylistTracker, _ facts: Facts) -> Step {
        let atEnd = lane.segments.isEmpty ? Step.complete : .nothing
        guard let index = lane.nextIndex else {
            // A rendition whose list goes on after the variant has ended is not waited for.
            return !tracker.isLive || facts.isClosed || reachesEnd(lane, facts) ? atEnd : .nothing
        }
        let start = tracker.starts[index]
        if let known = facts.known, start >= known { return .nothing }
        var isForSound = false
        var isLeft = false
        if let end = facts.isLive ? facts.forwardEnd : facts.effectiveEnd,
            start >= end || hasReached(end, lane, nextAt: start)
        {
            isLeft = isLeftOver(in: tracker, before: end, facts)
            isForSound =
                facts.forwardEnd == end && !facts.isSharpEnd
                && (needsMoreSound(lane, before: end, from: start)
                    || endsTooEarly(lane, before: end, at: index, tracker))
            guard isLeft || isForSound && lane.segments.isEmpty else { return atEnd }
        }
        let isAgain = lane.isLoadedAgain(start)
        // Before anything could be demuxed nothing can be played, however long the gaps are that are loaded.
        guard facts.isWanted || !lane.isDemuxed || lane.isReplacing || facts.isOwed || isAgain || isForSound || isLeft
        else {
            return .nothing
        }
        if tracker.playlist.segments[index].isGap { return .gap(index) }
        return .load(index, isChosen: lane.id == .main && !isAgain && !isForSound && !isLeft)
    }

    /// Whether playing goes to the end of the list: then all that is listed is loaded, be it listed as lasting 0 s. What
    /// packagers cut off last may be a single picture, which rounds to that.
    private func isLeftOver(in tracker: PlaylistTracker, before end: Duration, _ facts: Facts) -> Bool {
        !facts.isLive && facts.forwardEnd == nil && tracker.end <= end
    }

    private func reachesEnd(_ lane: MediaLane, _ facts: Facts) -> Bool {
        guard !facts.isLive, let end = facts.effectiveEnd, let loadedEnd = lane.loadedEnd else { return false }
        return end - loadedEnd <= maxGapJump
    }

    /// The next segment begins so shortly before the end time that there is nothing of it to be loaded: listed durations are
    /// rounded. Decoders do not give their last pictures before they know that no more come.
    private func hasReached(_ end: Duration, _ lane: MediaLane, nextAt start: Duration) -> Bool {
        guard end - start < Self.worthLoading, !lane.isReplacing, !lane.isLoadedAgain(start) else { return false }
        return lane.loadedEnd.map { $0 >= end } ?? false
    }

    /// Whether sound before an end time lies in the segment after it: transport streams are cut where pictures are.
    private func needsMoreSound(_ lane: MediaLane, before end: Duration, from start: Duration) -> Bool {
        guard let soundEnd = lane.soundEnd else { return false }
        return end - soundEnd > .milliseconds(1) && start - end < Self.longestOverstatement
    }

    /// The segment that holds the end time ended before it: a part of a file, say, which goes up to a picture that
    /// decoding can start at, wherever that is. What is wanted lies in the next, which is listed behind the end time.
    private func endsTooEarly(
        _ lane: MediaLane, before end: Duration, at index: Int, _ tracker: PlaylistTracker
    ) -> Bool {
        guard lane.id != .subtitles, lane.segments.isEmpty, index > 0, tracker.starts[index - 1] < end,
            let loadedEnd = lane.loadedEnd, loadedEnd > tracker.starts[index - 1]
        else { return false }
        return end - loadedEnd > min(Self.worthLoading, maxGapJump)
    }
}
