/// Where time is in an item: the one place that knows the timebase, how far outputs have come, and what was played.
struct ItemClock: Sendable {
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

    /// What time does not pass: the end, or what it had come to when the end came nearer.
    func lastTime(before end: Duration?) -> Duration? { end.map { max($0, passedEnd ?? $0) } }

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
