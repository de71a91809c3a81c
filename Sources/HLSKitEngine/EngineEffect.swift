package import HLSKitLoading
package import HLSKitMedia
package import HLSKitPlaylist
package import HLSKitSelection
import HLSKitTime

/// What comes out of a ``PlaybackEngine``: to be carried out in order.
package enum EngineEffect: Sendable {
    case request(RequestID, EngineRequest)
    case cancel(RequestID)
    /// The body of a preload hint, by its first request, is of no more use.
    case forgetBody(RequestID)
    /// Stop or go on reading a request's body.
    case suspend(RequestID)
    case resume(RequestID)
    /// The next segment of a lane: its bytes are those of the request.
    case beginSegment(SegmentJob)
    /// The request behind a segment is replaced: what it delivered is to be read again from its first byte.
    case restartSegment(SegmentID, SegmentJob)
    /// The segment will not be delivered, or not to its end; media after it follows.
    case abandonSegment(SegmentID)
    /// Nothing more comes of the stream's head that the segment waits for.
    case endHead(SegmentID)
    /// Kinds of media of a lane that nobody took until now are taken from the segments that begin next; what was held of
    /// them is of no use. They are presented from there on; nil for wherever they begin.
    case take(Set<MediaKind>, of: LaneID, from: Landing?)
    /// Nothing of these item times comes in this lane.
    case passedOver(LaneID, Range<Duration>)
    /// No further segment comes in this lane.
    case endLane(LaneID)
    /// The lane goes on after all: its end was that of a wish that was taken back.
    case reopenLane(LaneID)
    /// What was loaded in the lane is not to be presented.
    case clearLane(LaneID)
    /// Other kinds of media are switched off.
    case followTracks
    /// Among audio tracks inside segments this chooses, in those that begin next.
    case chooseAudioTrack(AudioTrackRule?)
    /// The audio inside the variant is played from now on.
    case takeAudioFromVariant
    /// Forget all media; what comes is presented from there on, or, in reverse, backwards from there.
    case flush(to: Landing, isReverse: Bool)
    /// Media that comes first is presented from there on. Copies begin earlier where that says so: with what is loaded
    /// first.
    case land(on: Landing, copiesFrom: Duration? = nil)
    /// Present once more what is held, from there on.
    case reposition(to: Landing, continuesCopies: Bool)
    /// What was presented before this item time is not needed any more.
    case evict(LaneID, before: Duration)
    /// Media of this lane from this item time on is not to be presented: other media comes in its place.
    case truncate(LaneID, from: Duration)
    /// Seek to the picture that is so many after (or before) the one that is shown at this item time.
    case step(Int, from: Duration)
    /// The wait for decoded media is over.
    case prerollEnded(finished: Bool)
    /// Tell with ``OutputFact/primed(_:first:)`` when media at the playhead is decoded.
    case prime(Int)
    case setTimebase(TimebaseState)
    case arm(EngineTimer, at: Duration)
    case disarm(EngineTimer)
    case publish(PlayerEvent.Kind)
    case diary(ItemDiary, DiaryEntry)
    /// Tell the program's logger.
    case note(Decision)
    /// Ask the program to decide, at once and not under a lock.
    case ask(ProgramQuestion)
    /// Ask the program for a fresh URL.
    case refreshURL(ExpiredURL)
    /// A seek begins that nobody asked for: its end is told as any other's.
    case seekBegan
    /// The seek that was under way is over: media at its target can be shown, or it was superseded or cancelled.
    case seekEnded(finished: Bool)
    /// The seek that was asked for last is outside what can be sought in. One that is under way goes on.
    case seekRefused
    /// The item is over, played to its end or failed.
    case itemEnded
    /// The item is the player's current one: what was made ready may be shown.
    case present
    /// Others are played in the item's place: nothing of it is shown until ``present``.
    case hold
    /// What writers get of the item is so much later in their time than in the item's. `after`: it goes on there, and was left
    /// at once, while outputs may have taken more of it.
    case place(Duration, after: Duration?)
    /// Nothing is presented from this item time on, whatever is loaded; nil takes it back.
    case limit(Duration?)
    /// What the interstitial with this ID plays; nil where nothing is to be had.
    case assetList(String, AssetLists.Answer?)
    /// The item has come to where a break begins.
    case breakReached
    /// The item is over and the player goes on with the next one, of which another engine knows.
    case advanceToNextItem
}

/// One request as the engine wants it.
package struct EngineRequest: Sendable {
    /// Who takes the body. A playlist is parsed; in a head, what decoders have to know before the pictures of its segment
    /// is looked for.
    package var purpose: RequestPurpose
    package var transport: TransportRequest
    /// For a media playlist: those of the multivariant playlist, for `EXT-X-DEFINE:IMPORT`.
    package var variables: [String: String]?
    /// For a media playlist: what is asked for besides it.
    package var directives = DeliveryDirectives()
    /// For a head: what it is encrypted with.
    package var key: SegmentKey?
    /// The body of a preload hint, by its first request: for a hint the one that it continues, for anything else the one that
    /// it is read from.
    package var body: RequestID?
    /// URL of the playlist that named the resource; nil where the user did.
    package var namedBy: String?
}

/// What a lane needs to know to turn the bytes of one segment into samples.
package struct SegmentJob: Sendable {
    package var id: SegmentID
    package var request: RequestID
    package var map: ResourceID?
    package var key: SegmentKey?
    /// The key of the initialization section, where that is encrypted.
    package var mapKey: SegmentKey?
    /// Start on the item's timeline as the playlist tells, and the playlist's duration.
    package var start: Duration
    package var duration: Duration
    /// Segments with the same number share one mapping from media timestamps to the item's timeline.
    package var timeline: Int
    package var window: PresentationWindow
    /// The first segment after a discontinuity or another variant: decoders are drained before it.
    package var startsNewSequence: Bool
    /// Its media takes the place of what was loaded in the lane, a moment ahead of the playhead.
    /// Numbers such changes; nil where it follows what was loaded.
    package var replacement: Int?
    package var url: String
    package var mediaSequence: Int
    /// What the variant says of its pictures, for those that say nothing themselves.
    package var videoRange: VideoRange?
    /// Segments that share parameter sets; nil where nobody asks.
    package var stream: StreamID?
    /// What is wanted of it: it is loaded once more for these alone. nil for everything.
    package var kinds: Set<MediaKind>?

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
