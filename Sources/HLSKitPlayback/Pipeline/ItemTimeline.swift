package import HLSKitEngine
import HLSKitLoading
package import HLSKitMedia

/// Maps the timestamps of media to the item's one continuous timeline.
///
/// Each discontinuity sequence has an anchor: the first sample that arrives stands where the playlist says that its
/// segment starts, or keeps the time of its file where that is as good as the same. All lanes share the anchor, so that
/// the offset between audio and video is kept; a lane whose timestamps are of another clock altogether gets an anchor of
/// its own. The first sample is the variant's where one is on its way: a separate rendition may be cut elsewhere than its
/// playlist says.
///
/// What follows media that ended elsewhere than its playlist says goes on where that ended, however far the two have
/// drifted apart.
///
/// Source: RFC 8216 §3, §6.3.3. See docs/behaviour/media.md; R37.
package struct ItemTimeline: Sendable {
    /// A lane may stand off the common anchor by this much and still be meant to use it.
    static let alignmentTolerance = Duration.seconds(10)
    /// The reordering of pictures and the inexactness of `EXTINF` move the first sample by this much at most.
    static let originTolerance = Duration.milliseconds(200)
    /// The most by which media that is loaded after a seek may stand off its playlist. Beyond that what the playlist says
    /// counts, for seeks go by it: media of elsewhere would be presented at another time than was asked for, or never.
    static let driftTolerance = Duration.milliseconds(500)
    /// Where media ended, by less than this the playlist is right about where the next begins.
    private static let jointTolerance = Duration.milliseconds(50)
    /// Media that begins within this of where the media before it ended goes on from that.
    private static let followingTolerance = Duration.seconds(1)
    /// A segment that begins this much before the end of the media before it is of a clock that was set back.
    private static let backTolerance = Duration.milliseconds(500)
    /// Media and playlist that are further apart than this are not of one stream.
    private static let longestDrift = Duration.seconds(60)
    private static let wrap = Int64(1) << 33
    /// After so long times of 33 bits come again.
    static var wrapPeriod: Duration { duration(wrap, 90_000) }

    /// What the variant is going to place.
    package enum Coming: Sendable, Hashable {
        /// It has not begun yet.
        case unknown
        case timelines(Set<Int>)
    }

    /// The time on the clock of the media that is the start of the item; nil where only the playlist tells.
    var mediaOrigin: @Sendable () -> Duration? = { nil }
    package var comingFromVariant = Coming.timelines([])
    /// A rendition waits for the variant's anchor.
    var hasWaitingLane = false
    private var common: [Int: Duration] = [:]
    private var own: [LaneID: [Int: Duration]] = [:]
    /// Those whose anchor was not held against the playlist since loading began anew elsewhere.
    private var unproved: Set<Int> = []
    private var joints: [LaneID: Joint] = [:]

    package init() {}

    /// Where the last segment of a lane ended.
    private struct Joint: Sendable {
        var timeline: Int
        /// By the playlist.
        var playlistEnd: Duration
        var ends: [MediaKind: Duration]

        /// Parts are cut where pictures are.
        var end: Duration? { ends[.video] ?? ends.values.max() }
    }

    /// Where the samples of one track of one segment go.
    package struct Placement: Sendable, Hashable {
        /// Added to timestamps of the container, in units of the track: undoes the wrap at 33 bits.
        package var shift: Int64
        /// Added to the time of shifted timestamps to get item time; the same for all of a discontinuity sequence.
        package var offset: Duration
    }

    /// Loading begins anew elsewhere, where the playlist may not be as exact as media was up to now.
    mutating func flush() {
        unproved = Set(common.keys)
        joints = [:]
    }

    /// All of a segment was placed: its media of each kind ends at these item times.
    mutating func noteEnd(of lane: LaneID, timeline: Int, playlistEnd: Duration, _ ends: [MediaKind: Duration]) {
        joints[lane] = ends.isEmpty ? nil : Joint(timeline: timeline, playlistEnd: playlistEnd, ends: ends)
    }

    /// The end of what was placed right before a segment that starts at this time.
    private func joint(of lane: LaneID, before segmentStart: Duration) -> Joint? {
        guard let joint = joints[lane], abs(joint.playlistEnd - segmentStart) <= .milliseconds(10) else { return nil }
        return joint
    }

    /// Whether a lane may place samples now; else it is read again when the variant has gone on.
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

    /// Where the samples of a track go whose first sample in a segment has this timestamp.
    ///
    /// - Parameter continues: the segment is of the same variant as the one before, on whose clock it goes on.
    package mutating func placement(
        for timeline: Int, lane: LaneID, firstPTS: Int64, track: MediaTrack, segmentStart: Duration,
        continues: Bool = false
    ) -> Placement {
        // What the edit list of a file does not show has no place of its own.
        let time = Self.duration(max(firstPTS, track.shownRange?.lowerBound ?? firstPTS), track.timescale)
        if common[timeline] == nil || unproved.contains(timeline), let origin = mediaOrigin() {
            // A segment of a file begins where it can be decoded, not where it is listed.
            common[timeline] = .zero - origin
            unproved.remove(timeline)
        }
        if unproved.remove(timeline) != nil { prove(timeline, lane: lane, time, track: track, near: segmentStart) }
        let joint = joint(of: lane, before: segmentStart)
        if track.timestampsAreRelative {
            // Tracks keep the distance that they begin with: all of them count from the segment's start.
            guard let joint, joint.timeline == timeline, let end = joint.ends[track.mediaType] else {
                return Placement(shift: 0, offset: start(after: joint, segmentStart))
            }
            return Placement(shift: 0, offset: end - time)
        }
        // The common anchor first: what was of another clock for a while may be back.
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
            // Media that counts from the start of the item: its first sample need not be at the very start, and a
            // sample of another track or a cue may come before it.
            common[timeline] = .zero
            return Placement(shift: 0, offset: .zero)
        } else {
            common[timeline] = start - time
        }
        return Placement(shift: 0, offset: start - time)
    }

    /// Whether media at this item time goes on where that before it ended.
    private func follows(_ joint: Joint?, at placed: Duration, _ timeline: Int) -> Bool {
        guard let joint, joint.timeline == timeline, let end = joint.end else { return false }
        return abs(placed - end) <= Self.followingTolerance
    }

    /// Whether media would be presented once more that is there: the clock was set back, and nothing tells.
    private func goesBack(
        from joint: Joint?, to placed: Duration, _ timeline: Int, _ track: MediaTrack
    ) -> Bool {
        guard let joint, joint.timeline == timeline, let end = joint.ends[track.mediaType] else { return false }
        return placed < end - Self.backTolerance
    }

    /// Where media begins that has no anchor yet: where the playlist says, or where that before it really ended.
    private func start(after joint: Joint?, _ segmentStart: Duration) -> Duration {
        guard let end = joint?.end, abs(end - segmentStart) > Self.jointTolerance,
            abs(end - segmentStart) <= Self.longestDrift
        else { return segmentStart }
        return end
    }

    /// Shares the anchors that the variant has set, where it is placed by a timeline of its own.
    package mutating func takeAnchors(of variant: ItemTimeline) {
        common.merge(variant.common) { _, new in new }
    }

    /// Gives an anchor up from which media stands too far off its playlist.
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

    /// What is added to the time of a cue to get item time; nil while the timeline has no anchor.
    ///
    /// - Parameters:
    ///   - time: the cue's time on the clock of the media's 33-bit timestamps.
    ///   - near: item time that the cue must be nearest to, among those that a wrap of the clock leaves open.
    func cueOffset(for timeline: Int, time: Duration, near: Duration) -> Duration? {
        guard let offset = common[timeline] else { return nil }
        let period = Self.wrapPeriod
        let turns = Int64(((near - time - offset) / period).rounded())
        return offset + period * turns
    }

    /// The item time of something that is no sample; nil while the timeline has no anchor.
    func itemTime(of time: Duration, wraps: Bool, in timeline: Int, lane: LaneID, near: Duration) -> Duration? {
        guard let offset = own[lane]?[timeline] ?? common[timeline] else { return nil }
        guard wraps else { return time + offset }
        let period = Self.wrapPeriod
        return time + offset + period * Int64(((near - time - offset) / period).rounded())
    }

    /// With as many wraps as bring `time` nearest to `near`.
    private static func placement(
        _ time: Duration, offset: Duration, track: MediaTrack, near: Duration
    ) -> Placement {
        guard track.wrapsAt33Bits else { return Placement(shift: 0, offset: offset) }
        let period = duration(wrap, track.timescale)
        let turns = Int64(((near - time - offset) / period).rounded())
        return Placement(shift: turns * wrap, offset: offset)
    }

    /// In ticks of a timescale, to the nearest.
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
        // rest < 2^31, so that the product with 10^18 needs 91 bits.
        let attoseconds = Int64(Int128(rest) * 1_000_000_000_000_000_000 / Int128(scale))
        return Duration(secondsComponent: seconds, attosecondsComponent: attoseconds)
    }
}
