import HLSPlaylist

/// Playing the I-frames of an item and nothing else: faster than its media can be played, or backwards.
///
/// Pictures are chosen so far apart that they can be loaded in time and that nobody is shown more of them in a second than
/// can be told apart.
struct TrickPlay: Sendable {
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
    static let maximumUnreadPictures = 3

    let direction: Direction
    /// The playlist of the variant that was left: what can be played and sought in.
    @Shared var tracker: PlaylistTracker
    /// Where the item ends.
    let end: Duration
    /// Average bit rate of the I-frames at the rate 1; nil where undeclared.
    let bitRate: Double?
    /// The next picture is the first (in reverse: the last) at this item time or beyond it.
    private(set) var next: Duration
    /// Up to where loaded pictures will be shown.
    private(set) var covered: Duration
    /// Up to where each of those will be shown that are on their way.
    private var bounds: [SegmentID: Duration] = [:]
    /// How long a picture has taken to load of late.
    private(set) var loadTime = Duration.zero
    /// Nothing was chosen since the playhead was moved.
    private var isFresh = true

    init(
        _ direction: Direction, from time: Duration, in tracker: PlaylistTracker, end: Duration, bitRate: Double?
    ) {
        self.direction = direction
        self.tracker = tracker
        self.end = end
        self.bitRate = bitRate
        next = time
        covered = time
    }

    var isReverse: Bool { direction == .reverse }

    /// Goes on from elsewhere.
    mutating func move(to time: Duration) {
        next = time
        covered = time
        bounds = [:]
        isFresh = true
    }

    /// The picture to load next; nil where there is none any more.
    ///
    /// - Parameter limit: where playing ends in its direction.
    func index(in list: PlaylistTracker, limit: Duration) -> Int? {
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
    ///
    /// - Parameter playhead: where playing has come to meanwhile.
    mutating func begin(
        _ segment: SegmentID, at index: Int, in list: PlaylistTracker, rate: Float, playhead: Duration, limit: Duration
    ) {
        let time = list.starts[index]
        let speed = Double(abs(rate))
        let step = max(Self.shortestInterval, loadTime * 1.25) * speed
        // What the playhead will have passed by when it is here is not worth loading.
        let passed = playhead + loadTime * (isReverse ? -speed : speed)
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
        guard isReverse else { return min(end, forwardEnd ?? end) }
        return max(tracker.start, reverseEnd ?? tracker.start)
    }

    /// What the buffer is judged by while pictures are played: times of the item pass faster.
    func adjust(_ situation: inout ForwardBuffer.Situation, rate: Float, limit: Duration) {
        let speed = Self.speed(rate)
        situation.isReverse = isReverse
        situation.effectiveEnd = limit
        situation.preferredForwardBufferDuration = (Self.forwardDuration * speed).seconds
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

    private static func speed(_ rate: Float) -> Double { max(1, abs(Double(rate))) }
}
