import HLSKitSelection

/// The end time of an item: where playing ends before its media does.
package struct EndTime: Sendable, Hashable {
    /// What a new end time leads to.
    struct Change: Sendable, Hashable {
        /// What was cut off at the end before is loaded from there on; nil where nothing was.
        var reopensFrom: Duration?
    }

    /// nil where the item ends with its media.
    package private(set) var time: Duration?

    /// The program names an end. One that lies behind the playhead is there at once.
    ///
    /// - Parameter playhead: nil before it is known where the item starts.
    /// - Returns: nil where the end stays what it was.
    func moved(to new: Duration?, playhead: Duration?) -> (end: EndTime, change: Change)? {
        let end = EndTime(time: new.map { max($0, playhead ?? $0) })
        guard end != self else { return nil }
        guard let time, end.time.map({ $0 > time }) ?? true else { return (end, Change()) }
        return (end, Change(reopensFrom: time))
    }

    /// The item starts, and its preferences may name an end.
    mutating func start(at start: Duration, end: Duration?) { time = (end ?? time).map { max($0, start) } }
}

extension MediaLane {
    /// What a lane does that goes on behind an end time.
    struct Reopening: Sendable {
        /// Segments that are let go, the last first: what was left out of them is read again.
        var beyond: [SegmentInFlight]
        /// Media behind the end before is loaded once more.
        var isCut: Bool
        /// It was complete, and is not any more.
        var wasComplete: Bool
    }

    /// Playback has come to an end time: nothing behind it is loaded.
    ///
    /// - Returns: the segments that are let go, the last first.
    mutating func cut(at end: Duration) -> [SegmentInFlight] {
        // Some of a segment that is not there whole was played.
        extend(to: end)
        let beyond = Array(segments.reversed())
        segments.removeAll()
        cutAtEnd()
        return beyond
    }

    /// An end time that had cut the lane off holds no longer. nil where it had not.
    mutating func goOn(behind end: Duration) -> Reopening? {
        guard cursor != nil, isCutAtEnd || isComplete else { return nil }
        var reopening = Reopening(beyond: [], isCut: isCutAtEnd, wasComplete: isComplete)
        if isCutAtEnd {
            reopening.beyond = segments.remove { $0.listedEnd > end }.reversed()
            begin(.cut(end), at: .time(max(end, tracker?.start ?? end)))
        }
        reopen()
        return reopening
    }

    /// Outputs have presented all of it.
    ///
    /// - Parameters:
    ///   - end: where that was; nil where they have received nothing.
    ///   - landing: where the playhead was moved to.
    ///   - start: where the item starts.
    mutating func drain(presentedUpTo end: Duration?, since landing: Duration?, from start: Duration?) {
        // Outputs that have received nothing since the playhead moved still report its earlier place.
        let presentedEnd = end.flatMap { end in landing.map { end > $0 } ?? true ? end : nil }
        drain(presentedEnd ?? loadedEnd ?? start ?? .zero)
    }
}

extension ItemState {
    /// How far outputs have presented that say `time`, where they had come to `before`.
    func presentedEnd(_ time: Duration, after before: Duration) -> Duration {
        // Outputs that have got nothing yet are not heard of.
        let reached = requiredLanes.filter { !$0.isComplete }.map { $0.demuxedEnd ?? before }
        // What outputs take beyond an end time is not shown.
        let last = min(time, forwardEnd ?? time)
        return max(min(last, reached.min() ?? last), before)
    }

    /// What outputs took of lanes that no end time has cut off: beyond another end time it stays taken.
    var takenEnd: Duration? { requiredLanes.filter { !$0.isCutAtEnd }.compactMap(\.drainedEnd).min() }

    /// Where media ends all of which was presented.
    var lastDrainedEnd: Duration? { requiredLanes.compactMap(\.drainedEnd).max() }
}
