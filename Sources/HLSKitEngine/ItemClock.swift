/// Where time is in an item: the one place that knows the timebase, how far outputs have come, and what was played.
struct ItemClock: Sendable {
    /// The bounds of the playhead.
    enum Bounds: Sendable, Hashable {
        /// There is no item.
        case nothing
        /// Unpaced: the playhead is where outputs are, or at the start.
        case outputs(start: Duration?)
        /// Time runs up to the end; nil while that is not known.
        case media(end: Duration?)
        /// I-frames are played up to `limit`, in their direction.
        case frames(limit: Duration, isReverse: Bool, end: Duration?)

        /// Where playing ends, if media is presented in real time and that is known.
        var end: Duration? {
            switch self {
            case .nothing, .outputs: nil
            case .media(let end), .frames(_, _, let end): end
            }
        }
        /// Media is presented in real time.
        var isPaced: Bool {
            switch self {
            case .nothing, .outputs: false
            case .media, .frames: true
            }
        }
    }

    /// The playhead before an event that may bring the end nearer.
    struct Mark: Sendable, Hashable {
        fileprivate var time: Duration
        fileprivate var timebase: TimebaseState
    }

    /// While a live stream is played, something happens more often than this.
    private static let longestSilence = Duration.seconds(5)

    private(set) var timebase = TimebaseState.stopped
    /// Unpaced: what outputs have taken.
    private(set) var presentedUpTo: Duration?
    /// Where time was when the end came nearer than that.
    private var passedEnd: Duration?
    private var watched = WatchedTime()

    /// Another item begins, with the timebase as it is.
    mutating func reset() {
        let timebase = timebase
        self = ItemClock()
        self.timebase = timebase
    }

    // MARK: Playhead

    /// The item time that is being presented.
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

    /// What time does not pass: the end, or what it had come to when the end came nearer.
    func lastTime(before end: Duration?) -> Duration? { end.map { max($0, passedEnd ?? $0) } }

    /// Where the playhead is, if time stands or is about to come to the end.
    func mark(_ bounds: Bounds, at now: Duration) -> Mark? {
        guard bounds.isPaced else { return nil }
        if timebase.rate != 0 {
            guard timebase.rate > 0, let end = lastTime(before: bounds.end),
                timebase.itemTime(at: now) + .seconds(1) > end
            else { return nil }
        }
        return Mark(time: playhead(bounds, at: now), timebase: timebase)
    }

    /// Holds time where it was marked if the end came nearer than that: it never goes back to an end.
    mutating func hold(_ mark: Mark, _ bounds: Bounds, at now: Duration) {
        if timebase == mark.timebase, playhead(bounds, at: now) < mark.time { passEnd(at: mark.time) }
    }

    /// Whether a process was stopped, or a machine slept, while a live stream was played.
    func hasSlept(from now: Duration, to time: Duration) -> Bool {
        time - now > Self.longestSilence && timebase.rate > 0
    }

    /// The timebase with which time has not passed the media that there was, while nobody was awake to stop it there; nil
    /// where it has not. Otherwise the media that comes next would be waited for as long as the stop was.
    ///
    /// - Parameter playhead: as it was before the stop.
    func afterSleep(until time: Duration, from playhead: Duration, loaded: [Range<Duration>]) -> TimebaseState? {
        let range = loaded.last { $0.lowerBound <= playhead }
        let end = max(playhead, range?.upperBound ?? playhead)
        guard timebase.itemTime(at: time) > end else { return nil }
        return TimebaseState(itemTime: end, hostTime: time, rate: timebase.rate)
    }

    /// When time came to its end; nil where it has not.
    func timeOfEnd(_ bounds: Bounds, at now: Duration) -> Duration? {
        guard timebase.rate > 0, let end = bounds.end, playhead(bounds, at: now) >= end else { return nil }
        return timebase.hostTime(of: end).map { min($0, now) }
    }

    // MARK: Watching

    /// Media time that was played: what was jumped over or lost is left out.
    func watched(upTo playhead: Duration) -> Duration { watched.total(upTo: playhead) }

    /// The same up to the last change of the timebase.
    var watchedTotal: Duration { watched.total }

    // MARK: Changes

    /// The end came nearer than time had come.
    mutating func passEnd(at time: Duration) { passedEnd = time }

    /// Outputs have taken media up to there.
    mutating func present(upTo time: Duration) { presentedUpTo = time }

    /// Time begins to be counted there: the way to it was not played.
    mutating func beginWatching(at time: Duration) { watched = WatchedTime(from: time) }

    /// Another timebase holds from now on.
    ///
    /// - Parameters:
    ///   - playhead: what was played until then.
    ///   - jump: where the playhead is from now on, if it does not go on from where it is.
    mutating func set(_ new: TimebaseState, playhead: Duration, jump: Duration?) {
        watched.advance(to: playhead)
        if let jump {
            presentedUpTo = jump
            passedEnd = nil
        }
        timebase = new
    }

    /// What is played counts from `time` on.
    mutating func watch(from time: Duration) { watched.jump(to: time) }

    /// There is no media in this stretch.
    mutating func lose(_ range: Range<Duration>, at playhead: Duration) { watched.lose(range, at: playhead) }

    /// There is media in this stretch after all.
    mutating func recover(_ range: Range<Duration>, at playhead: Duration) { watched.recover(range, at: playhead) }
}
