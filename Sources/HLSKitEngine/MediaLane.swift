import HLSKitMedia
import HLSKitPlaylist
package import HLSKitSelection

/// Where a lane goes on loading.
enum LaneCursor: Hashable, Sendable {
    /// At the segment that holds this item time, unless only its last moments lie behind that: all before is there.
    case time(Duration)
    /// At the segment that holds this item time, which is not listed yet. Nothing before is there.
    case sought(Duration)
    case position(SegmentPosition)

    /// nil for a position.
    var time: Duration? {
        switch self {
        case .time(let time), .sought(let time): time
        case .position: nil
        }
    }
}

/// How far a lane is.
enum LanePhase: Hashable, Sendable {
    /// It has no place to load at: nothing tells yet where the item starts.
    case unplaced
    case loading(LaneCursor)
    /// The last segment of the playlist, or before the end time, is loaded. `next`: where it goes on if more is wanted.
    /// `drainedEnd`: where its media ended, once all of it was presented.
    case complete(next: LaneCursor?, drainedEnd: Duration?)
}

/// How the next segment of a lane joins on to what was loaded before it.
enum LaneJoint: Hashable, Sendable {
    /// It is the one after its predecessor.
    case follows
    /// It follows something else.
    case begins
    /// As ``begins``, and it may repeat media that was loaded from elsewhere. `role`: the segment that failed there, whose
    /// budget goes on.
    case repeats(role: SegmentID?)

    var startsNewSequence: Bool { self != .follows }
    /// Media up to what was loaded last is dropped.
    var dropsOverlap: Bool { if case .repeats = self { true } else { false } }
    var role: SegmentID? { if case .repeats(let role) = self { role } else { nil } }
}

/// One media playlist that is loaded segment by segment.
///
/// Its list, its place, the joint to the next segment and the segments under way are independent of each other: a lane
/// that is complete may be led to another list, and is complete still.
package struct MediaLane: Sendable {
    let id: LaneID
    var playlist: LanePlaylist
    var segments = SegmentWindow()
    /// What could not be had since media came last.
    var lost = LostMedia()
    /// What is asked for before it is listed.
    var hints = PreloadHints()
    private(set) var phase = LanePhase.unplaced
    private(set) var joint = LaneJoint.begins
    /// Where the media that was loaded whole ends.
    private(set) var loadedEnd: Duration?
    private(set) var beyond = MediaBeyond()
    /// Where the sound of the segment that was read last ends, if that is before its segment does.
    private(set) var soundEnd: Duration?
    /// Media behind the end time was left out of a segment.
    private(set) var isCutAtEnd = false
    /// It was set back to the playhead for outputs that came late.
    private(set) var late: LateOutputs?
    /// Another rendition was chosen: what is loaded plays until media of the new one is there.
    /// Such changes are numbered.
    private(set) var replacement: Int?
    /// It has taken the place of other audio.
    package private(set) var hasReplaced = false
    private(set) var lastTimeline: TimelineKey?
    /// Tracks of the lane are known: its media can be played.
    private(set) var isDemuxed = false
    package private(set) var presence = Presence.required

    /// What playing makes of the lane's media.
    package enum Presence: Hashable, Sendable {
        /// Playing waits for it.
        case required
        /// It is loaded, and not waited for until there is enough of it.
        case joining
        /// Its list is followed, and nothing of it is loaded.
        case resting
    }

    /// - Parameter left: a list beside which that of the lane is laid.
    init(id: LaneID, playlistURL: String, requestBegan: Duration = .zero, besides left: PlaylistTracker? = nil) {
        self.id = id
        playlist = LanePlaylist(url: playlistURL, requestBegan: requestBegan, left: left)
    }

    // MARK: Reading

    var playlistURL: String { playlist.url }
    package var tracker: PlaylistTracker? {
        _read { yield playlist.tracker }
    }
    var cursor: LaneCursor? {
        switch phase {
        case .unplaced: nil
        case .loading(let cursor): cursor
        case .complete(let next, _): next
        }
    }
    var isComplete: Bool { if case .complete = phase { true } else { false } }
    /// All its media was presented; where that ends.
    var drainedEnd: Duration? { if case .complete(_, let end) = phase { end } else { nil } }

    /// The next segment; nil where the playlist lists none yet.
    var nextIndex: Int? {
        switch cursor {
        case nil: return nil
        case .position(let position): return tracker?.index(of: position)
        case .time(let time): return tracker?.nextIndex(from: time)
        case .sought(let time): return tracker.flatMap { $0.entryIndex(containing: max(time, $0.start)) }
        }
    }

    /// A whole segment of which parts were loaded: those are not listed any more.
    func repeatsParts(at index: Int) -> Bool {
        guard case .position(let position) = cursor, let part = position.part, part > 0 else { return false }
        return tracker?.position(at: index).part == nil
    }

    /// Its parts were loaded of a segment that is listed without them now: what comes next is behind it.
    ///
    /// - Parameter resumeTime: where its parts end that were begun, by the list that had them.
    mutating func passParts(upTo resumeTime: Duration) {
        guard case .position(var position) = cursor, let tracker, let index = tracker.index(of: position),
            repeatsParts(at: index), resumeTime >= tracker.starts[index + 1] - PartList.tolerance
        else { return }
        (position.sequence, position.part) = (position.sequence + 1, nil)
        move(to: .position(position))
    }

    /// The item time at which the next segment begins, by the list that is loaded or another one.
    func resumeTime(in tracker: PlaylistTracker) -> Duration {
        switch cursor {
        case .time(let time), .sought(let time): return time
        case .position(let position):
            if let index = tracker.index(of: position) { return tracker.starts[index] }
            return tracker.end
        case nil: return tracker.start
        }
    }

    var isReplacing: Bool { replacement != nil }
    /// Playing waits for the lane's media.
    package var isRequired: Bool { id != .subtitles && presence == .required }
    /// A segment has arrived, perhaps not yet demuxed.
    var hasLoadedSegment: Bool { segments.hasLoaded }
    /// Where the media ends that was read so far.
    var demuxedEnd: Duration? { segments.demuxedEnd.map { max($0, loadedEnd ?? $0) } ?? loadedEnd }
    /// The first segment whose bytes are on their way: the one that is needed next.
    var loading: SegmentInFlight? { segments.loading }
    /// The segments that could not be had, one after another.
    ///
    /// - Parameter countsLoaded: segments that have arrived and were not read yet are taken for media.
    func run(countsLoaded: Bool = true) -> LostMedia.Run {
        lost.run(
            loaded: segments.lazy.filter { countsLoaded && $0.isLoaded || $0.demuxedUpTo != nil }.map(\.id),
            underWay: segments.lazy.map(\.id))
    }

    // MARK: Place

    /// Where it goes on loading.
    mutating func move(to cursor: LaneCursor) {
        switch phase {
        case .unplaced, .loading: phase = .loading(cursor)
        case .complete(_, let drainedEnd): phase = .complete(next: cursor, drainedEnd: drainedEnd)
        }
    }

    /// The next segment is the one behind that at `index` of its list.
    mutating func advance(past index: Int) {
        guard let tracker else { return }
        if tracker.isLive {
            var position = tracker.position(at: index)
            if let part = position.part { position.part = part + 1 } else { position.sequence += 1 }
            move(to: .position(position))
        } else {
            move(
                to: index + 1 < tracker.segmentCount ? .position(tracker.position(at: index + 1)) : .time(tracker.end))
        }
    }

    /// No further segment comes.
    mutating func complete() {
        if !isComplete { phase = .complete(next: cursor, drainedEnd: nil) }
    }

    /// More comes after all.
    mutating func reopen() {
        if case .complete(let next, _) = phase { phase = next.map { .loading($0) } ?? .unplaced }
    }

    /// Everything was presented, or not any more.
    mutating func drain(_ end: Duration?) {
        if case .complete(let next, _) = phase { phase = .complete(next: next, drainedEnd: end) }
    }

    /// Goes on at another place than behind the last segment. Every way of doing so is here.
    ///
    /// - Parameter place: nil where the lane has none yet, or keeps the one that it has.
    /// - Returns: whether it had come to its end, and has not any more: then it is to be reopened, and its playlist followed.
    @discardableResult
    mutating func begin(_ restart: LaneRestart, at place: LaneCursor?) -> Bool {
        let wasComplete = isComplete
        if let place { move(to: place) }
        if restart.reopens { reopen() }
        if restart.forgets { segments.removeAll() }
        joint = restart.joint(after: joint)
        switch restart {
        case .jump(let loadedEnd):
            self.loadedEnd = loadedEnd
            isCutAtEnd = false
            soundEnd = nil
            lost = LostMedia()
        case .cut(let time):
            loadedEnd = loadedEnd.map { min($0, time) }
            isCutAtEnd = false
        case .replacement(let number):
            replacement = number
            isCutAtEnd = false
        case .elsewhere, .again, .late, .hole: break
        }
        return wasComplete && !isComplete
    }

    /// Is led to another list.
    mutating func redirect(to url: String) {
        if let tracker { begin(.elsewhere, at: .time(resumeTime(in: tracker))) }
        if let parked = playlist.parked { move(to: .time(resumeTime(in: parked))) }
        playlist.leave(for: url)
        hints.leave()
        beyond = MediaBeyond()
    }

    /// Its URL leads nowhere any more: nothing is loaded until another list is there.
    mutating func park() {
        guard let tracker else { return }
        begin(.elsewhere, at: tracker.isLive ? nil : .time(resumeTime(in: tracker)))
        playlist.park()
        hints.leave()
    }

    // MARK: Segments

    /// The next segment is chosen: the joint is made, and what comes after it follows.
    ///
    /// - Parameter isCut: its end lies behind the end time.
    mutating func begin(_ flight: SegmentInFlight, in timeline: TimelineKey, isCut: Bool) {
        lastTimeline = timeline
        joint = .follows
        soundEnd = nil
        if isCut { isCutAtEnd = true }
        segments.append(flight)
    }

    /// Its media is there whole up to `end`, as far as it comes.
    mutating func extend(to end: Duration) { loadedEnd = max(loadedEnd ?? end, end) }

    /// A segment was read as a whole, and its media is there up to `end`.
    mutating func noteRead(_ position: SegmentPosition, upTo end: Duration) {
        if let tracker, let index = tracker.index(of: position) {
            beyond.noteRead(upTo: end, listedEnd: tracker.starts[index + 1])
        }
        extend(to: end)
    }

    /// Media behind `end` is not there any more.
    mutating func shorten(to end: Duration) { loadedEnd = loadedEnd.map { min($0, end) } }

    /// What is loaded ends there, whatever was known of it.
    mutating func setLoadedEnd(_ end: Duration?) { loadedEnd = end }

    mutating func endSound(at time: Duration) { soundEnd = time }
    mutating func noteDemuxed() { isDemuxed = true }
    mutating func stay(_ presence: Presence) { self.presence = presence }
    /// Playback has come to an end time before everything was loaded.
    mutating func cutAtEnd() { isCutAtEnd = true }

    // MARK: Outputs and renditions

    /// Outputs came when media of these kinds had been dropped.
    mutating func takeLate(_ kinds: Set<MediaKind>, keepsOthers: Bool) {
        if late == nil { late = LateOutputs(kinds, keepsOthers: keepsOthers) } else { late?.add(kinds) }
    }

    /// Where it goes back to for late outputs, if it may.
    mutating func goBackForLate(_ facts: LateOutputs.Facts) -> LateOutputs.Return? { late?.goBack(facts) }

    /// Nothing is loaded once more from now on.
    ///
    /// - Returns: the kinds of media that nothing was gone back for.
    mutating func endLate() -> Set<MediaKind>? {
        defer { late = nil }
        return late?.kindsToCome
    }

    /// The first media of the new rendition is there.
    mutating func endReplacement(at time: Duration) {
        replacement = nil
        hasReplaced = true
        loadedEnd = time
    }
}

/// The lanes of an item. Each has its own place, as they are looked up with every piece that arrives.
package struct MediaLanes: Sendable {
    private var main: MediaLane?
    private var audio: MediaLane?
    private var subtitles: MediaLane?

    package subscript(id: LaneID) -> MediaLane? {
        _read {
            switch id {
            case .main: yield main
            case .audio: yield audio
            case .subtitles: yield subtitles
            }
        }
        _modify {
            switch id {
            case .main: yield &main
            case .audio: yield &audio
            case .subtitles: yield &subtitles
            }
        }
    }

    /// Those that there are, in the order of ``LaneID``.
    var values: [MediaLane] { [main, audio, subtitles].compactMap(\.self) }
    var isEmpty: Bool { main == nil && audio == nil && subtitles == nil }
    /// Segments of all lanes whose bytes are not here.
    var countOfSegmentsOnTheirWay: Int {
        LaneID.allCases.reduce(0) { sum, id in self[id]?.segments.reduce(sum) { $1.isLoaded ? $0 : $0 + 1 } ?? sum }
    }
}
