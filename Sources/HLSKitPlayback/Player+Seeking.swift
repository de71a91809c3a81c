public import FoundationEssentials
import HLSKitEngine
public import HLSKitLoading
package import HLSKitPlaylist
public import HLSKitTime

extension Player {
    /// Moves the playhead of the current item.
    ///
    /// Playback continues within `time - toleranceBefore ... time + toleranceAfter`. The player prefers, in this order:
    ///
    /// - the latest frame up to `time` at which decoding can start,
    /// - the earliest such frame after `time`,
    /// - the frame shown at `time`, decoded from an earlier frame.
    ///
    /// If both tolerances are `.zero`, playback continues with exactly the frame shown at `time`. If the tolerances are
    /// unlimited (the default), the player picks the fastest position. This is a loaded frame within one target
    /// duration at which decoding can start or, if there is none, the start of the segment.
    ///
    /// Loaded media is presented without a request. Otherwise, loading restarts at `time`. The call returns when the
    /// first media at the new position is decoded. If the item does not have a start position yet, `time` becomes its
    /// start position.
    ///
    /// - Parameters:
    ///   - time: The item time. `.positiveInfinity` is the end or, for a live stream, the configured distance from the
    ///     live edge.
    ///   - toleranceBefore: The tolerance before `time`, zero or more. The default is `.positiveInfinity`: no limit.
    ///   - toleranceAfter: The tolerance after `time`, zero or more. The default is `.positiveInfinity`: no limit.
    /// - Returns: `true` if the playhead moved. `false` if a newer seek replaced this one (which returns at once), or
    ///   if ``PlayerItem/cancelPendingSeeks()`` or the task cancelled it. Also `false` if there is no item, if the item
    ///   failed or was replaced, or if the time is outside ``PlayerState/seekableTimeRanges``.
    /// - Throws: ``HLSError/Code/invalidTime`` if `time` is not a time, or if a tolerance is negative or not a time.
    public func seek(
        to time: MediaTime, toleranceBefore: MediaTime = .positiveInfinity,
        toleranceAfter: MediaTime = .positiveInfinity
    ) async throws(HLSError) -> Bool {
        guard let request = try Self.seekRequest(time, before: toleranceBefore, after: toleranceAfter) else {
            return false
        }
        return await core.seek(request)
    }

    /// Returns `nil` for `.negativeInfinity`, which no item time precedes.
    static func seekRequest(
        _ time: MediaTime, before: MediaTime, after: MediaTime
    ) throws(HLSError) -> SeekRequest? {
        let tolerance = SeekRequest.Tolerance(before: try Self.tolerance(before), after: try Self.tolerance(after))
        if time.isPositiveInfinity { return SeekRequest(destination: .edge, tolerance: tolerance) }
        if let time = time.duration { return SeekRequest(destination: .time(time), tolerance: tolerance) }
        if time == .negativeInfinity { return nil }
        throw HLSError(code: .invalidTime, cause: "cannot seek to this time", detail: "\(time)")
    }

    /// Moves the playhead to the media with this date.
    ///
    /// - Returns: `true` if the playhead moved, as for ``seek(to:toleranceBefore:toleranceAfter:)``. Also `false` if
    ///   the playlist has no `EXT-X-PROGRAM-DATE-TIME`.
    public func seek(to date: Date) async throws(HLSError) -> Bool {
        guard let date = PlaylistDate(date) else {
            throw HLSError(
                code: .invalidTime, cause: "cannot seek to this date", detail: "\(date.timeIntervalSince1970) s")
        }
        return await core.seek(SeekRequest(destination: .date(date), tolerance: .zero))
    }

    private static func tolerance(_ time: MediaTime) throws(HLSError) -> Duration? {
        if time.isPositiveInfinity { return nil }
        guard let duration = time.duration, duration >= .zero else {
            throw HLSError(
                code: .invalidTime, cause: "a tolerance of a seek must be zero or more", detail: "\(time)")
        }
        return duration
    }

    /// The clock that times the presentation of media.
    ///
    /// `sourceClock.now` is the host time. Players with the same clock share its host time. Set it in
    /// ``PlayerConfiguration/sourceClock``.
    public var sourceClock: SourceClock { core.clock.source }

    /// The time at which the player was created, on its ``sourceClock``.
    ///
    /// Elapsed times in the player's logs count from this time.
    public var creationTime: HostTime { core.clock.origin }

    package var creationDate: PlaylistDate { core.configuration.now }

    /// Plays so that a given item time is presented at a given host time.
    ///
    /// Use this method to synchronize several players. If the host time is in the past, the player continues as if it
    /// had played since then. If the host time is in the future, time does not pass until then. The player stops if
    /// media at the position is not loaded.
    ///
    /// ```swift
    /// let start = one.sourceClock.now + .seconds(1)
    /// try one.setRate(1, time: .seconds(10), atHostTime: start)
    /// try other.setRate(1, time: .seconds(10), atHostTime: start)
    /// ```
    ///
    /// - Parameters:
    ///   - rate: The rate from `hostTime` on.
    ///   - time: The item time, or `nil` for the current time. Negative times become 0.
    ///   - hostTime: The host time on the ``sourceClock``, or `nil` for now.
    /// - Throws: ``HLSError/Code/requiresManualWaiting`` if ``automaticallyWaitsToMinimizeStalling`` is `true`;
    ///   ``HLSError/Code/invalidTime`` if a time is not a number or is decades away; ``HLSError/Code/invalidArgument``
    ///   if the rate is not finite.
    public func setRate(_ rate: Float, time: MediaTime?, atHostTime hostTime: HostTime?) throws(HLSError) {
        guard !automaticallyWaitsToMinimizeStalling else {
            throw HLSError(
                code: .requiresManualWaiting,
                cause: "a rate cannot be tied to host time while the player waits automatically",
                detail: "automaticallyWaitsToMinimizeStalling is true")
        }
        guard rate.isFinite else {
            throw HLSError(code: .invalidArgument, cause: "not a rate", detail: "\(rate)")
        }
        let item = try Self.anchor(time ?? state.currentTime)
        let host = try hostTime.map(elapsed) ?? core.clock.now
        core.control(
            .setRateAtHostTime(rate, TimeControlMachine.TimebaseAnchor(itemTime: max(item, .zero), hostTime: host)))
    }

    // Sums of times that are centuries long can overflow.
    private static let decades = Duration.seconds(1_000_000_000)

    private static func anchor(_ time: MediaTime) throws(HLSError) -> Duration {
        guard let duration = time.duration, abs(duration) < decades else {
            throw HLSError(code: .invalidTime, cause: "not a time that a rate can be tied to", detail: "\(time)")
        }
        return duration
    }

    private func elapsed(_ hostTime: HostTime) throws(HLSError) -> Duration {
        // The difference between two arbitrary durations can overflow.
        guard hostTime.offset.components.seconds.magnitude < 1 << 40,
            case let elapsed = hostTime - core.clock.origin, abs(elapsed) < Self.decades
        else {
            throw HLSError(
                code: .invalidTime, cause: "not a host time that a rate can be tied to", detail: "\(hostTime)")
        }
        return elapsed
    }
}

extension PlayerItem {
    /// Moves the playhead of the item, like ``Player/seek(to:toleranceBefore:toleranceAfter:)``.
    ///
    /// If no player has loaded the item, `time` becomes its ``startPosition``, and the call returns `true`. This also
    /// applies to an item that has left its player and is inserted again.
    ///
    /// - Returns: `true` if the playhead moved. Also `false` if the item is loaded but waits for its turn in a queue, or
    ///   if it is not loaded and `time` is infinite.
    /// - Throws: ``HLSError/Code/invalidTime`` if `time` is not a time, or if a tolerance is negative or not a time.
    public func seek(
        to time: MediaTime, toleranceBefore: MediaTime = .positiveInfinity,
        toleranceAfter: MediaTime = .positiveInfinity
    ) async throws(HLSError) -> Bool {
        guard let request = try Player.seekRequest(time, before: toleranceBefore, after: toleranceAfter) else {
            return false
        }
        if let core = attachedCore, core.read(of: self, { _ in true }) == true {
            return await core.seek(request, of: self)
        }
        guard time.isNumeric else { return false }
        startPosition = .time(max(time, .zero))
        return true
    }

    /// Cancels the pending seek, if any, which then returns `false`.
    ///
    /// The playhead stays at its current position.
    public func cancelPendingSeeks() {
        attachedCore?.control(.cancelSeek, of: self)
    }
}
