import HLSKitLoading
import HLSKitPlaylist
import HLSKitSelection

/// The segments that a lane can no longer load because the live window has moved on.
struct MissedSegments: Sendable, Hashable {
    /// The number of segments that are no longer listed.
    private(set) var gone = 0
    /// The first missed segment that is still listed, and the segment to continue with.
    private(set) var next = 0
    let index: Int

    /// Creates the missed segments, or returns nil if the lane continues normally.
    ///
    /// - Parameters:
    ///   - index: The segment to continue with if the lane has fallen behind.
    ///   - isLate: Whether there is nothing left to play, so playback continues at the edge.
    ///   - maxGapJump: The length up to which missing media is ignored.
    init?(
        of cursor: LaneCursor?, in tracker: PlaylistTracker, continuingAt index: Int, isLate: Bool, maxGapJump: Duration
    ) {
        self.index = index
        let first = tracker.playlist.mediaSequence
        switch cursor {
        case .position(let wanted):
            guard wanted.epoch == tracker.epoch else { return nil }
            gone = max(0, first - wanted.sequence)
            next = tracker.index(of: wanted) ?? tracker.index(ofSequence: wanted.sequence)
        case .time(let time), .sought(let time):
            if tracker.start - time > maxGapJump {
                gone = max(1, Int(((tracker.start - time) / tracker.pacingTarget).rounded()))
            } else {
                next = tracker.index(containing: time) ?? tracker.segmentCount
            }
        case nil: return nil
        }
        guard gone > 0 || isLate && next < index else { return nil }
    }

    /// Returns the report for the app.
    func skipped(in tracker: PlaylistTracker, url: String) -> SkippedSegments {
        let last = index > 0 ? tracker.position(at: index - 1).sequence : tracker.playlist.mediaSequence - 1
        return SkippedSegments(
            first: tracker.number(at: next) - gone, last: last,
            mediaDuration: tracker.pacingTarget * gone + tracker.starts[index] - tracker.starts[next], url: url,
            cause: SkippedSegments.movedOn)
    }

    /// Returns the failure of an item that must not fall behind.
    func failure(url: String) -> HLSError {
        HLSError(
            code: .staleLive, urlString: url, cause: "playback fell behind the live window",
            detail: "\(gone) segments are gone")
    }
}

extension SkippedSegments {
    fileprivate static let movedOn = "the live window moved on"

    /// Creates a report of listed segments that a jump to the edge skips, or returns nil if there are none.
    init?(before landing: Int, from next: Int?, in tracker: PlaylistTracker) {
        guard let next, next < landing else { return nil }
        self.init(
            first: tracker.number(at: next), last: tracker.number(at: landing - 1),
            mediaDuration: tracker.starts[landing] - tracker.starts[next], url: tracker.url, cause: Self.movedOn)
    }
}

extension ItemState {
    /// Continues a lane after missed segments without a gap on the timeline.
    ///
    /// All listed media moves to `resumeTime`, or to the position of the farthest lane. The other lanes skip the same
    /// media, so that all lanes remain synchronized.
    mutating func closeUp(_ missed: MissedSegments, in id: LaneID, resumeTime: Duration) {
        guard let tracker = lanes[id]?.tracker else { return }
        lanes[id]?.begin(.hole, at: .position(tracker.position(at: missed.index)))
        timelines.closeUp()
        var resume = resumeTime
        for other in [LaneID.main, .audio] where other != id {
            guard let lane = lanes[other], let tracker = lane.tracker, lane.cursor != nil else { continue }
            resume = max(resume, lane.resumeTime(in: tracker))
        }
        let hole = tracker.starts[missed.index] - resume
        guard hole > .zero else { return }
        lanes[id]?.playlist.shift(by: .zero - hole)
        for other in LaneID.allCases where other != id { lanes[other]?.shift(by: .zero - hole, resumingAt: resume) }
    }
}

extension MediaLane {
    /// Shifts media that is not loaded yet on the item's timeline.
    fileprivate mutating func shift(by distance: Duration, resumingAt time: Duration) {
        playlist.shift(by: distance)
        guard tracker != nil else { return }
        begin(.elsewhere, at: cursor == nil ? nil : .time(time))
    }
}
