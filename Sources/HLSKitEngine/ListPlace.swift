import HLSKitPlaylist
import HLSKitSelection

/// The first state of a lane's playlist, laid on the item's timeline.
struct ListPlace: Sendable {
    let tracker: PlaylistTracker
    /// It was not laid there before.
    let isNew: Bool
    /// It says more than the other lists: those that say the same are no sign of life.
    let isNews: Bool

    /// - Parameters:
    ///   - url: the one that answered.
    ///   - known: the list as it was laid on the timeline before.
    init(
        of playlist: MediaPlaylist, url: String, in lane: borrowing MediaLane, known: PlaylistTracker?,
        _ facts: Facts, at now: Duration
    ) {
        let start = facts.reference?.start(of: playlist, at: now, successor: facts.successor) ?? .zero
        // A list that has ended is as it was.
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

    /// What else is on the timeline.
    struct Facts: Sendable {
        /// A playlist whose place is known.
        var reference: PlaylistTracker?
        /// Where the successor of the list begins that the variant was left with.
        var successor: Duration?
    }
}

extension ItemState {
    func listFacts(for lane: LaneID, _ playlist: MediaPlaylist, at now: Duration) -> ListPlace.Facts {
        let before = lane == .main ? previousTracker : nil
        return ListPlace.Facts(
            reference: reference(for: lane), successor: before?.start(ofSuccessor: playlist, at: now))
    }

    /// A playlist whose place on the timeline is known, for one that joins: the one that the lane was left with, or the
    /// variant, or another lane's.
    private func reference(for lane: LaneID) -> PlaylistTracker? {
        if let tracker = lanes[lane]?.playlist.left ?? previousTracker { return tracker }
        for id in LaneID.allCases where id != lane {
            if let tracker = lanes[id]?.tracker { return tracker }
        }
        return nil
    }

    /// A list that is played with that of a lane.
    func neighbor(of lane: LaneID) -> PlaylistTracker? {
        LaneID.allCases.lazy.filter { $0 != lane }.compactMap { lanes[$0]?.tracker }.first
    }

    /// Where a list begins beside what the other lanes list; nil where those have none.
    func startBesideOthers(of playlist: MediaPlaylist, in id: LaneID, at now: Duration) -> Duration? {
        for other in [LaneID.main, .audio] where other != id {
            // A variant that is being left has its place, too.
            if let tracker = lanes[other]?.tracker ?? lanes[other]?.playlist.left {
                return tracker.start(ofNeighbor: playlist, at: now)
            }
        }
        return nil
    }
}

extension MediaLane {
    /// The lane's list is known, and it has no place yet.
    var canStart: Bool { cursor == nil && tracker != nil }

    /// Begins to load where the item starts.
    ///
    /// - Parameters:
    ///   - isExact: the start was asked for by time: the last moments of its segment count.
    mutating func start(at start: Duration, playhead: Duration, isExact: Bool) {
        guard let tracker else { return }
        // Subtitles may join an item that is being played.
        let start = id == .subtitles ? max(start, playhead) : start
        // What lies before is not passed over: it was not wanted.
        if id == .subtitles { setLoadedEnd(start) }
        let index = isExact ? tracker.entryIndex(containing: max(start, tracker.start)) : nil
        move(to: index.map { .position(tracker.position(at: $0)) } ?? .time(start))
    }
}
