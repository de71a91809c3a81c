import HLSKitPlaylist
import HLSKitSelection

/// Playing the I-frames of an item and nothing else: faster than its media can be played, or backwards.
///
/// Pictures are chosen so far apart that they can be loaded in time and that nobody is shown more of them in a second than
/// can be told apart.
package struct TrickPlay: Sendable {
    enum Direction: Sendable, Hashable {
        case forward, reverse
    }

    /// More pictures in a second are not loaded.
    private static let shortestInterval = Duration.milliseconds(125)
    /// More than buffers pass over.
    private static let lastPicture = Duration.milliseconds(600)
    /// So much host time of pictures is loaded before they run, and so much at most.
    private static let startDuration = Duration.milliseconds(400)
    private static let forwardDuration = Duration.seconds(6)
    /// More pictures are not on their way or waiting to be read.
    private static let maximumUnreadPictures = 3
    /// How often it is looked whether pictures are wanted again.
    private static let lookInterval = Duration.milliseconds(100)

    /// What decisions depend on besides the pictures themselves.
    struct Facts: Sendable {
        var rate: Float = 1
        /// Where playing has come to, and where it ends in its direction.
        var playhead = Duration.zero
        var limit = Duration.zero
        /// The end time that is set.
        var forwardEnd: Duration?
    }

    /// What the lane of the pictures does next.
    enum Step: Sendable, Hashable {
        case nothing
        /// No further picture comes.
        case complete
        /// The next one is marked as a gap.
        case gap(Int)
        case load(Int)
    }

    enum Boundary: Sendable, Hashable {
        case start, end, liveEdge
    }

    let direction: Direction
    /// The playlist of the variant that was left, as it was then: others are laid beside it.
    @Shared private(set) var media: PlaylistTracker
    /// What can be played and sought in: the playlist of the variant, and of a live stream that of the I-frames, once it is
    /// there.
    @Shared private(set) var tracker: PlaylistTracker
    /// Where the item ends; while it is live, where what is listed does.
    private(set) var end: Duration
    /// How far from the edge of a live stream frames are played.
    private let liveOffset: Duration
    /// Where playing them began: no edge is before it.
    private var origin: Duration
    /// Average bit rate of the I-frames at the rate 1; nil where undeclared.
    let bitRate: Double?
    /// The next picture is the first (in reverse: the last) at this item time or beyond it.
    private var next: Duration
    /// Up to where loaded pictures will be shown.
    private var covered: Duration
    /// Up to where each of those will be shown that are on their way.
    private var bounds: [SegmentID: Duration] = [:]
    /// How long a picture has taken to load of late.
    private var loadTime = Duration.zero
    /// Nothing was chosen since the playhead was moved.
    private var isFresh = true

    init(
        _ direction: Direction, from time: Duration, in tracker: PlaylistTracker, media: PlaylistTracker? = nil,
        end: Duration, liveOffset: Duration = .zero, bitRate: Double?
    ) {
        self.direction = direction
        self.media = media ?? tracker
        self.tracker = tracker
        self.end = end
        self.liveOffset = liveOffset
        self.bitRate = bitRate
        origin = time
        next = time
        covered = time
    }

    var isReverse: Bool { direction == .reverse }

    /// Goes on from elsewhere.
    mutating func move(to time: Duration) {
        origin = time
        next = time
        covered = time
        bounds = [:]
        isFresh = true
    }

    /// The list of the I-frames is there, or a newer state of it.
    mutating func follow(_ list: PlaylistTracker) {
        // Of an item that is over the variant's says all.
        guard tracker.isLive else { return }
        tracker = list
        end = list.end
    }

    /// What the lane of the pictures does next.
    ///
    /// - Parameters:
    ///   - limit: where playing ends in its direction.
    ///   - isWanted: the buffer wants more of them.
    func step(in lane: MediaLane, limit: Duration, isWanted: Bool) -> Step {
        guard let list = lane.tracker, !lane.isComplete, lane.segments.allSatisfy(\.isLoaded),
            lane.segments.count < Self.maximumUnreadPictures
        else { return .nothing }
        guard let index = index(in: list, limit: limit) else {
            let mayCome = list.isLive && !isReverse
            return lane.segments.isEmpty && !mayCome ? .complete : .nothing
        }
        guard isWanted || !lane.isDemuxed else { return .nothing }
        return list.playlist.segments[index].isGap ? .gap(index) : .load(index)
    }

    /// The picture to load next; nil where there is none any more.
    private func index(in list: PlaylistTracker, limit: Duration) -> Int? {
        guard let last = list.index(containing: min(max(next, list.start), list.end - .nanoseconds(1))) else {
            return nil
        }
        switch direction {
        case .forward:
            // The one that is on at the place itself, then those that begin.
            let index = isFresh || list.starts[last] >= next ? last : last + 1
            return index < list.segmentCount && list.starts[index] < limit ? index : nil
        case .reverse:
            if next < list.start { return nil }
            return isFresh || list.starts[last + 1] > limit ? last : nil
        }
    }

    /// Takes note that the picture at `index` is loaded as `segment`.
    mutating func begin(_ segment: SegmentID, at index: Int, in list: PlaylistTracker, _ facts: Facts) {
        let time = list.starts[index]
        let limit = facts.limit
        let speed = Double(abs(facts.rate == 0 ? 1 : facts.rate))
        let step = max(Self.shortestInterval, loadTime * 1.25) * speed
        // What the playhead will have passed by when it is here is not worth loading.
        let passed = facts.playhead + loadTime * (isReverse ? -speed : speed)
        isFresh = false
        switch direction {
        case .forward:
            next = max(time + step, passed, list.starts[index + 1])
            bounds[segment] = self.index(in: list, limit: limit).map { list.starts[$0] } ?? limit
        case .reverse:
            next = min(time - step, passed)
            // The first picture of all is always shown.
            next = index > 0 ? max(list.start, min(next, list.starts[index - 1])) : list.start - .seconds(1)
            // The first one is not dispensed with because what it is shown for is nothing.
            let bound = self.index(in: list, limit: limit).map { max(list.starts[$0], limit + Self.lastPicture) }
            bounds[segment] = bound.map { min($0, time) } ?? limit
        }
    }

    /// Takes note that a picture is there, or will not be. What it is shown for; nil for nothing.
    mutating func end(_ segment: SegmentID, after duration: Duration?) -> Range<Duration>? {
        guard let bound = bounds.removeValue(forKey: segment) else { return nil }
        if let duration { loadTime = loadTime == .zero ? duration : (loadTime * 3 + duration) / 4 }
        let old = covered
        covered = bound
        return old < bound ? old..<bound : bound < old ? bound..<old : nil
    }
}

// MARK: - Judging

extension TrickPlay {
    /// Where playing ends in its direction, within the end times that are set.
    func limit(forwardEnd: Duration?, reverseEnd: Duration?) -> Duration {
        guard isReverse else {
            let end = tracker.isLive ? max(origin, edge) : end
            return min(end, forwardEnd ?? end)
        }
        return max(tracker.start, reverseEnd ?? tracker.start)
    }

    /// Frames are played up to there of a live stream, as far as is known; then its media is.
    private var edge: Duration { LiveWindow(tracker, offset: liveOffset).edge ?? tracker.end }

    /// What the buffer is judged by while pictures are played: times of the item pass faster.
    func adjust(_ situation: inout ForwardBuffer.Situation, rate: Float, limit: Duration) {
        let speed = Self.speed(rate)
        situation.isReverse = isReverse
        situation.effectiveEnd = limit
        situation.preferredForwardBufferDuration = Self.forwardDuration * speed
        situation.startThreshold = Self.startDuration * speed
        situation.targetDuration = Self.startDuration * speed
        situation.nextSegmentDuration = .zero
        situation.nextSegmentByteCount = 0
    }

    /// Pictures are likely to come in time where some of them are there: how far they are apart follows from how they
    /// come.
    func isLikelyToKeepUp(_ verdict: ForwardBuffer.Verdict, rate: Float) -> Bool {
        if verdict.isEmpty { return false }
        return verdict.holdsAllRemaining || verdict.forwardDuration >= Self.startDuration * Self.speed(rate)
    }

    /// The end, the live edge or the start is reached.
    func boundary(_ facts: Facts) -> Boundary? {
        if isReverse { return facts.playhead <= facts.limit ? .start : nil }
        guard facts.playhead >= facts.limit else { return nil }
        let isEnd = !tracker.isLive || facts.forwardEnd.map { $0 <= facts.limit } ?? false
        return isEnd ? .end : .liveEdge
    }

    /// The next moment at which time alone changes something; nil where it never does.
    ///
    /// - Parameters:
    ///   - isAtBoundary: nothing is waited for at the limit any more.
    ///   - stallEpsilon: less than that ahead of the playhead is nothing.
    ///   - mayWantMore: the buffer has enough pictures, and not all that there are.
    func nextMoment(
        _ facts: Facts, _ verdict: ForwardBuffer.Verdict, _ timebase: TimebaseState, isAtBoundary: Bool,
        stallEpsilon: Duration, mayWantMore: Bool, at now: Duration
    ) -> Duration? {
        var next: Duration?
        func consider(_ time: Duration) { next = min(next ?? time, time) }
        if !isAtBoundary, let end = timebase.hostTime(reaching: facts.limit) { consider(end) }
        if !verdict.isEmpty, !verdict.holdsAllRemaining {
            let ahead = verdict.forwardDuration - stallEpsilon + .microseconds(1)
            let time = isReverse ? facts.playhead - ahead : facts.playhead + ahead
            if let empty = timebase.hostTime(reaching: time) { consider(empty) }
        }
        if mayWantMore { consider(now + Self.lookInterval) }
        return next.map { max($0, now + .milliseconds(1)) }
    }

    private static func speed(_ rate: Float) -> Double { max(1, abs(Double(rate))) }
}
