public import FoundationEssentials
import HLSKitEngine
public import HLSKitLoading
package import HLSKitPlaylist
public import HLSKitTime

extension Player {
    /// Moves the playhead of the current item.
    ///
    /// Where playback continues lies within `time - toleranceBefore ... time + toleranceAfter`: at the latest frame
    /// up to `time` that decoding can start at, else at the earliest after it, else, decoded from further back, at the
    /// frame that is shown at `time`. Both tolerances `.zero` ask for that frame. With the default, no limit, the
    /// quickest place near `time` is taken: such a frame that is loaded within one target duration, else the start of
    /// the segment.
    ///
    /// Media that is loaded is presented without any request; otherwise loading starts again at `time`. Returns when
    /// the first media there is decoded, however much of it is loaded. A seek while the item has no start yet becomes
    /// its start.
    ///
    /// - Parameters:
    ///   - time: Item time. `.positiveInfinity` is the end, or for live the configured distance from the edge.
    ///   - toleranceBefore: Zero or more; `.positiveInfinity`, the default, is no limit.
    ///   - toleranceAfter: The same for what comes after `time`.
    /// - Returns: True when the playhead was moved. False when a newer seek came (at once), when the seek was
    ///   cancelled (``PlayerItem/cancelPendingSeeks()``, or its task), without an item, when the item failed or was
    ///   replaced, and for a time outside of ``PlayerState/seekableTimeRanges``.
    /// - Throws: ``HLSError/Code/invalidTime``.
    ///
    /// See docs/behaviour/seeking.md.
    public func seek(
        to time: MediaTime, toleranceBefore: MediaTime = .positiveInfinity,
        toleranceAfter: MediaTime = .positiveInfinity
    ) async throws(HLSError) -> Bool {
        guard let request = try Self.seekRequest(time, before: toleranceBefore, after: toleranceAfter) else {
            return false
        }
        return await core.seek(request)
    }

    /// nil for a time that is before all others.
    static func seekRequest(
        _ time: MediaTime, before: MediaTime, after: MediaTime
    ) throws(HLSError) -> SeekRequest? {
        let tolerance = SeekRequest.Tolerance(before: try Self.tolerance(before), after: try Self.tolerance(after))
        if time.isPositiveInfinity { return SeekRequest(destination: .edge, tolerance: tolerance) }
        if let time = time.duration { return SeekRequest(destination: .time(time), tolerance: tolerance) }
        if time == .negativeInfinity { return nil }
        throw HLSError(code: .invalidTime, cause: "cannot seek to this time", detail: "\(time)")
    }

    /// Moves the playhead to the media that bears this date.
    ///
    /// - Returns: As ``seek(to:toleranceBefore:toleranceAfter:)``; false too where the playlist has no
    ///   `EXT-X-PROGRAM-DATE-TIME`.
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

    /// The clock by which media is presented, which players share that have the same one: `sourceClock.now` is the host
    /// time. Set in ``PlayerConfiguration/sourceClock``.
    public var sourceClock: SourceClock { core.clock.source }

    /// When the player was made, on its ``sourceClock``: elapsed times of its logs count from here.
    public var creationTime: HostTime { core.clock.origin }

    /// The date of ``creationTime``, as logs have it.
    package var creationDate: PlaylistDate { core.configuration.now }

    /// Plays such that item time and host time meet in a point, to keep several players together.
    ///
    /// A point in the past makes time run as if it had done so since; until one in the future time holds. Where media
    /// is not loaded there, the player stops.
    ///
    /// ```swift
    /// let start = one.sourceClock.now + .seconds(1)
    /// try one.setRate(1, time: .seconds(10), atHostTime: start)
    /// try other.setRate(1, time: .seconds(10), atHostTime: start)
    /// ```
    ///
    /// - Parameters:
    ///   - rate: The rate, from then on.
    ///   - time: Item time, 0 if it is below; nil is the current one.
    ///   - hostTime: On the ``sourceClock``; nil is now.
    /// - Throws: ``HLSError/Code/requiresManualWaiting`` while ``automaticallyWaitsToMinimizeStalling`` is true;
    ///   ``HLSError/Code/invalidTime`` for times that are not numbers or decades away;
    ///   ``HLSError/Code/invalidArgument`` for a rate that is not finite.
    ///
    /// See docs/behaviour/seeking.md.
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

    // Sums of times of centuries are no times any more.
    private static let decades = Duration.seconds(1_000_000_000)

    private static func anchor(_ time: MediaTime) throws(HLSError) -> Duration {
        guard let duration = time.duration, abs(duration) < decades else {
            throw HLSError(code: .invalidTime, cause: "not a time that a rate can be tied to", detail: "\(time)")
        }
        return duration
    }

    /// Time since the player was made.
    private func elapsed(_ hostTime: HostTime) throws(HLSError) -> Duration {
        // The difference of any two durations need not be one.
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
    /// Ends the seek that is under way, if any: it returns false, and the playhead stays where it brought it.
    public func cancelPendingSeeks() {
        attachedCore?.control(.cancelSeek, of: self)
    }
}
