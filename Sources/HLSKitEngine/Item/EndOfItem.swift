import HLSKitLoading
import HLSKitSelection

/// Decides whether an item has ended, and whether it ended normally or with a failure.
struct EndOfItem: Sendable {
    /// The longest time to wait for outputs that do not reach an end time.
    private static let longestWait = Duration.seconds(1)

    /// The time until which to wait for outputs at an end time.
    private var deadline: Duration?
    /// The error if a kind of media could not be decoded from the last seek target to the end.
    @Shared private var undecodable: HLSError? = nil

    struct Facts {
        var isComplete = false
        var isDrained = false
        var hasPresentable = false
        /// The reason why nothing that was loaded can be presented, or nil if something can.
        var missing: HLSError?
        var pendingFailure: HLSError?
        var isAtFailure = false
        var isAtEndTime = false
        var isAtEnd = false
        /// Whether media is playing, without a pending seek or pending subtitles.
        var mayEnd = false
        /// The error if more than one segment at the end was unavailable.
        var loss: HLSError?
        var awaitsOutputs = false
    }

    enum Action: Sendable {
        /// Nothing can be played, or some media is missing.
        case fail(HLSError)
        /// The media loaded before the pending failure was played.
        case failAtLast(HLSError)
        /// Stop loading media after the end time.
        case cut
        /// Wait for outputs to present the media that is due.
        case wait(until: Duration)
        case end
    }

    func check(_ facts: Facts, at now: Duration) -> [Action] {
        // All segments were skipped, which is a failure and not an end.
        if facts.isComplete, facts.pendingFailure == nil, let missing = facts.missing { return [.fail(missing)] }
        if let failure = facts.pendingFailure, facts.isDrained || facts.isAtFailure || !facts.hasPresentable {
            return [.failAtLast(failure)]
        }
        // Media after an end time need not be presented.
        guard facts.isDrained || facts.isAtEndTime, facts.isAtEnd, facts.mayEnd else { return [] }
        // One segment may be missing at the end because a server may list one too many.
        if let loss = facts.loss { return [.fail(loss)] }
        let last: Action = undecodable.map { .fail($0) } ?? .end
        guard facts.isAtEndTime, !facts.isDrained else { return [last] }
        let cut: [Action] = facts.isComplete ? [] : [.cut]
        guard facts.awaitsOutputs else { return cut + [last] }
        if let deadline { return now < deadline ? cut : cut + [last] }
        return cut + [.wait(until: now + Self.longestWait)]
    }

    mutating func wait(until time: Duration) { deadline = time }

    mutating func noteUndecodable(_ error: HLSError) { undecodable = error }

    mutating func move() { deadline = nil }

    mutating func jump() { self = EndOfItem() }
}

// MARK: - End time

/// The item time at which playback ends before the media does.
package struct EndTime: Sendable, Hashable {
    struct Change: Sendable, Hashable {
        /// The time from which to reload media that the old end time cut off, or nil if it cut off none.
        var reopensFrom: Duration?
    }

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

    mutating func start(at start: Duration, end: Duration?) { time = (end ?? time).map { max($0, start) } }
}

extension MediaLane {
    struct Reopening: Sendable {
        /// The segments that are dropped, last first. Media that was omitted from them is read again.
        var pastEnd: [SegmentInFlight]
        var isCut: Bool
        var wasComplete: Bool
    }

    /// Stops loading media after the end time that playback has reached.
    ///
    /// - Returns: The segments that are dropped, last first.
    mutating func cut(at end: Duration) -> [SegmentInFlight] {
        // A part of an incomplete segment was played.
        extend(to: end)
        let pastEnd = Array(segments.reversed())
        segments.removeAll()
        cutAtEnd()
        return pastEnd
    }

    /// Resumes after an end time that no longer applies. Returns nil if it did not end the lane.
    mutating func resume(after end: Duration) -> Reopening? {
        guard cursor != nil, isCutAtEnd || isComplete else { return nil }
        var reopening = Reopening(pastEnd: [], isCut: isCutAtEnd, wasComplete: isComplete)
        if isCutAtEnd {
            reopening.pastEnd = segments.remove { $0.listedEnd > end }.reversed()
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
        // Media that outputs take after an end time is not shown.
        var last = min(time, forwardEnd ?? time)
        for index in lanes.values.indices where lanes.values[index].isRequired && !lanes.values[index].isComplete {
            last = min(last, lanes.values[index].demuxedEnd ?? before)
        }
        return max(last, before)
    }

    /// The end of media that outputs took from lanes without a cut-off. It remains taken if the end time changes.
    var takenEnd: Duration? { requiredLanes.filter { !$0.isCutAtEnd }.compactMap(\.drainedEnd).min() }

    var lastDrainedEnd: Duration? { requiredLanes.compactMap(\.drainedEnd).max() }
}

// MARK: - Extent

extension ItemState {
    /// The start of an item according to its playlists, and its end according to its media.
    struct ItemExtent: Sendable, Hashable {
        /// The item time at which playback starts, or nil until a playlist determines it.
        private(set) var start: Duration?
        /// The actual end of the media, known once all of it was presented.
        private(set) var mediaEnd: Duration?
        private var checkedEnd: Duration?

        mutating func begin(at time: Duration) { start = time }

        mutating func reopen() { mediaEnd = nil }

        mutating func close(at end: Duration?) { mediaEnd = end }

        /// Returns whether ``mediaEnd`` has changed since the last call.
        mutating func takeChange() -> Bool {
            defer { checkedEnd = mediaEnd }
            return checkedEnd != mediaEnd
        }

        /// Returns the duration of the item.
        ///
        /// - Parameters:
        ///   - listedEnd: The end according to the playlists.
        ///   - forwardEnd: The end time that the app has set.
        ///   - hasFailed: Whether some listed media was not played.
        func duration(listedEnd: Duration, forwardEnd: Duration?, hasFailed: Bool) -> Duration {
            // At an end time or a failure, the presented media ends before the item does.
            let isWhole = forwardEnd.map { $0 > listedEnd } ?? true
            return isWhole && !hasFailed ? mediaEnd ?? listedEnd : listedEnd
        }
    }
}
