import HLSKitMedia
import HLSKitPlaylist
package import HLSKitSelection

/// The position at which a lane continues loading.
enum LaneCursor: Hashable, Sendable {
    /// At the segment that contains this item time, with all earlier media loaded.
    ///
    /// If only the last moments of that segment follow, loading continues with the next one.
    case time(Duration)
    /// At the segment that will contain this item time once it is listed. No earlier media is loaded.
    case sought(Duration)
    case position(SegmentPosition)

    var time: Duration? {
        switch self {
        case .time(let time), .sought(let time): time
        case .position: nil
        }
    }
}

extension MediaLane {
    enum LanePhase: Hashable, Sendable {
        /// The lane has no position because the start of the item is unknown.
        case unplaced
        case loading(LaneCursor)
        /// The last segment of the playlist or before the end time is loaded.
        ///
        /// `next`: the position at which the lane continues if more media is needed. `drainedEnd`: the end of its
        /// media, once all of it was presented.
        case complete(next: LaneCursor?, drainedEnd: Duration?)
    }

    /// How the next segment of a lane joins the media loaded before it.
    enum LaneJoint: Hashable, Sendable {
        /// It follows its predecessor in the playlist.
        case follows
        /// It does not follow the loaded media.
        case begins
        /// Like ``begins``, but it may repeat media from another source.
        ///
        /// `role`: the failed segment whose retry budget continues.
        case repeats(role: SegmentID?)

        var startsNewSequence: Bool { self != .follows }
        var dropsOverlap: Bool { if case .repeats = self { true } else { false } }
        var role: SegmentID? { if case .repeats(let role) = self { role } else { nil } }
    }
}

/// One media playlist that is loaded segment by segment.
///
/// The playlist, the position, the joint to the next segment and the segments in flight are independent. For example, a
/// complete lane remains complete when it switches to another playlist.
package struct MediaLane: Sendable {
    let id: LaneID
    var playlist: LanePlaylist
    var segments = SegmentWindow()
    var lost = LostMedia()
    var hints = PreloadHints()
    private(set) var phase = LanePhase.unplaced
    private(set) var joint = LaneJoint.begins
    /// Whether the lane went back to the segment before the position of its last jump.
    private(set) var hasGoneEarlier = false
    /// The end of continuously loaded media.
    private(set) var loadedEnd: Duration?
    private(set) var overhang = SegmentOverhang()
    /// The end of the last segment's audio if it ends before the segment.
    private(set) var audioEnd: Duration?
    /// Whether media after the end time was omitted from a segment.
    private(set) var isCutAtEnd = false
    private(set) var late: LateOutputs?
    /// The number of a rendition change whose first media has not arrived.
    ///
    /// Until it arrives, the loaded media of the old rendition plays.
    private(set) var replacement: Int?
    /// Whether the lane has replaced other audio.
    package private(set) var hasReplaced = false
    private(set) var lastTimeline: TimelineKey?
    /// Whether tracks of the lane are known, so its media can be played.
    private(set) var isDemuxed = false
    package private(set) var presence = Presence.required

    package enum Presence: Hashable, Sendable {
        /// Playback waits for it.
        case required
        /// It is loaded, but playback does not wait for it until there is enough of it.
        case joining
        /// Its playlist is followed, but none of its media is loaded.
        case idle
    }

    /// - Parameter left: A playlist that determines the position of the lane's playlist.
    init(id: LaneID, playlistURL: String, requestBegan: Duration = .zero, alongside left: PlaylistTracker? = nil) {
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
    var drainedEnd: Duration? { if case .complete(_, let end) = phase { end } else { nil } }

    /// The index of the next segment, or nil if the playlist does not list one yet.
    var nextIndex: Int? {
        switch cursor {
        case nil: return nil
        case .position(let position): return tracker?.index(of: position)
        case .time(let time): return tracker?.nextIndex(from: time)
        case .sought(let time): return tracker.flatMap { $0.entryIndex(containing: max(time, $0.start)) }
        }
    }

    /// Returns whether a full segment repeats loaded parts that are no longer listed.
    func repeatsParts(at index: Int) -> Bool {
        guard case .position(let position) = cursor, let part = position.part, part > 0 else { return false }
        return tracker?.position(at: index).part == nil
    }

    /// Continues after a segment whose parts were all loaded before it was listed without them.
    ///
    /// - Parameter resumeTime: The end of the loaded parts, according to the playlist that listed them.
    mutating func passParts(upTo resumeTime: Duration) {
        guard case .position(var position) = cursor, let tracker, let index = tracker.index(of: position),
            repeatsParts(at: index), resumeTime >= tracker.starts[index + 1] - PartList.tolerance
        else { return }
        (position.sequence, position.part) = (position.sequence + 1, nil)
        move(to: .position(position))
    }

    /// Returns the item time at which the next segment begins in the given playlist.
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
    package var isRequired: Bool { id != .subtitles && presence == .required }
    var hasLoadedSegment: Bool { segments.hasLoaded }
    var demuxedEnd: Duration? { segments.demuxedEnd.map { max($0, loadedEnd ?? $0) } ?? loadedEnd }
    var loading: SegmentInFlight? { segments.loading }
    /// Returns the run of unavailable segments.
    ///
    /// - Parameter countsLoaded: Whether arrived segments that were not read yet count as media.
    func run(countsLoaded: Bool = true) -> LostMedia.Run {
        lost.run(
            loaded: segments.lazy.filter { countsLoaded && $0.isLoaded || $0.demuxedUpTo != nil }.map(\.id),
            underWay: segments.lazy.map(\.id))
    }

    // MARK: Place

    mutating func move(to cursor: LaneCursor) {
        switch phase {
        case .unplaced, .loading: phase = .loading(cursor)
        case .complete(_, let drainedEnd): phase = .complete(next: cursor, drainedEnd: drainedEnd)
        }
    }

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

    mutating func complete() {
        if !isComplete { phase = .complete(next: cursor, drainedEnd: nil) }
    }

    mutating func reopen() {
        if case .complete(let next, _) = phase { phase = next.map { .loading($0) } ?? .unplaced }
    }

    /// Sets the end of the presented media once all of it was presented, or nil otherwise.
    mutating func drain(_ end: Duration?) {
        if case .complete(let next, _) = phase { phase = .complete(next: next, drainedEnd: end) }
    }

    /// Continues at a position other than the next segment. All such changes use this method.
    ///
    /// - Parameter place: The position, or nil if the lane has none yet or keeps its current one.
    /// - Returns: Whether a completed lane is now open, so its playlist must be followed again.
    @discardableResult
    mutating func begin(_ restart: LaneRestart, at place: LaneCursor?) -> Bool {
        let wasComplete = isComplete
        if let place { move(to: place) }
        if restart.reopens { reopen() }
        if restart.forgets { segments.removeAll() }
        joint = restart.joint(after: joint)
        switch restart {
        case .jump(let loadedEnd), .earlier(let loadedEnd):
            self.loadedEnd = loadedEnd
            hasGoneEarlier = if case .earlier = restart { true } else { false }
            isCutAtEnd = false
            audioEnd = nil
            lost = LostMedia()
        case .cut(let time):
            loadedEnd = loadedEnd.map { min($0, time) }
            isCutAtEnd = false
        case .replacement(let number):
            replacement = number
            isCutAtEnd = false
        case .elsewhere, .again, .late, .gap: break
        }
        return wasComplete && !isComplete
    }

    mutating func redirect(to url: String) {
        if let tracker { begin(.elsewhere, at: .time(resumeTime(in: tracker))) }
        if let parked = playlist.parked { move(to: .time(resumeTime(in: parked))) }
        playlist.leave(for: url)
        hints.leave()
        overhang = SegmentOverhang()
    }

    /// Parks the lane because its URL has expired. Nothing is loaded until another playlist arrives.
    mutating func park() {
        guard let tracker else { return }
        begin(.elsewhere, at: tracker.isLive ? nil : .time(resumeTime(in: tracker)))
        playlist.park()
        hints.leave()
    }

    // MARK: Segments

    /// Begins the chosen segment, after which the lane continues without a break.
    ///
    /// - Parameter isCut: Whether the segment ends after the end time.
    mutating func begin(_ flight: SegmentInFlight, in timeline: TimelineKey, isCut: Bool) {
        lastTimeline = timeline
        joint = .follows
        audioEnd = nil
        if isCut { isCutAtEnd = true }
        segments.append(flight)
    }

    mutating func extend(to end: Duration) { loadedEnd = max(loadedEnd ?? end, end) }

    mutating func noteRead(_ position: SegmentPosition, upTo end: Duration) {
        if let tracker, let index = tracker.index(of: position) {
            overhang.noteRead(upTo: end, listedEnd: tracker.starts[index + 1])
        }
        extend(to: end)
    }

    mutating func shorten(to end: Duration) { loadedEnd = loadedEnd.map { min($0, end) } }

    mutating func setLoadedEnd(_ end: Duration?) { loadedEnd = end }

    mutating func endAudio(at time: Duration) { audioEnd = time }
    mutating func noteDemuxed() { isDemuxed = true }
    mutating func stay(_ presence: Presence) { self.presence = presence }
    /// Notes that playback reached an end time before everything was loaded.
    mutating func cutAtEnd() { isCutAtEnd = true }

    // MARK: Outputs and renditions

    /// Takes kinds of media for outputs that arrived after it was dropped.
    mutating func takeLate(_ kinds: Set<MediaKind>, keepsOthers: Bool) {
        if late == nil { late = LateOutputs(kinds, keepsOthers: keepsOthers) } else { late?.add(kinds) }
    }

    mutating func goBackForLate(_ facts: LateOutputs.Facts) -> LateOutputs.Return? { late?.goBack(facts) }

    /// Stops loading media again for late outputs.
    ///
    /// - Returns: The kinds of media for which the lane did not go back.
    mutating func endLate() -> Set<MediaKind>? {
        defer { late = nil }
        return late?.kindsToCome
    }

    mutating func endReplacement(at time: Duration) {
        replacement = nil
        hasReplaced = true
        loadedEnd = time
    }
}

/// The lanes of an item.
///
/// A lane is large. Code that runs at each event reads a part of it in ``values`` by its index, which copies only the
/// part.
package struct MediaLanes: Sendable {
    /// The existing lanes in the order of ``LaneID``.
    private(set) var values: [MediaLane] = []

    package subscript(id: LaneID) -> MediaLane? {
        get { index(of: id).map { values[$0] } }
        _modify {
            let index = index(of: id)
            var lane = index.map { values.remove(at: $0) }
            defer {
                let place = index ?? values.indices.prefix { values[$0].id.rawValue < id.rawValue }.count
                if let lane { values.insert(lane, at: place) }
            }
            yield &lane
        }
    }

    private func index(of id: LaneID) -> Int? { values.indices.first { values[$0].id == id } }

    var isEmpty: Bool { values.isEmpty }
    var haveHints: Bool { values.indices.contains { !values[$0].hints.isIdle } }
    /// Whether the variant's playlist is live, or nil before it is loaded.
    var isMainLive: Bool? { index(of: .main).flatMap { values[$0].tracker?.isLive } }
    /// The segments in flight of each lane.
    var segments: [SegmentWindow] { values.indices.map { values[$0].segments } }
    /// The number of segments in all lanes whose bytes have not all arrived.
    var countOfSegmentsOnTheirWay: Int { segments.reduce(0) { $0 + $1.count { !$0.isLoaded } } }
}
