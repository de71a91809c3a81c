/// The time of an item: its timebase, the progress of outputs, and the watched duration.
struct ItemClock: Sendable {
    enum Bounds: Sendable, Hashable {
        /// There is no item.
        case nothing
        /// Unpaced: the playhead is where outputs are or, before that, at the start.
        case outputs(start: Duration?)
        /// Time runs up to the end, or without a bound while that is nil because it is unknown.
        case media(end: Duration?)
        /// I-frames are played up to `limit`, in their direction.
        case frames(limit: Duration, isReverse: Bool, end: Duration?)

        /// The end of playback if media is presented in real time and the end is known.
        var end: Duration? {
            switch self {
            case .nothing, .outputs: nil
            case .media(let end), .frames(_, _, let end): end
            }
        }
        var isPaced: Bool {
            switch self {
            case .nothing, .outputs: false
            case .media, .frames: true
            }
        }
    }

    /// The playhead before an event that may move the end closer.
    struct Mark: Sendable, Hashable {
        fileprivate var time: Duration
        fileprivate var timebase: TimebaseState
    }

    /// The longest interval without events during live playback.
    private static let longestSilence = Duration.seconds(5)

    private(set) var timebase = TimebaseState.stopped
    /// Unpaced: the end of the media that outputs have taken.
    private(set) var presentedUpTo: Duration?
    /// The item time when the end moved before the playhead.
    private var passedEnd: Duration?
    private var watched = WatchedTime()

    mutating func reset() {
        let timebase = timebase
        self = ItemClock()
        self.timebase = timebase
    }

    // MARK: Playhead

    /// Returns the item time that is being presented.
    func playhead(_ bounds: Bounds, at now: Duration) -> Duration {
        switch bounds {
        case .nothing: return .zero
        case .outputs(let start): return presentedUpTo ?? start ?? .zero
        case .media(let end):
            let time = timebase.itemTime(at: now)
            return lastTime(before: end).map { min(time, $0) } ?? time
        case .frames(let limit, let isReverse, _):
            let time = timebase.itemTime(at: now)
            return isReverse ? max(time, limit) : min(time, limit)
        }
    }

    /// Returns the limit of time: the end, or the playhead's position when the end moved before it.
    func lastTime(before end: Duration?) -> Duration? { end.map { max($0, passedEnd ?? $0) } }

    /// Returns a mark of the playhead if time is stopped or within a second of the end.
    func mark(_ bounds: Bounds, at now: Duration) -> Mark? {
        guard bounds.isPaced else { return nil }
        if timebase.rate != 0 {
            guard timebase.rate > 0, let end = lastTime(before: bounds.end),
                timebase.itemTime(at: now) + .seconds(1) > end
            else { return nil }
        }
        return Mark(time: playhead(bounds, at: now), timebase: timebase)
    }

    /// Holds time at the mark if the end moved before it, because time never goes back to an end.
    mutating func hold(_ mark: Mark, _ bounds: Bounds, at now: Duration) {
        if timebase == mark.timebase, playhead(bounds, at: now) < mark.time { passEnd(at: mark.time) }
    }

    /// Whether the process or the machine was suspended during live playback.
    func hasSlept(from now: Duration, to time: Duration) -> Bool {
        time - now > Self.longestSilence && timebase.rate > 0
    }

    /// Returns a timebase at the end of loaded media, or nil if time has not passed that end.
    ///
    /// Nothing could stop time while the process was suspended. Without the correction, playback would wait as long as
    /// the suspension for the next media.
    ///
    /// - Parameter playhead: The playhead before the suspension.
    func afterSleep(until time: Duration, from playhead: Duration, loaded: [Range<Duration>]) -> TimebaseState? {
        let range = loaded.last { $0.lowerBound <= playhead }
        let end = max(playhead, range?.upperBound ?? playhead)
        guard timebase.itemTime(at: time) > end else { return nil }
        return TimebaseState(itemTime: end, hostTime: time, rate: timebase.rate)
    }

    /// Returns when time reached the end, or nil if it has not.
    func timeOfEnd(_ bounds: Bounds, at now: Duration) -> Duration? {
        guard timebase.rate > 0, let end = bounds.end, playhead(bounds, at: now) >= end else { return nil }
        return timebase.hostTime(of: end).map { min($0, now) }
    }

    // MARK: Watching

    func watched(upTo playhead: Duration) -> Duration { watched.total(upTo: playhead) }

    /// The watched duration up to the last change of the timebase.
    var watchedTotal: Duration { watched.total }

    // MARK: Changes

    mutating func passEnd(at time: Duration) { passedEnd = time }

    mutating func present(upTo time: Duration) { presentedUpTo = time }

    mutating func beginWatching(at time: Duration) { watched = WatchedTime(from: time) }

    /// Sets a new timebase.
    ///
    /// - Parameters:
    ///   - playhead: The end of the media played until this change.
    ///   - jump: The new position of the playhead if it does not continue from its current one.
    mutating func set(_ new: TimebaseState, playhead: Duration, jump: Duration?) {
        watched.advance(to: playhead)
        if let jump {
            presentedUpTo = jump
            passedEnd = nil
        }
        timebase = new
    }

    mutating func watch(from time: Duration) { watched.jump(to: time) }

    mutating func lose(_ range: Range<Duration>, at playhead: Duration) { watched.lose(range, at: playhead) }

    mutating func recover(_ range: Range<Duration>, at playhead: Duration) { watched.recover(range, at: playhead) }
}

// MARK: - Watched time

extension ItemClock {
    /// The media time that was played, forward and backward, without skipped and lost media.
    ///
    /// The player's state, its access log and its metrics all use this value.
    struct WatchedTime: Sendable {
        /// The maximum number of losses to keep. The oldest ones are far in the past of a long live stream.
        static let maximumLossCount = 256

        private(set) var total = Duration.zero
        private var place = Duration.zero
        /// Ranges of the item's timeline without media, which do not count as watched.
        private var losses: [Range<Duration>] = []

        init(from place: Duration = .zero) { self.place = place }

        mutating func advance(to time: Duration) {
            total = total(upTo: time)
            place = time
        }

        mutating func jump(to time: Duration) { place = time }

        /// Marks a range without media.
        ///
        /// - Parameter playhead: The current position. Media played before this call stays counted.
        mutating func lose(_ range: Range<Duration>, at playhead: Duration) {
            guard !range.isEmpty else { return }
            advance(to: playhead)
            if let last = losses.last, last.upperBound == range.lowerBound {
                losses[losses.count - 1] = last.lowerBound..<range.upperBound
                return
            }
            losses.append(range)
            if losses.count > Self.maximumLossCount { losses.removeFirst() }
        }

        /// Marks a range that has media after all, because it was loaded again.
        mutating func recover(_ range: Range<Duration>, at playhead: Duration) {
            guard losses.contains(where: { $0.overlaps(range) }) else { return }
            advance(to: playhead)
            losses = losses.flatMap { loss in
                [
                    loss.lowerBound..<max(loss.lowerBound, min(loss.upperBound, range.lowerBound)),
                    min(loss.upperBound, max(loss.lowerBound, range.upperBound))..<loss.upperBound,
                ].filter { !$0.isEmpty }
            }
        }

        func total(upTo time: Duration) -> Duration {
            let passed = min(place, time)..<max(place, time)
            let lost = losses.reduce(Duration.zero) { sum, loss in
                let common = loss.clamped(to: passed)
                return sum + (common.upperBound - common.lowerBound)
            }
            return total + (passed.upperBound - passed.lowerBound) - lost
        }
    }
}
