package import HLSKitEngine
import HLSKitLoading
package import HLSKitMedia
import HLSKitTime

/// Maps the timestamps of media to the item's continuous timeline.
///
/// Each discontinuity sequence has an anchor, set by the first sample that arrives. The sample is placed at its
/// segment's start according to the playlist, or keeps its own time if the difference is negligible. All lanes share
/// the anchor, which preserves the offset between audio and video. A lane whose timestamps use an unrelated clock gets
/// its own anchor. If variant media is expected, it sets the anchor, because a separate rendition may be cut
/// differently from its playlist.
///
/// Media may end at a different time than its playlist says. The media after it then follows its actual end, however
/// large the drift has become.
///
/// Source: RFC 8216 §3, §6.3.3.
package struct ItemTimeline: Sendable {
    /// The largest deviation of a lane from the common anchor at which the lane still uses the anchor.
    static let alignmentTolerance = Duration.seconds(10)
    /// The largest shift of the first sample caused by frame reordering and inexact `EXTINF` values.
    static let originTolerance = Duration.milliseconds(200)
    /// The largest deviation from the playlist of media loaded after a seek.
    ///
    /// Beyond it, the playlist takes precedence, because seeks use it. Otherwise the player would present another time
    /// than the requested one, or nothing.
    static let driftTolerance = Duration.milliseconds(500)
    /// The deviation below which the playlist's start time is used for media after an end.
    private static let jointTolerance = Duration.milliseconds(50)
    /// The distance from the end of earlier media within which media is taken to continue it.
    private static let followingTolerance = Duration.seconds(1)
    /// The overlap with earlier media from which a segment's clock is taken to have been set back.
    private static let backTolerance = Duration.milliseconds(500)
    /// The drift beyond which media and playlist do not belong to the same stream.
    private static let longestDrift = Duration.seconds(60)
    private static let wrap = Int64(1) << 33
    /// The time after which 33-bit timestamps repeat.
    static var wrapPeriod: Duration { duration(wrap, 90_000) }

    package enum Coming: Sendable, Hashable {
        case unknown
        case timelines(Set<Int>)
    }

    var mediaOrigin: @Sendable () -> Duration? = { nil }
    package var comingFromVariant = Coming.timelines([])
    var hasWaitingLane = false
    private var common: [Int: Duration] = [:]
    private var own: [LaneID: [Int: Duration]] = [:]
    /// Timelines whose anchor has not been compared with the playlist since loading last restarted.
    private var unproved: Set<Int> = []
    private var joints: [LaneID: Joint] = [:]

    package init() {}

    private struct Joint: Sendable {
        var timeline: Int
        var playlistEnd: Duration
        var ends: [MediaKind: Duration]

        /// The end of the video, if there is any, because partial segments are cut at frames.
        var end: Duration? { ends[.video] ?? ends.values.max() }
    }

    /// The mapping for the samples of one track in one segment.
    package struct Placement: Sendable, Hashable {
        /// The number added to container timestamps, in units of the track, to undo the 33-bit wrap.
        package var shift: Int64
        /// The offset from shifted timestamps to item time, constant within a discontinuity sequence.
        package var offset: Duration
    }

    /// Called when loading restarts elsewhere, where the playlist may be less exact.
    mutating func flush() {
        unproved = Set(common.keys)
        joints = [:]
    }

    mutating func noteEnd(of lane: LaneID, timeline: Int, playlistEnd: Duration, _ ends: [MediaKind: Duration]) {
        joints[lane] = ends.isEmpty ? nil : Joint(timeline: timeline, playlistEnd: playlistEnd, ends: ends)
    }

    private func joint(of lane: LaneID, before segmentStart: Duration) -> Joint? {
        guard let joint = joints[lane], abs(joint.playlistEnd - segmentStart) <= .milliseconds(10) else { return nil }
        return joint
    }

    /// Returns whether a lane may place samples now. Otherwise, it is read again when the variant has progressed.
    mutating func mayPlace(_ timeline: Int, of lane: LaneID) -> Bool {
        let isAnchored = common[timeline] != nil || own[lane]?[timeline] != nil
        guard lane == .audio, !isAnchored || unproved.contains(timeline) else { return true }
        let mustWait =
            switch comingFromVariant {
            case .unknown: true
            case .timelines(let coming): coming.contains(timeline)
            }
        if mustWait { hasWaitingLane = true }
        return !mustWait
    }

    /// Returns the placement for a track whose first sample in a segment has this timestamp.
    ///
    /// - Parameter continues: Whether the segment continues the clock of the previous segment of the same variant.
    package mutating func placement(
        for timeline: Int, lane: LaneID, firstPTS: Int64, track: MediaTrack, segmentStart: Duration,
        continues: Bool = false
    ) -> Placement {
        // Media before the start of the edit list is not shown, so it has no position.
        let time = Self.duration(max(firstPTS, track.shownRange?.lowerBound ?? firstPTS), track.timescale)
        if common[timeline] == nil || unproved.contains(timeline), let origin = mediaOrigin() {
            // A segment of a file starts where decoding can start, not at its listed time.
            common[timeline] = .zero - origin
            unproved.remove(timeline)
        }
        if unproved.remove(timeline) != nil { prove(timeline, lane: lane, time, track: track, near: segmentStart) }
        let joint = joint(of: lane, before: segmentStart)
        if track.timestampsAreRelative {
            // All tracks count from the segment's start, so they keep their initial distance.
            guard let joint, joint.timeline == timeline, let end = joint.ends[track.mediaType] else {
                return Placement(shift: 0, offset: start(after: joint, segmentStart))
            }
            return Placement(shift: 0, offset: end - time)
        }
        // Try the common anchor first, because the lane may have returned to it from another clock.
        for (offset, isCommon) in [(common[timeline], true), (own[lane]?[timeline], false)] {
            guard let offset else { continue }
            let placement = Self.placement(time, offset: offset, track: track, near: segmentStart)
            let placed = time + Self.duration(placement.shift, track.timescale) + offset
            guard abs(placed - segmentStart) <= Self.alignmentTolerance || follows(joint, at: placed, timeline),
                !continues || !goesBack(from: joint, to: placed, timeline, track)
            else { continue }
            if isCommon { own[lane]?[timeline] = nil }
            return placement
        }
        let start = start(after: joint, segmentStart)
        if common[timeline] != nil {
            own[lane, default: [:]][timeline] = start - time
        } else if !track.wrapsAt33Bits, abs(time - segmentStart) <= Self.originTolerance {
            // The media counts from the start of the item. Its first sample may be later, and a sample of another track
            // or a cue may precede it.
            common[timeline] = .zero
            return Placement(shift: 0, offset: .zero)
        } else {
            common[timeline] = start - time
        }
        return Placement(shift: 0, offset: start - time)
    }

    private func follows(_ joint: Joint?, at placed: Duration, _ timeline: Int) -> Bool {
        guard let joint, joint.timeline == timeline, let end = joint.end else { return false }
        return abs(placed - end) <= Self.followingTolerance
    }

    /// Whether media would repeat already placed times because its clock was set back without a discontinuity.
    private func goesBack(
        from joint: Joint?, to placed: Duration, _ timeline: Int, _ track: MediaTrack
    ) -> Bool {
        guard let joint, joint.timeline == timeline, let end = joint.ends[track.mediaType] else { return false }
        return placed < end - Self.backTolerance
    }

    /// The start of media without an anchor: the actual end of the media before it, or the playlist's time.
    private func start(after joint: Joint?, _ segmentStart: Duration) -> Duration {
        guard let end = joint?.end, abs(end - segmentStart) > Self.jointTolerance,
            abs(end - segmentStart) <= Self.longestDrift
        else { return segmentStart }
        return end
    }

    /// Takes over the variant's anchors, if the variant is placed on a separate timeline.
    package mutating func takeAnchors(of variant: ItemTimeline) {
        common.merge(variant.common) { _, new in new }
    }

    /// Drops an anchor that places media too far from its playlist time.
    private mutating func prove(
        _ timeline: Int, lane: LaneID, _ time: Duration, track: MediaTrack, near segmentStart: Duration
    ) {
        guard let offset = own[lane]?[timeline] ?? common[timeline] else { return }
        let placement = Self.placement(time, offset: offset, track: track, near: segmentStart)
        let drift = time + Self.duration(placement.shift, track.timescale) + offset - segmentStart
        guard abs(drift) > Self.driftTolerance else { return }
        common[timeline] = nil
        for lane in LaneID.allCases { own[lane]?[timeline] = nil }
    }

    /// Returns the offset from cue time to item time, or `nil` while the timeline has no anchor.
    ///
    /// - Parameters:
    ///   - time: The cue's time on the clock of the media's 33-bit timestamps.
    ///   - near: The item time that selects among the possible wraps of the clock.
    func cueOffset(for timeline: Int, time: Duration, near: Duration) -> Duration? {
        guard let offset = common[timeline] else { return nil }
        let period = Self.wrapPeriod
        let turns = Int64(((near - time - offset) / period).rounded())
        return offset + period * turns
    }

    /// Returns the item time of something other than a sample, or `nil` while the timeline has no anchor.
    func itemTime(of time: Duration, wraps: Bool, in timeline: Int, lane: LaneID, near: Duration) -> Duration? {
        guard let offset = own[lane]?[timeline] ?? common[timeline] else { return nil }
        guard wraps else { return time + offset }
        let period = Self.wrapPeriod
        return time + offset + period * Int64(((near - time - offset) / period).rounded())
    }

    /// Returns the placement with the number of wraps that brings `time` closest to `near`.
    private static func placement(
        _ time: Duration, offset: Duration, track: MediaTrack, near: Duration
    ) -> Placement {
        guard track.wrapsAt33Bits else { return Placement(shift: 0, offset: offset) }
        let period = duration(wrap, track.timescale)
        let turns = Int64(((near - time - offset) / period).rounded())
        return Placement(shift: turns * wrap, offset: offset)
    }

    /// Converts a duration to ticks, rounded to the nearest tick.
    static func ticks(_ duration: Duration, _ timescale: Int32) -> Int64 {
        let (seconds, attoseconds) = duration.components
        let scale = Int128(max(1, timescale))
        let rest = Int128(attoseconds) * scale
        let half = Int128(rest < 0 ? -500_000_000_000_000_000 : 500_000_000_000_000_000)
        return Int64(clamping: Int128(seconds) * scale + (rest + half) / 1_000_000_000_000_000_000)
    }

    package static func duration(_ value: Int64, _ timescale: Int32) -> Duration {
        guard timescale > 0 else { return .zero }
        let scale = Int64(timescale)
        let (seconds, rest) = value.quotientAndRemainder(dividingBy: scale)
        // `rest` is less than 2^31, so its product with 10^18 needs 91 bits.
        let attoseconds = Int64(Int128(rest) * 1_000_000_000_000_000_000 / Int128(scale))
        return Duration(secondsComponent: seconds, attosecondsComponent: attoseconds)
    }
}
