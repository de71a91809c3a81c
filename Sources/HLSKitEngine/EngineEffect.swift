package import HLSKitLoading
package import HLSKitMedia
package import HLSKitPlaylist
package import HLSKitSelection
import HLSKitTime

/// An effect of a ``PlaybackEngine``. Effects are performed in order.
package enum EngineEffect: Sendable {
    case request(RequestID, EngineRequest)
    case cancel(RequestID)
    /// Discards the body of a preload hint, identified by its first request.
    case forgetBody(RequestID)
    case suspend(RequestID)
    case resume(RequestID)
    /// Begins the next segment of a lane, whose bytes arrive with its request.
    case beginSegment(SegmentJob)
    /// Replaces the request of a segment, whose bytes are read again from the first.
    case restartSegment(SegmentID, SegmentJob)
    /// Abandons a segment that will not be delivered in full. Media after it follows.
    case abandonSegment(SegmentID)
    /// Ends the stream head that the segment waits for.
    case endHead(SegmentID)
    /// Takes previously unused kinds of media of a lane from the segments that begin next.
    ///
    /// Held samples of these kinds are discarded. The media is presented from the landing, or from its start if that is
    /// nil.
    case take(Set<MediaKind>, of: LaneID, from: SeekTarget?)
    /// Notes that this lane has no media in a range of item times.
    case skipped(LaneID, Range<Duration>)
    /// Ends a lane. No further segments follow.
    case endLane(LaneID)
    /// Reopens a lane whose end was caused by a setting that was withdrawn.
    case reopenLane(LaneID)
    case clearLane(LaneID)
    /// Applies a change of the enabled kinds of media.
    case followTracks
    /// Chooses among audio tracks inside the segments that begin next.
    case chooseAudioTrack(AudioTrackRule?)
    /// Plays the variant's muxed audio from now on.
    case takeAudioFromVariant
    /// Discards all media. Later media is presented from the landing, or backwards from it in reverse.
    case flush(to: SeekTarget, isReverse: Bool)
    /// Presents the first media from this landing. Remuxing outputs start earlier if `copiesFrom` says so.
    case land(on: SeekTarget, copiesFrom: Duration? = nil)
    /// Presents held media again from this landing.
    case reposition(to: SeekTarget, continuesCopies: Bool)
    /// Releases presented media before this item time.
    case evict(LaneID, before: Duration)
    /// Discards media of the lane from this item time because other media replaces it.
    case truncate(LaneID, from: Duration)
    /// Seeks by a number of frames from the frame shown at this item time. A negative number seeks back.
    case step(Int, from: Duration)
    case prerollEnded(finished: Bool)
    /// Requests ``OutputFact/primed(_:first:)`` when media at the playhead is decoded.
    case prime(Int)
    case setTimebase(TimebaseState)
    case arm(EngineTimer, at: Duration)
    case disarm(EngineTimer)
    case publish(PlayerEvent.Kind)
    case diary(ItemLog, DiaryEntry)
    /// Sends a decision to the app's logger.
    case note(Decision)
    /// Asks the app for a decision, immediately and without holding a lock.
    case ask(AppQuestion)
    case refreshURL(ExpiredURL)
    /// Begins a seek that the app did not request. Its end is reported like any other.
    case seekBegan
    /// Ends the current seek: its target can be shown, or the seek was superseded or cancelled.
    case seekEnded(finished: Bool)
    /// Refuses the last seek because its target is outside the seekable ranges. A running seek continues.
    case seekRefused
    /// Ends the item, which was played to its end or failed.
    case itemEnded
    /// Presents prepared media because the item is now the player's current one.
    case present
    /// Hides the item until ``present`` because others play instead.
    case hold
    /// Sets the delay of the item's media in the timeline of writers relative to item time.
    ///
    /// `after`: the item time at which an item resumes that was left at once, although outputs may have taken later
    /// media.
    case place(Duration, after: Duration?)
    /// Limits presentation to media before this item time. nil removes the limit.
    case limit(Duration?)
    /// Delivers the assets of the interstitial with this ID, or nil if they are unavailable.
    case assetList(String, AssetLists.Answer?)
    case breakReached
    /// Ends the item and advances to the next one, which belongs to another engine.
    case advanceToNextItem
}

package struct EngineRequest: Sendable {
    /// The purpose, which decides how the body is used.
    ///
    /// A playlist is parsed. A head is searched for decoder parameters of its segment's video.
    package var purpose: RequestPurpose
    package var transport: TransportRequest
    /// For a media playlist: the variables of the multivariant playlist, for `EXT-X-DEFINE:IMPORT`.
    package var variables: [String: String]?
    package var directives = DeliveryDirectives()
    /// For a head: the key that decrypts it.
    package var key: SegmentKey?
    /// The first request of the preload hint that a hint continues or that any other request is read from.
    package var body: RequestID?
    /// The URL of the playlist that listed the resource, or nil if the app supplied it.
    package var namedBy: String?
}

package struct SegmentJob: Sendable {
    package var id: SegmentID
    package var request: RequestID
    package var map: ResourceID?
    package var key: SegmentKey?
    /// The key of the initialization section if it is encrypted.
    package var mapKey: SegmentKey?
    /// The start on the item's timeline and the duration, both according to the playlist.
    package var start: Duration
    package var duration: Duration
    /// The number of the timeline. Segments with the same number map media timestamps to item time in the same way.
    package var timeline: Int
    package var window: PresentationWindow
    /// Whether the segment follows a discontinuity or a variant change, so decoders are drained before it.
    package var startsNewSequence: Bool
    /// The number of the change if the segment replaces loaded media just ahead of the playhead, or nil.
    package var replacement: Int?
    package var url: String
    package var mediaSequence: Int
    /// The variant's `VIDEO-RANGE`, for video that does not declare one itself.
    package var videoRange: VideoRange?
    /// The stream of segments that share parameter sets, or nil if no other segment needs them.
    package var stream: StreamID?
    /// The kinds of media for which the segment is loaded again, or nil for all.
    package var kinds: Set<MediaKind>?
    /// Whether the segment before it can be loaded first, if frames at the start of the window depend on it.
    package var mayBeginEarlier = false

    package init(
        id: SegmentID, request: RequestID, map: ResourceID? = nil, key: SegmentKey? = nil, mapKey: SegmentKey? = nil,
        start: Duration, duration: Duration, timeline: Int, window: PresentationWindow, startsNewSequence: Bool,
        replacement: Int? = nil, url: String, mediaSequence: Int, videoRange: VideoRange? = nil,
        stream: StreamID? = nil, kinds: Set<MediaKind>? = nil
    ) {
        self.id = id
        self.request = request
        self.map = map
        self.key = key
        self.mapKey = mapKey
        self.start = start
        self.duration = duration
        self.timeline = timeline
        self.window = window
        self.startsNewSequence = startsNewSequence
        self.replacement = replacement
        self.url = url
        self.mediaSequence = mediaSequence
        self.videoRange = videoRange
        self.stream = stream
        self.kinds = kinds
    }
}

/// Identifies the samples of one playlist and one discontinuity sequence, which share parameter sets.
package struct StreamID: Hashable, Sendable {
    var playlistURL: String
    var epoch: Int
    var discontinuity: Int
}

/// The range of decoded media that is presented.
package struct PresentationWindow: Sendable, Hashable {
    /// The bounds in item time. Media outside is decoded and dropped. `nil` means no bound.
    package var from: Duration?
    package var until: Duration?
    /// Whether to drop media up to the last presented time.
    ///
    /// This is set if the segment repeats media that was already loaded from another variant.
    package var dropsOverlap = false
    /// Whether nothing lies between the bounds. Audio that extends across both of them is not presented either.
    package var isEmpty: Bool { from.flatMap { from in until.map { $0 <= from } } ?? false }
    /// Whether each segment is a single frame that is shown as soon as it is decoded.
    package var isStill = false

    package init(
        from: Duration? = nil, until: Duration? = nil, dropsOverlap: Bool = false, isStill: Bool = false
    ) {
        self.from = from
        self.until = until
        self.dropsOverlap = dropsOverlap
        self.isStill = isStill
    }
}
