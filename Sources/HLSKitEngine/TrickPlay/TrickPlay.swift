import HLSKitPlaylist
import HLSKitSelection

/// Plays only the I-frames of an item: faster than its media can be played, or backward.
///
/// The distance between frames is large enough to load them in time. It also limits the frames per second to a number
/// that a viewer can distinguish.
package struct TrickPlay: Sendable {
    enum Direction: Sendable, Hashable {
        case forward, reverse
    }

    private static let shortestInterval = Duration.milliseconds(125)
    /// The display time of the last frame, longer than the gaps that buffers skip.
    private static let lastFrame = Duration.milliseconds(600)
    /// The host time of frames that is loaded before they are shown, and the maximum.
    private static let startDuration = Duration.milliseconds(400)
    private static let forwardDuration = Duration.seconds(6)
    /// The maximum number of frames that are being loaded or wait to be read.
    private static let maximumUnreadFrames = 3
    /// The interval of checks whether more frames are needed.
    private static let lookInterval = Duration.milliseconds(100)

    struct Facts: Sendable {
        var rate: Float = 1
        /// The playhead, and the position at which playback ends in its direction.
        var playhead = Duration.zero
        var limit = Duration.zero
        /// The end time that the app set.
        var forwardEnd: Duration?
    }

    enum Step: Sendable, Hashable {
        case nothing
        /// There are no further frames.
        case complete
        /// Skip the next frame, which is marked as a gap.
        case gap(Int)
        case load(Int)
    }

    enum Boundary: Sendable, Hashable {
        case start, end, liveEdge
    }

    let direction: Direction
    /// The playlist of the variant at the time when trick play began. Other playlists are aligned with it.
    @Shared private(set) var media: PlaylistTracker
    /// The playable and seekable range: the playlist of the variant or, in a live stream, of the I-frames once it is
    /// loaded.
    @Shared private(set) var tracker: PlaylistTracker
    /// The end of the item or, in a live stream, of its playlist.
    private(set) var end: Duration
    private let liveOffset: Duration
    /// The position at which trick play began. The live edge is never assumed to be before it.
    private var origin: Duration
    /// The average bit rate of the I-frames at rate 1, or `nil` if it is undeclared.
    let bitRate: Double?
    /// The next frame is the first one (in reverse, the last one) at or beyond this item time.
    private var next: Duration
    /// The item time up to which loaded frames will be shown.
    private var covered: Duration
    /// The item time up to which each frame that is being loaded will be shown.
    private var bounds: [SegmentID: Duration] = [:]
    /// The recent average loading time of a frame.
    private var loadTime = Duration.zero
    /// Whether no frame has been chosen since the last move of the playhead.
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

    mutating func move(to time: Duration) {
        origin = time
        next = time
        covered = time
        bounds = [:]
        isFresh = true
    }

    mutating func follow(_ list: PlaylistTracker) {
        // For an ended item, the variant's playlist is sufficient.
        guard tracker.isLive else { return }
        tracker = list
        end = list.end
    }

    func step(in lane: MediaLane, limit: Duration, isWanted: Bool) -> Step {
        guard let list = lane.tracker, !lane.isComplete, lane.segments.allSatisfy(\.isLoaded),
            lane.segments.count < Self.maximumUnreadFrames
        else { return .nothing }
        guard let index = index(in: list, limit: limit) else {
            let mayCome = list.isLive && !isReverse
            return lane.segments.isEmpty && !mayCome ? .complete : .nothing
        }
        guard isWanted || !lane.isDemuxed else { return .nothing }
        return list.playlist.segments[index].isGap ? .gap(index) : .load(index)
    }

    private func index(in list: PlaylistTracker, limit: Duration) -> Int? {
        guard let last = list.index(containing: min(max(next, list.start), list.end - .nanoseconds(1))) else {
            return nil
        }
        switch direction {
        case .forward:
            // First the frame shown at the position itself, then later ones.
            let index = isFresh || list.starts[last] >= next ? last : last + 1
            return index < list.segmentCount && list.starts[index] < limit ? index : nil
        case .reverse:
            if next < list.start { return nil }
            return isFresh || list.starts[last + 1] > limit ? last : nil
        }
    }

    mutating func begin(_ segment: SegmentID, at index: Int, in list: PlaylistTracker, _ facts: Facts) {
        let time = list.starts[index]
        let limit = facts.limit
        let speed = Double(abs(facts.rate == 0 ? 1 : facts.rate))
        let step = max(Self.shortestInterval, loadTime * 1.25) * speed
        // Skip frames that the playhead will have passed before they arrive.
        let passed = facts.playhead + loadTime * (isReverse ? -speed : speed)
        isFresh = false
        switch direction {
        case .forward:
            next = max(time + step, passed, list.starts[index + 1])
            bounds[segment] = self.index(in: list, limit: limit).map { list.starts[$0] } ?? limit
        case .reverse:
            next = min(time - step, passed)
            // The first frame of the playlist is always shown.
            next = index > 0 ? max(list.start, min(next, list.starts[index - 1])) : list.start - .seconds(1)
            // Keep the first frame from getting an empty range and being omitted.
            let bound = self.index(in: list, limit: limit).map { max(list.starts[$0], limit + Self.lastFrame) }
            bounds[segment] = bound.map { min($0, time) } ?? limit
        }
    }

    /// Called when a frame was loaded or skipped. Returns the range for which it is shown, or `nil` if there is none.
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
    /// The position at which playback ends in its direction, within the end times that the app set.
    func limit(forwardEnd: Duration?, reverseEnd: Duration?) -> Duration {
        guard isReverse else {
            let end = tracker.isLive ? max(origin, edge) : end
            return min(end, forwardEnd ?? end)
        }
        return max(tracker.start, reverseEnd ?? tracker.start)
    }

    /// The known position in a live stream at which I-frames end and normal media continues.
    private var edge: Duration { LiveWindow(tracker, offset: liveOffset).edge ?? tracker.end }

    /// Adapts the input of the buffer evaluation to trick play, in which item time passes faster.
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

    /// Whether frames are likely to arrive in time. They are if some are loaded, because their distance adapts to their
    /// loading time.
    func isLikelyToKeepUp(_ verdict: ForwardBuffer.Verdict, rate: Float) -> Bool {
        if verdict.isEmpty { return false }
        return verdict.holdsAllRemaining || verdict.forwardDuration >= Self.startDuration * Self.speed(rate)
    }

    func boundary(_ facts: Facts) -> Boundary? {
        if isReverse { return facts.playhead <= facts.limit ? .start : nil }
        guard facts.playhead >= facts.limit else { return nil }
        let isEnd = !tracker.isLive || facts.forwardEnd.map { $0 <= facts.limit } ?? false
        return isEnd ? .end : .liveEdge
    }

    /// The next time at which something changes without an event, or `nil` if nothing ever does.
    ///
    /// - Parameters:
    ///   - isAtBoundary: Whether the limit has already been handled.
    ///   - stallEpsilon: The amount of buffered media below which the buffer counts as empty.
    ///   - mayWantMore: Whether the buffer has enough frames, but not all.
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

// MARK: - Variants

extension TrickPlay {
    /// The I-frame variants of an item that can be decoded.
    struct IFrameVariants: Sendable {
        /// Sorted by `BANDWIDTH`, lowest first.
        private let variants: [VariantStream]
        /// Whether the item lists any I-frame variants, decodable or not.
        private let isDeclared: Bool

        /// - Parameter canPlay: Returns whether a codec can be played, or nil to accept all.
        init(_ variants: [VariantStream], canPlay: ((String) -> Bool)?) {
            let playable = variants.filter { variant in
                guard let canPlay else { return true }
                return variant.codecs.allSatisfy(canPlay)
            }
            isDeclared = !variants.isEmpty
            self.variants = playable.sorted { $0.bandwidth < $1.bandwidth }
        }

        func capabilities(isPaced: Bool) -> TimeControlMachine.RateCapabilities {
            guard obstacle(isPaced: isPaced) == nil else { return TimeControlMachine.RateCapabilities() }
            return TimeControlMachine.RateCapabilities(
                canPlayFastForward: true, canPlayReverse: true, canPlaySlowReverse: true, canPlayFastReverse: true)
        }

        func obstacle(isPaced: Bool) -> TrickPlayObstacle? {
            if !isDeclared { return .noIFrames }
            if variants.isEmpty { return .undecodable }
            return isPaced ? nil : .unpaced
        }

        /// Returns the best variant that loads fast enough and is no larger than the regular video.
        ///
        /// - Parameter height: The height of the regular video, or nil or 0 if unknown.
        func best(at rate: Float, height: Int?, bitsPerSecond: Double) -> VariantStream? {
            let fitting = variants.filter { variant in
                guard let own = variant.resolution?.height, let height, height > 0 else { return true }
                return own <= height
            }
            let speed = Double(max(1, abs(rate)))
            return fitting.last { Double($0.bandwidth) * speed <= bitsPerSecond } ?? fitting.first ?? variants.first
        }
    }
}
