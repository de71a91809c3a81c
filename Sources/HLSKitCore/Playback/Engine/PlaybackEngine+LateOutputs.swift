import HLSMedia
import HLSPlaylist

/// Media of a lane that is loaded once more, for outputs that came when it had been loaded and dropped.
struct LateKinds: Sendable, Hashable {
    var kinds: Set<MediaType>
    /// Other kinds of the lane were taken all the time: they are not handed on once more.
    var keepsOthers: Bool
    /// The item time from which on segments are loaded for the first time; nil while those under way are waited for.
    var until: Duration?
}

extension MediaLane {
    /// The kinds of media that a segment is loaded once more for; nil for all.
    func kinds(at start: Duration) -> Set<MediaType>? {
        guard let late, late.keepsOthers, isLoadedAgain(start) else { return nil }
        return late.kinds
    }

    /// A segment that begins there was loaded before.
    func isLoadedAgain(_ start: Duration) -> Bool { late?.until.map { start < $0 - .milliseconds(10) } ?? false }
}

/// Outputs that come late: media that nobody took was dropped, and is loaded again from the playhead on. What other
/// outputs take goes on as it was, and so does time.
///
/// Source: docs/behaviour/playback.md.
extension PlaybackEngine {
    /// - Parameter besideOthers: other kinds of media of the lane are taken already.
    mutating func takeLate(_ kinds: Set<MediaType>, of id: LaneID, besideOthers: Bool) {
        guard configuration.pacing == .realTime, id != .subtitles, let item, item.error == nil, item.trick == nil,
            item.pendingFailure == nil, item.start != nil, let lane = item.lanes[id], lane.isDemuxed,
            !lane.isReplacing, let resume = Self.placeToGoOn(lane), resume > playhead
        else { return effects.append(.take(kinds, of: id, from: nil)) }
        var late = LateKinds(kinds: kinds, keepsOthers: besideOthers, until: nil)
        if let old = lane.late {
            late.kinds.formUnion(old.kinds)
            late.keepsOthers = old.keepsOthers
            late.until = old.until
        }
        self.item?.lanes[id]?.setLate(late)
        goBackForLate(id)
    }

    /// Goes back to the playhead as soon as nothing is in the way: segments that others take are read to their end.
    mutating func goBackForLate(_ id: LaneID) {
        guard let lane = item?.lanes[id], var late = lane.late else { return }
        guard !late.keepsOthers || late.until != nil || lane.segments.isEmpty else { return }
        let playhead = playhead
        late.until = late.until ?? Self.placeToGoOn(lane)
        for flight in lane.segments.reversed() { cancel(flight) }
        var (place, cursor) = (playhead, LaneCursor.time(playhead))
        if let tracker = lane.tracker, let index = tracker.index(containing: max(playhead, tracker.start)) {
            cursor = .position(tracker.position(at: index))
            place = min(playhead, tracker.starts[index])
        }
        let wasComplete = item?.lanes[id]?.begin(.late, at: cursor) ?? false
        item?.lanes[id]?.setLate(late)
        // What lies behind is not there for everybody: who goes back to it has it loaded anew.
        buffer.removeMedia(before: place, in: id.bufferTrack)
        effects.append(.take(late.kinds, of: id, from: .exact(playhead)))
        guard wasComplete else { return }
        item?.extent.reopen()
        effects.append(.reopenLane(id))
        followPlaylist(of: id)
    }

    /// The lane has come to where it was, or begins anew elsewhere.
    mutating func endLate(_ id: LaneID) {
        guard let late = item?.lanes[id]?.late else { return }
        item?.lanes[id]?.setLate(nil)
        // Nothing was gone back to: the kinds are taken from what comes next.
        if late.until == nil { effects.append(.take(late.kinds, of: id, from: nil)) }
    }

    /// Media is being loaded once more: what is loaded is not there for everybody.
    var isLoadingForLate: Bool { LaneID.allCases.contains { item?.lanes[$0]?.late != nil } }

    /// The item time at which the lane goes on loading; nil where it has not begun.
    private static func placeToGoOn(_ lane: MediaLane) -> Duration? {
        guard lane.cursor != nil else { return nil }
        if let tracker = lane.tracker { return lane.resumeTime(in: tracker) }
        guard case .time(let time) = lane.cursor else { return nil }
        return time
    }
}
