import HLSKitSelection

/// The item time at which playback ends before the media does.
package struct EndTime: Sendable, Hashable {
    /// The consequences of a new end time.
    struct Change: Sendable, Hashable {
        /// The time from which to reload media that the old end time cut off, or nil if it cut off none.
        var reopensFrom: Duration?
    }

    /// The end time, or nil if the item ends with its media.
    package private(set) var time: Duration?

    /// Returns the end time that the app sets. A time before the playhead is reached immediately.
    ///
    /// - Parameter playhead: The playhead, or nil before the start position of the item is known.
    /// - Returns: The new end time, or nil if it does not change.
    func moved(to new: Duration?, playhead: Duration?) -> (end: EndTime, change: Change)? {
        let end = EndTime(time: new.map { max($0, playhead ?? $0) })
        guard end != self else { return nil }
        guard let time, end.time.map({ $0 > time }) ?? true else { return (end, Change()) }
        return (end, Change(reopensFrom: time))
    }

    /// Starts the item. Its preferences may contain an end time.
    mutating func start(at start: Duration, end: Duration?) { time = (end ?? time).map { max($0, start) } }
}

extension MediaLane {
    /// The changes to a lane that continues after an end time.
    struct Reopening: Sendable {
        /// The segments that are dropped, last first. Media that was omitted from them is read again.
        var beyond: [SegmentInFlight]
        /// Whether media after the old end time is loaded again.
        var isCut: Bool
        /// Whether the lane was complete before.
        var wasComplete: Bool
    }

    /// Stops loading media after the end time that playback has reached.
    ///
    /// - Returns: The segments that are dropped, last first.
    mutating func cut(at end: Duration) -> [SegmentInFlight] {
        // A part of an incomplete segment was played.
        extend(to: end)
        let beyond = Array(segments.reversed())
        segments.removeAll()
        cutAtEnd()
        return beyond
    }

    /// Resumes after an end time that no longer applies. Returns nil if it did not end the lane.
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

    /// Notes that outputs have presented the whole lane.
    ///
    /// - Parameters:
    ///   - end: The end of the presented media, or nil if outputs have received none.
    ///   - landing: The position to which the playhead was moved.
    ///   - start: The start position of the item.
    mutating func drain(presentedUpTo end: Duration?, since landing: Duration?, from start: Duration?) {
        // Outputs that have received nothing since the playhead moved still report its earlier position.
        let presentedEnd = end.flatMap { end in landing.map { end > $0 } ?? true ? end : nil }
        drain(presentedEnd ?? loadedEnd ?? start ?? .zero)
    }
}

extension ItemState {
    /// Returns how far outputs have presented if they report `time` and had reached `before`.
    func presentedEnd(_ time: Duration, after before: Duration) -> Duration {
        // Outputs that have received no media do not report.
        let reached = requiredLanes.filter { !$0.isComplete }.map { $0.demuxedEnd ?? before }
        // Media that outputs take after an end time is not shown.
        let last = min(time, forwardEnd ?? time)
        return max(min(last, reached.min() ?? last), before)
    }

    /// The end of media that outputs took from lanes without a cut-off. It remains taken if the end time changes.
    var takenEnd: Duration? { requiredLanes.filter { !$0.isCutAtEnd }.compactMap(\.drainedEnd).min() }

    /// The end of the lane that was presented completely and ends last.
    var lastDrainedEnd: Duration? { requiredLanes.compactMap(\.drainedEnd).max() }
}
