import HLSKitPlaylist
import HLSKitSelection
import HLSKitTime

enum PlaylistResponse: Sendable {
    case useless(PlaylistFailure)
    /// The playlist of a variant or rendition that was left in the meantime. It changes nothing.
    case late(MediaPlaylist, LoadedPlaylist)
    case first(MediaPlaylist, LoadedPlaylist)
    /// A newer state of the known playlist.
    case newer(MediaPlaylist, LoadedPlaylist)

    /// - Parameter url: The URL of the lane's playlist, or nil if the lane no longer exists.
    init(
        _ result: Result<LoadedPlaylist, PlaylistFailure>, to request: InFlightRequest, leadsTo url: String?,
        isKnown: Bool
    ) {
        switch result {
        case .failure(let failure): self = .useless(failure)
        case .success(let loaded):
            guard case .media(let playlist) = loaded.playlist else {
                self = .useless(
                    PlaylistFailure(
                        kind: .malformed, url: loaded.url,
                        text: "a multivariant playlist where a media playlist belongs"))
                return
            }
            guard url == request.url else {
                self = .late(playlist, loaded)
                return
            }
            self = request.isReload && isKnown ? .newer(playlist, loaded) : .first(playlist, loaded)
        }
    }

    var loaded: LoadedPlaylist? {
        switch self {
        case .useless: nil
        case .late(_, let loaded), .first(_, let loaded), .newer(_, let loaded): loaded
        }
    }
}

extension MediaPlaylist {
    /// Returns why nothing can be loaded from the playlist, or nil if it has or may get segments.
    func emptiness(at url: String) -> PlaylistFailure? {
        guard segments.isEmpty, isComplete else { return nil }
        return PlaylistFailure(kind: .malformed, url: url, text: "the playlist lists no segment")
    }
}

// MARK: - First playlist

extension PlaylistResponse {
    /// The first state of a lane's playlist, positioned on the item's timeline.
    struct PlaylistPosition: Sendable {
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
                    playlist, requestURL: lane.playlistURL, url: url, start: start,
                    loadBegan: lane.playlist.requestBegan,
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
}

extension ItemState {
    func listFacts(for lane: LaneID, _ playlist: MediaPlaylist, at now: Duration)
        -> PlaylistResponse.PlaylistPosition.Facts
    {
        let before = lane == .main ? previousTracker : nil
        return PlaylistResponse.PlaylistPosition.Facts(
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

    func neighbor(of lane: LaneID) -> PlaylistTracker? {
        LaneID.allCases.lazy.filter { $0 != lane }.compactMap { lanes[$0]?.tracker }.first
    }

    /// Returns the start of a playlist relative to other lanes, or nil if they have no playlist.
    func startRelativeToOthers(of playlist: MediaPlaylist, in id: LaneID, at now: Duration) -> Duration? {
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

// MARK: - Updates

extension PlaylistResponse {
    struct PlaylistUpdate: Sendable {
        let kind: PlaylistTracker.Update
        let tracker: PlaylistTracker
        /// The time at which the lane would continue with the previous playlist.
        let resumeTime: Duration

        /// - Parameter start: The start of the playlist relative to other lanes, used if it jumped past known media.
        init?(
            of lane: borrowing MediaLane, with playlist: MediaPlaylist, url: String, loadBegan: Duration,
            at now: Duration,
            relativeTo start: @autoclosure () -> Duration?
        ) {
            guard var tracker = lane.tracker else { return nil }
            resumeTime = lane.resumeTime(in: tracker)
            kind = tracker.update(with: playlist, url: url, loadBegan: loadBegan, now: now)
            if kind == .changed, tracker.hasJumped, let start = start() { tracker.shift(by: start - tracker.start) }
            self.tracker = tracker
        }

        var isNews: Bool { kind == .changed || kind == .extended || kind == .restarted }
    }
}

// MARK: - Known playlists

extension ItemState {
    struct KnownPlaylist: Sendable {
        @Shared var playlist: MediaPlaylist
        var url: String
        /// Its position on the timeline, or nil if it has none.
        var tracker: PlaylistTracker?
    }

    /// Previously loaded media playlists by URL, so a return to a VOD variant needs no I/O.
    struct KnownPlaylists: Sendable {
        private var lists: [String: KnownPlaylist] = [:]

        subscript(url: String) -> KnownPlaylist? { lists[url] }

        /// Keeps a playlist that arrived after its lane had switched to another one.
        mutating func keep(_ playlist: MediaPlaylist, requestURL: String, url: String) {
            lists[requestURL] = KnownPlaylist(playlist: playlist, url: url)
        }

        /// Keeps an ended playlist with its position. A live one would be outdated when its lane returns to it.
        ///
        /// - Returns: Whether the playlist is kept.
        mutating func keep(_ tracker: PlaylistTracker, url: String) {
            lists[tracker.requestURL] = KnownPlaylist(playlist: tracker.playlist, url: url, tracker: tracker)
        }

        mutating func forget() { lists = [:] }
    }
}
