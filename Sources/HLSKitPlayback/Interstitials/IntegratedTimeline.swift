import HLSKitEngine
public import HLSKitLoading
public import HLSKitSelection
public import HLSKitTime

extension PlayerItem {
    /// The item with its interstitials, as one timeline.
    public var integratedTimeline: IntegratedTimeline { IntegratedTimeline(item: self) }
}

/// One timeline of an item and the interstitials that are played in it: what there is, where the player is on it, and how to
/// get elsewhere.
///
/// The semantics are those of `AVPlayerItemIntegratedTimeline`. Interstitials are on it while the item is its player's current
/// one. Keeps the item, and not the player.
///
/// See docs/behaviour/interstitials.md.
public struct IntegratedTimeline: Sendable {
    let item: PlayerItem

    /// All of it, as it is now; without segments before the item is loaded. Lengths that are not known yet count nothing.
    public var currentSnapshot: IntegratedTimelineSnapshot {
        item.attachedCore?.integratedTimeline(of: item) ?? IntegratedTimelineSnapshot()
    }

    /// Where the player is on the timeline; 0 before the item is loaded. Stands while an event at a single point plays.
    public var currentTime: MediaTime { currentSnapshot.currentTime }

    /// Goes to a time on the timeline: an item time, or the middle of an event, which is then played from there.
    ///
    /// - Parameters:
    ///   - time: `.positiveInfinity` is the end.
    ///   - toleranceBefore: as for ``Player/seek(to:toleranceBefore:toleranceAfter:)``; of no meaning inside of events.
    ///   - toleranceAfter: the same.
    /// - Returns: true when the playhead was moved, or an event that may not be jumped over is played first; false where that
    ///   returns false, where an event that plays may not be left (``PlayerEvent/Kind/interstitialSeekRefused(_:)``), and for
    ///   an item that is not current or not loaded.
    /// - Throws: ``HLSError/Code/invalidTime``.
    public func seek(
        to time: MediaTime, toleranceBefore: MediaTime = .positiveInfinity,
        toleranceAfter: MediaTime = .positiveInfinity
    ) async throws(HLSError) -> Bool {
        let request = try Player.seekRequest(time, before: toleranceBefore, after: toleranceAfter)
        guard let core = item.attachedCore, core.currentItem === item, let request else { return false }
        let snapshot = currentSnapshot
        guard !snapshot.segments.isEmpty, case .time(let wanted) = request.destination else {
            return await core.seek(request)
        }
        switch snapshot.place(at: wanted) {
        case .interstitial(let id, let offset): return core.enterInterstitial(id, at: offset, of: item)
        case .primary(let place):
            return await core.seek(SeekRequest(destination: .time(place), tolerance: request.tolerance))
        case nil: return false
        }
    }

    // MARK: Observing

    /// The current time of the timeline: at each multiple of `interval` of what plays, once after each jump, and when time begins
    /// to run and stops. A slow reader gets the newest time only. Ends with the player; without one at once.
    ///
    /// - Throws: ``HLSError/Code/invalidArgument`` if `interval` is not a number above 0.
    public func times(every interval: MediaTime) throws(HLSError) -> IntegratedTimes {
        guard let duration = interval.duration, duration > .zero else {
            throw HLSError(
                code: .invalidArgument, cause: "an interval must be longer than 0", detail: "\(interval)")
        }
        let ended = AsyncStream<MediaTime> { $0.finish() }
        return IntegratedTimes(ticks: item.attachedCore?.integratedTicks(every: duration) ?? ended, timeline: self)
    }

    /// Each of `offsets` into a segment when playing comes to it or goes over it: the quarters of an advertisement, for
    /// instance. Of an event also at a single point. The times that come are the offsets. Ends with the player; without one at
    /// once.
    ///
    /// - Parameters:
    ///   - segment: of a ``currentSnapshot``; of an event it counts wherever the event is by then.
    ///   - offsets: from the start of the segment; those outside of it never come.
    /// - Throws: ``HLSError/Code/invalidArgument`` if one of the offsets is not a number.
    public func boundaries(
        of segment: IntegratedTimelineSegment, offsets: [MediaTime]
    ) throws(HLSError) -> IntegratedBoundaries {
        let durations = offsets.compactMap(\.duration)
        guard durations.count == offsets.count else {
            throw HLSError(code: .invalidArgument, cause: "a boundary must be a time")
        }
        let times = segment.sourceTimes(of: durations)
        let stream: BoundaryTimes? =
            if let event = segment.event {
                item.attachedCore?.interstitialBoundaries(times, of: event.id)
            } else {
                item.attachedCore?.boundaries(times)
            }
        return IntegratedBoundaries(
            times: stream ?? BoundaryTimes(stream: AsyncStream { $0.finish() }), start: segment.sourceStart)
    }
}

/// Times of an integrated timeline as playing comes to them. Ends with the player or the consuming task.
public struct IntegratedTimes: AsyncSequence, Sendable {
    let ticks: AsyncStream<MediaTime>
    let timeline: IntegratedTimeline

    public func makeAsyncIterator() -> Iterator { Iterator(ticks: ticks.makeAsyncIterator(), timeline: timeline) }

    /// Iterates over the times.
    public struct Iterator: AsyncIteratorProtocol {
        var ticks: AsyncStream<MediaTime>.Iterator
        let timeline: IntegratedTimeline

        /// Waits for the next time; nil at the end.
        public mutating func next(isolation actor: isolated (any Actor)?) async -> MediaTime? {
            guard await ticks.next(isolation: actor) != nil else { return nil }
            return timeline.currentTime
        }

        public mutating func next() async -> MediaTime? { await next(isolation: #isolation) }
    }
}

/// The offsets into a segment that playing went over, none of them left out. Ends with the player or the consuming task.
public struct IntegratedBoundaries: AsyncSequence, Sendable {
    let times: BoundaryTimes
    let start: Duration

    public func makeAsyncIterator() -> Iterator { Iterator(times: times.makeAsyncIterator(), start: start) }

    /// Iterates over the offsets.
    public struct Iterator: AsyncIteratorProtocol {
        var times: AsyncStream<MediaTime>.Iterator
        let start: Duration

        /// Waits for the next offset; nil at the end.
        public mutating func next(isolation actor: isolated (any Actor)?) async -> MediaTime? {
            await times.next(isolation: actor).flatMap(\.duration).map { MediaTime($0 - start) }
        }

        public mutating func next() async -> MediaTime? { await next(isolation: #isolation) }
    }
}
