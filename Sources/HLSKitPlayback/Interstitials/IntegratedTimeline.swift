import HLSKitEngine
public import HLSKitLoading
public import HLSKitSelection
public import HLSKitTime

extension PlayerItem {
    /// The timeline of the item together with its interstitials.
    public var integratedTimeline: IntegratedTimeline { IntegratedTimeline(item: self) }
}

/// One timeline for an item and the interstitials that play in it.
///
/// It shows the segments and the current position, and it can seek. It behaves like
/// `AVPlayerItemIntegratedTimeline`. The timeline contains interstitials while the item is its player's current item.
/// It keeps a strong reference to the item, but not to the player. See <doc:Interstitials>.
public struct IntegratedTimeline: Sendable {
    let item: PlayerItem

    /// The current timeline.
    ///
    /// It has no segments until the item is loaded. Unknown durations are zero.
    public var currentSnapshot: IntegratedTimelineSnapshot {
        item.attachedCore?.integratedTimeline(of: item) ?? IntegratedTimelineSnapshot()
    }

    /// The current position on the timeline, or 0 until the item is loaded.
    ///
    /// The position does not change while an event at a single point plays.
    public var currentTime: MediaTime { currentSnapshot.currentTime }

    /// Seeks to a time on the timeline, which may lie in the item or within an event.
    ///
    /// If it lies within an event, the event plays from there.
    ///
    /// - Parameters:
    ///   - time: The time on the timeline. `.positiveInfinity` is the end.
    ///   - toleranceBefore: The tolerance as in ``Player/seek(to:toleranceBefore:toleranceAfter:)``. It has no effect
    ///     within events.
    ///   - toleranceAfter: The tolerance as in ``Player/seek(to:toleranceBefore:toleranceAfter:)``. It has no effect
    ///     within events.
    /// - Returns: `true` if the playhead moved, or if an event that may not be skipped plays first. `false` if the
    ///   player's method would return `false`, or if the current event must not be left
    ///   (``PlayerEvent/Kind/interstitialSeekRefused(_:)``). Also `false` if the item is not current or not loaded.
    /// - Throws: ``HLSError/Code/invalidTime`` if `time` is not a time, or if a tolerance is negative or not a time.
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

    /// Returns a sequence of the timeline's current time at regular intervals.
    ///
    /// The sequence yields the time at each multiple of `interval` in the item or event that plays, after each jump,
    /// and when time starts or stops. A slow reader gets only the newest time. The sequence ends with the player. If
    /// there is no player, it ends at once.
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

    /// Returns a sequence of offsets into a segment as playback reaches or crosses them.
    ///
    /// Use it for the quartiles of an advertisement, for example. It also works for an event at a single point. The
    /// values are the given offsets. The sequence ends with the player. If there is no player, it ends at once.
    ///
    /// - Parameters:
    ///   - segment: A segment of a ``currentSnapshot``. The offsets into an event apply even if the event moves.
    ///   - offsets: The offsets from the start of the segment. Offsets outside the segment are never yielded.
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

/// A sequence of an integrated timeline's times.
///
/// It ends with the player or the reading task.
public struct IntegratedTimes: AsyncSequence, Sendable {
    let ticks: AsyncStream<MediaTime>
    let timeline: IntegratedTimeline

    public func makeAsyncIterator() -> Iterator { Iterator(ticks: ticks.makeAsyncIterator(), timeline: timeline) }

    /// Iterates over the times.
    public struct Iterator: AsyncIteratorProtocol {
        var ticks: AsyncStream<MediaTime>.Iterator
        let timeline: IntegratedTimeline

        /// Waits for the next time, and returns it or `nil` at the end of the sequence.
        public mutating func next(isolation actor: isolated (any Actor)?) async -> MediaTime? {
            guard await ticks.next(isolation: actor) != nil else { return nil }
            return timeline.currentTime
        }

        public mutating func next() async -> MediaTime? { await next(isolation: #isolation) }
    }
}

/// A sequence of all offsets that playback has crossed.
///
/// It ends with the player or the reading task.
public struct IntegratedBoundaries: AsyncSequence, Sendable {
    let times: BoundaryTimes
    let start: Duration

    public func makeAsyncIterator() -> Iterator { Iterator(times: times.makeAsyncIterator(), start: start) }

    /// Iterates over the offsets.
    public struct Iterator: AsyncIteratorProtocol {
        var times: AsyncStream<MediaTime>.Iterator
        let start: Duration

        /// Waits for the next offset, and returns it or `nil` at the end of the sequence.
        public mutating func next(isolation actor: isolated (any Actor)?) async -> MediaTime? {
            await times.next(isolation: actor).flatMap(\.duration).map { MediaTime($0 - start) }
        }

        public mutating func next() async -> MediaTime? { await next(isolation: #isolation) }
    }
}
