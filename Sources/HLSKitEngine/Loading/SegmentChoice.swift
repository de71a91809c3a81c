import HLSKitLoading
import HLSKitMedia
import HLSKitPlaylist
import HLSKitSelection

/// The segment that a lane loads next, and whether it can be loaded at all.
struct SegmentChoice: Sendable {
    enum Obstacle: Error {
        /// Its URI cannot be resolved.
        case unaddressed
        /// Its encryption or initialization section is not supported.
        case unsupported(HLSError)
    }

    struct Facts: Sendable {
        var id: SegmentID
        /// The mapping of the segment's media to the item's timeline, and the number of that mapping.
        var timeline: TimelineKey
        var number: Int
        /// The time from which media is presented, and the end time.
        var start: Duration?
        var end: Duration?
        var isTrick: Bool
        var variantIndex: Int?
        var videoRange: VideoRange?
    }

    private let index: Int
    private let segment: MediaSegment
    private let url: String
    private let resources: SegmentResources

    init(_ index: Int, in tracker: PlaylistTracker, keys rules: KeyRules) throws(Obstacle) {
        self.index = index
        segment = tracker.playlist.segments[index]
        guard let url = URIReference.resolve(segment.uri, against: tracker.url) else { throw .unaddressed }
        self.url = url
        do {
            resources = try SegmentResources(of: segment, at: url, in: tracker, keys: rules)
        } catch {
            throw .unsupported(HLSError(error))
        }
    }

    func flight(in lane: borrowing MediaLane, _ tracker: PlaylistTracker, _ facts: Facts) -> SegmentInFlight {
        let isOfVariant = lane.id == .main && !facts.isTrick
        return SegmentInFlight(
            id: facts.id, role: lane.joint.role ?? facts.id, position: tracker.position(at: index),
            job: job(in: lane, tracker, facts), playlistURL: lane.playlistURL, byteRange: segment.loadedRange,
            variantIndex: isOfVariant ? facts.variantIndex : nil)
    }

    private func job(in lane: borrowing MediaLane, _ tracker: PlaylistTracker, _ facts: Facts) -> SegmentJob {
        let (key, start) = (facts.timeline, tracker.starts[index])
        let repeatsParts = lane.repeatsParts(at: index)
        var window = PresentationWindow(from: facts.start, until: facts.end)
        window.dropsOverlap = lane.joint.dropsOverlap || repeatsParts
        if lane.id == .main, facts.isTrick { window = PresentationWindow(isStill: true) }
        var job = SegmentJob(
            id: facts.id, request: RequestID(rawValue: 0), map: resources.map, key: resources.key,
            mapKey: resources.mapKey, start: start, duration: tracker.duration(at: index), timeline: facts.number,
            window: window, startsNewSequence: lane.joint.startsNewSequence || lane.lastTimeline != key || repeatsParts,
            replacement: lane.replacement, url: url, mediaSequence: segment.mediaSequence,
            videoRange: lane.id == .main ? facts.videoRange : nil,
            stream: StreamID(playlistURL: lane.playlistURL, epoch: key.epoch, discontinuity: key.discontinuity),
            kinds: lane.kinds(at: start))
        job.mayBeginEarlier =
            lane.id == .main && !facts.isTrick && job.startsNewSequence && job.replacement == nil && job.kinds == nil
            && mayFollowEarlier(in: lane, tracker, from: facts.start)
        return job
    }

    /// Whether nothing is loaded at the start of the window, and the segment there continues the one before it.
    private func mayFollowEarlier(in lane: borrowing MediaLane, _ tracker: PlaylistTracker, from: Duration?) -> Bool {
        guard let from, !lane.hasGoneEarlier, index > 0, tracker.starts[index] <= from,
            from < tracker.starts[index + 1],
            lane.demuxedEnd.map({ $0 <= from }) ?? true
        else { return false }
        return [index - 1, index].allSatisfy { tracker.position(at: $0).part == nil }
            && tracker.discontinuity(at: index - 1) == tracker.discontinuity(at: index)
            && !tracker.playlist.segments[index - 1].isGap
    }
}
