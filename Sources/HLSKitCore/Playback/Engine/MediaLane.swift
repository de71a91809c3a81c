import HLSMedia
import HLSPlaylist

/// Where a lane goes on loading.
enum LaneCursor: Hashable, Sendable {
    /// At the segment that holds this item time.
    case time(Duration)
    case position(SegmentPosition)
}

/// One media playlist that is loaded segment by segment.
struct MediaLane: Sendable {
    let id: LaneID
    /// URL of the media playlist as the multivariant playlist (or the user) gave it.
    var playlistURL: String
    @Shared var tracker: PlaylistTracker? = nil
    /// The playlist as it was when its URL ran out: the one at the fresh URL is a newer state of it.
    @Shared var parked: PlaylistTracker? = nil
    /// The request for the playlist that is under way, and when it began.
    var playlistRequest: RequestID?
    var playlistRequestBegan = Duration.zero
    /// After a rest, segments are asked for when the list tells which there are now.
    var awaitsReload = false
    var cursor: LaneCursor?
    /// Segments that were begun and not yet demuxed to their end, in their order.
    var segments: [SegmentInFlight] = []
    /// Maps and keys that are here or on their way.
    var resources: [ResourceID: ResourceState] = [:]
    /// Where the media that was loaded whole ends.
    var loadedEnd: Duration?
    /// The last segment of the playlist, or before the end time, is loaded.
    var isComplete = false
    /// Where the sound of the segment that was read last ends, if that is before its segment does.
    var soundEnd: Duration?
    /// It was set back to the playhead for outputs that came late.
    var late: LateKinds?
    /// Media behind the end time was left out of a segment.
    var isCutAtEnd = false
    /// All its media was presented; where that ends.
    var drainedEnd: Duration?
    /// The next segment follows something else than its predecessor.
    var startsNewSequence = true
    /// The next segment may repeat media that was loaded from another variant.
    var dropsOverlap = false
    /// Another rendition was chosen: what is loaded plays until media of the new one is there.
    /// Such changes are numbered.
    var replacement: Int?
    /// It has taken the place of other audio.
    var hasReplaced = false
    var lastTimeline: TimelineKey?
    /// The variant of the last segment that was loaded whole.
    var lastVariantIndex: Int?
    /// Tracks of the lane are known: its media can be played.
    var isDemuxed = false
    /// The next segment is one that failed elsewhere: its budget goes on.
    var inheritedRole: SegmentID?
    /// What could not be had since media came last.
    var lost = LostMedia()

    init(id: LaneID, playlistURL: String) {
        self.id = id
        self.playlistURL = playlistURL
    }

    /// The next segment; nil where the playlist lists none yet.
    var nextIndex: Int? {
        switch cursor {
        case nil: return nil
        case .position(let position): return tracker?.index(of: position)
        case .time(let time): return tracker?.nextIndex(from: time)
        }
    }

    var isReplacing: Bool { replacement != nil }
    /// Playing waits for the lane's media.
    var isRequired: Bool { id != .subtitles }
    /// A segment has arrived, perhaps not yet demuxed.
    var hasLoadedSegment: Bool { segments.contains(where: \.isLoaded) }
    /// Where the media ends that was read so far.
    var demuxedEnd: Duration? { segments.compactMap(\.demuxedUpTo).max().map { max($0, loadedEnd ?? $0) } ?? loadedEnd }
    /// The segments that could not be had, one after another.
    ///
    /// - Parameter countsLoaded: segments that have arrived and were not read yet are taken for media.
    func run(countsLoaded: Bool = true) -> LostMedia.Run {
        lost.run(
            loaded: segments.lazy.filter { countsLoaded && $0.isLoaded || $0.demuxedUpTo != nil }.map(\.id),
            underWay: segments.lazy.map(\.id))
    }
    /// The first segment whose bytes are on their way: the one that is needed next.
    var loading: SegmentInFlight? { segments.first { !$0.isLoaded } }
}

/// The lanes of an item. Each has its own place, as they are looked up with every piece that arrives.
struct MediaLanes: Sendable {
    private var main: MediaLane?
    private var audio: MediaLane?
    private var subtitles: MediaLane?

    subscript(id: LaneID) -> MediaLane? {
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
}

/// Discontinuity sequences are numbered per epoch of the playlist; each has one mapping to the item's timeline.
struct TimelineKey: Hashable, Sendable {
    var epoch: Int
    var discontinuity: Int
    /// Counts places where segments were missed and the timeline closed up.
    var shift: Int
}

enum ResourceState: Hashable, Sendable {
    case loading(RequestID)
    case waitingForRetry
    case loaded
}

/// A segment between its choice and the end of its demuxing.
struct SegmentInFlight: Sendable {
    let id: SegmentID
    /// What its failures are counted for: the segment itself, or the one in another variant that it stands for.
    let role: SegmentID
    /// nil while a failed request waits for its next try.
    var request: RequestID?
    var requestBegan = Duration.zero
    var position: SegmentPosition
    var job: SegmentJob
    var byteRange: Range<UInt64>?
    var playlistURL: String
    var variantIndex: Int?
    /// Of a download that is over; while it runs its request counts.
    var receivedByteCount = 0
    var demuxedUpTo: Duration?
    var isLoaded = false
    var isSuspended = false
    /// Another segment of the lane was on its way when this one was requested.
    var isPrefetched = false
    /// It failed before its turn, and waits for it.
    var isParked = false

    /// What its bytes are asked for.
    var purpose: RequestPurpose { .segment(id, role: role) }
}
