import HLSKitPlaylist
import HLSKitSelection

/// The first state of a lane's playlist, positioned on the item's timeline.
struct ListPlace: Sendable {
    let tracker: PlaylistTracker
    let isNew: Bool
    /// Whether the playlist extends past the others. Otherwise it does not show that the stream continues.
    let isNews: Bool

    /// - Parameters:
    ///   - url: The URL that responded.
    ///   - known: The playlist with its earlier position on the timeline.
    init(
        of playlist: MediaPlaylist, url: String, in lane: borrowing MediaLane, known: PlaylistTracker?,
        _ facts: Facts, at now: Duration
    ) {
        let start = facts.reference?.start(of: playlist, at: now, successor: facts.successor) ?? .zero
        // An ended playlist does not change, so the known one can be reused.
        var tracker =
            known.flatMap { $0.start == start ? $0 : nil }
            ?? PlaylistTracker(
                playlist, requestURL: lane.playlistURL, url: url, start: start, loadBegan: lane.playlist.requestBegan,
                now: now)
        if let other = facts.reference { tracker.follow(other) }
        self.tracker = tracker
        isNew = known?.start != start
        isNews =
            !tracker.isLive || facts.reference.map { tracker.end - $0.end > tracker.pacingTarget / 2 } ?? true
    }

    struct Facts: Sendable {
        /// A playlist with a known position.
        var reference: PlaylistTracker?
        /// The start of the successor of the playlist that the variant was left with.
        var successor: Duration?
    }
}

extension ItemState {
    func listFacts(for lane: LaneID, _ playlist: MediaPlaylist, at now: Duration) -> ListPlace.Facts {
        let before = lane == .main ? previousTracker : nil
        return ListPlace.Facts(
            reference: reference(for: lane), successor: before?.start(ofSuccessor: playlist, at: now))
    }

    /// Returns a positioned playlist for a new one to join.
    ///
    /// It is the lane's previous one, the variant's previous one, or another lane's.
    private func reference(for lane: LaneID) -> PlaylistTracker? {
        if let tracker = lanes[lane]?.playlist.left ?? previousTracker { return tracker }
        for id in LaneID.allCases where id != lane {
            if let tracker = lanes[id]?.tracker { return tracker }
        }
        return nil
    }

    /// Returns a playlist that plays with the lane's playlist.
    func neighbor(of lane: LaneID) -> PlaylistTracker? {
        LaneID.allCases.lazy.filter { $0 != lane }.compactMap { lanes[$0]?.tracker }.first
    }

    /// Returns the start of a playlist relative to other lanes, or nil if they have no playlist.
    func startBesideOthers(of playlist: MediaPlaylist, in id: LaneID, at now: Duration) -> Duration? {
        for other in [LaneID.main, .audio] where other != id {
            // The playlist of a variant that is being left has a position too.
            if let tracker = lanes[other]?.tracker ?? lanes[other]?.playlist.left {
                return tracker.start(ofNeighbor: playlist, at: now)
            }
        }
        return nil
    }
}

extension MediaLane {
    /// Whether the lane has a playlist but no position yet.
    var canStart: Bool { cursor == nil && tracker != nil }

    /// Begins to load at the start of the item.
    ///
    /// - Parameter isExact: Whether the start was requested by time, so the last moments of its segment are needed.
    mutating func start(at start: Duration, playhead: Duration, isExact: Bool) {
        guard let tracker else { return }
        // Subtitles may join during playback.
        let start = id == .subtitles ? max(start, playhead) : start
        // Earlier subtitles were not needed, so they are not reported as skipped.
        if id == .subtitles { setLoadedEnd(start) }
        let index = isExact ? tracker.entryIndex(containing: max(start, tracker.start)) : nil
        move(to: index.map { .position(tracker.position(at: $0)) } ?? .time(start))
    }
}
