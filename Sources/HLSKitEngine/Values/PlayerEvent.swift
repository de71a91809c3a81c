public import HLSKitLoading
public import HLSKitMedia
public import HLSKitPlaylist
public import HLSKitSelection
public import HLSKitTime

/// Something that happened to a player, and when.
public struct PlayerEvent: Sendable {
    /// When it happened, on the player's ``Player/sourceClock``: events of players with one clock can be put in order.
    public var hostTime: HostTime
    /// The kind of event.
    public var kind: Kind
    /// The item that it is about.
    package var subject: (any EventSubject)?

    package init(hostTime: HostTime, kind: Kind, subject: (any EventSubject)? = nil) {
        self.hostTime = hostTime
        self.kind = kind
        self.subject = subject
    }

    /// The kind of event. Values are those right after it.
    ///
    /// An open set: a `switch` needs a `default`.
    #if hasAttribute(nonexhaustive)
        @nonexhaustive
    #endif
    public enum Kind: Sendable {
        /// The time control status or the reason for waiting changed.
        case timeControl(TimeControlChange)
        /// The desired rate changed, or did not stay what it was set to.
        case rateChanged(Float, RateChangeReason)
        /// Another item is current, which ``PlayerEvent/item`` has, or none.
        case currentItemChanged(PlayerItemID?)
        /// The item became ready to play or failed.
        case itemStatusChanged(PlayerItemStatus)
        case durationChanged(MediaTime)
        /// A multivariant or media playlist was loaded (also each changed or unchanged reload).
        case playlistLoaded(PlaylistLoad)
        /// A media segment was loaded whole.
        case segmentLoaded(SegmentLoad)
        /// The variant that is being loaded changed (also the first choice, from nil).
        case variantSwitched(from: AssetVariant?, to: AssetVariant, explanation: String)
        /// Media is loaded from another pathway from the next segment on: its name, and that of the one before, are those of
        /// ``PlayerItem/pathway``.
        case pathwayChanged(from: String, to: String, reason: PathwayChangeReason)
        /// A download was given up for a smaller variant; its bytes so far are lost.
        case downloadAbandoned(SegmentLoad)
        case playbackLikelyToKeepUpChanged(Bool)
        case playbackBufferFullChanged(Bool)
        case playbackStalled(itemTime: MediaTime)
        case timeJumped(to: MediaTime)
        /// A rate above 2 or below 0 was set, and I-frames are not to be had: the item is played at 2, or in reverse not at
        /// all. Told once for each time that such a rate is set, and when the item turns out to be without.
        case trickPlayUnavailable(TrickPlayObstacle, rate: Float)
        /// Other options of audio or subtitles are selected, or there are new ones: closed captions that the video has and
        /// no playlist names.
        case mediaSelectionChanged(MediaSelection)
        /// A cue of the selected subtitles begins to be shown. One whose segment came late follows as soon as it is
        /// there; each comes once, with its end as far as it is known by then: that of a closed caption at the edge of what
        /// is loaded is not.
        case legibleCue(LegibleCue)
        /// The playhead came into a date range of the playlist (`EXT-X-DATERANGE`) or left it, or a newer playlist says something
        /// else of one that it is in; with or without outputs. Each is entered once until the playhead is moved, and left
        /// where its end is known; one without a length is only entered.
        case dateRange(DateRangePhase, DateRangeMetadataGroup)
        /// The playhead came to a marker of a break in the playlist (`EXT-X-CUE-OUT`, `EXT-X-CUE-IN` and the like), which lies at
        /// this item time; with or without outputs. Each is told once until the playhead is moved; that a break continues
        /// (`SpliceMarker.Kind.continued`) only to a player that came into it in the middle.
        case spliceMarker(SpliceMarker, at: MediaTime)
        /// The playhead came to metadata in the media: an ID3 tag, an event message, splice information of SCTE 35
        /// (``TimedMetadataGroup/spliceInformation``); with or without outputs. Each is told once until the playhead is moved,
        /// whichever segments, variants and renditions repeat it.
        case timedMetadata(TimedMetadataGroup)
        /// A part of the item was left out by ``PlayerItem/skipRule``: told when playing continues behind it.
        case contentSkipped(SkippedContent)
        /// Other interstitials are scheduled in the current item, or they are scheduled otherwise: all of them, in the order in
        /// which they are played.
        indirect case interstitialEventsChanged([InterstitialEvent])
        /// The item is left for a break at this item time: until it resumes, it waits with the reason
        /// ``WaitingReason/interstitialEvent``.
        case interstitialBreakBegan(at: MediaTime)
        /// An event of a break is played from now on, or what it plays is waited for.
        indirect case interstitialEventBegan(InterstitialEvent)
        /// Something that the event plays cannot be had, and is left out; nothing may be left of the event then, and
        /// ``interstitialEventEnded(_:_:played:)`` follows. Told for each asset that fails, and for a list of assets that does.
        indirect case interstitialEventFailed(InterstitialEvent, HLSError)
        /// The event is over: how, and how much of it was played. Why it has failed was told by
        /// ``interstitialEventFailed(_:_:)``.
        indirect case interstitialEventEnded(InterstitialEvent, InterstitialEvent.Outcome, played: MediaTime)
        /// The break is over. The item resumes at this time; nil where another break follows, the user went elsewhere, or the
        /// item is over.
        case interstitialBreakEnded(resumingAt: MediaTime?)
        /// The list of what an event plays was asked for, is there, or will not come.
        indirect case interstitialAssetListStatusChanged(InterstitialEvent, InterstitialEvent.AssetListStatus)
        /// The event that plays may be skipped by the user from now on, or no longer.
        indirect case interstitialSkippableStateChanged(InterstitialEvent, InterstitialEvent.SkippableEventState)
        /// A seek was refused because of ``InterstitialEvent/restrictions`` of the event that plays.
        indirect case interstitialSeekRefused(InterstitialEvent)
        /// A segment could not be loaded and was skipped: the media time is lost.
        case segmentSkipped(SkippedSegments)
        /// Media is missing that no playlist announced as missing, for 0.1 s or more: time runs on over the hole. Told once,
        /// when what is behind it is loaded.
        case holePlayedOver(MediaTimeRange)
        /// Readers of the sequences that the item's outputs give were slower than time passes, and have lost so many frames,
        /// buffers or samples of this kind since this was told last. Told at most once in 10 s of media; without pacing
        /// readers lose nothing. ``PlaybackStatistics/numberOfUnreadVideoFrames`` counts.
        case mediaUnread(MediaKind, count: Int)
        /// The link carries less than what is played needs, in bits per second, and there is no lower variant: playback stalls
        /// and waits. Told at a stall, once in each row of stalls.
        case linkTooSlow(bitsPerSecond: Double, needed: Double)
        /// A live playlist moved on past segments that had not been loaded.
        case segmentsMissed(SkippedSegments)
        /// The server offers low latency and does not do all that it takes: the item is played as any live stream is.
        case lowLatencyDeclined(url: String, cause: String)
        /// A failure that was, or will be, retried or worked around.
        case recoverableError(HLSError)
        /// Something odd in a playlist or in media that a person might want to know.
        case warning(String)
        /// So many events are missing here: their reader was slower than they came. Only that reader gets it.
        ///
        /// See ``Player/events(bufferingNewest:)``.
        case eventsLost(Int)
        /// A new event was added to the item's access log.
        case newAccessLogEntry
        case newErrorLogEntry(ErrorLogEvent)
        /// ``PlayerItem/recommendedTimeOffsetFromLive`` changed.
        case recommendedTimeOffsetFromLiveChanged(MediaTime)
        case didPlayToEnd
        /// Playing ended before the end of the item.
        case failedToPlayToEnd(HLSError)
    }
}

/// What this folder knows of the item that an event is about.
package protocol EventSubject: AnyObject, Sendable {
    /// Why it failed; nil while it has not.
    var error: HLSError? { get }
}

/// A change of the time control status.
public struct TimeControlChange: Sendable, Hashable {
    /// The status before.
    public var old: TimeControlStatus
    /// The status after.
    public var new: TimeControlStatus
    /// Why the player waits; nil unless ``new`` is `waitingToPlayAtSpecifiedRate`.
    public var reason: WaitingReason?
    /// The desired rate.
    public var rate: Float
    /// The rate at which time passes; 0 while waiting.
    public var timebaseRate: Double
    /// The item time of the change.
    public var itemTime: MediaTime

    /// Makes a change.
    package init(
        old: TimeControlStatus, new: TimeControlStatus, reason: WaitingReason?, rate: Float, timebaseRate: Double,
        itemTime: MediaTime
    ) {
        self.old = old
        self.new = new
        self.reason = reason
        self.rate = rate
        self.timebaseRate = timebaseRate
        self.itemTime = itemTime
    }
}

/// One loaded playlist.
public struct PlaylistLoad: Sendable, Hashable {
    /// The URL that answered, after redirects, without secrets.
    public var urlString: String
    /// Whether it is a multivariant playlist.
    public var isMultivariant: Bool
    /// Whether it was loaded before.
    public var isReload: Bool
    /// From request to last byte.
    public var duration: Duration
    /// Bytes of the body after content decoding.
    public var byteCount: Int
    /// What a media playlist lists; nil of a multivariant playlist.
    public var extent: MediaPlaylistExtent?

    /// Makes a value.
    package init(
        url: String, isMultivariant: Bool, isReload: Bool, duration: Duration, byteCount: Int,
        extent: MediaPlaylistExtent? = nil
    ) {
        urlString = Redaction.url(url)
        self.extent = extent
        self.isMultivariant = isMultivariant
        self.isReload = isReload
        self.duration = duration
        self.byteCount = byteCount
    }
}

/// What a media playlist lists, in a few numbers: whether it goes on can be seen by comparing two of them.
public struct MediaPlaylistExtent: Sendable, Hashable {
    /// `EXT-X-TARGETDURATION`.
    public var targetDuration: Duration
    /// `EXT-X-MEDIA-SEQUENCE`; 0 where it is not declared.
    public var firstMediaSequence: Int
    /// Segments that are listed, those without media (`EXT-X-GAP`) too.
    public var segmentCount: Int
    /// The discontinuity sequence number of the last segment; of an empty playlist the declared one.
    public var lastDiscontinuitySequence: Int
    /// `EXT-X-ENDLIST` is there: nothing more will be listed.
    public var hasEndList: Bool

    /// The media sequence number behind the last segment. Grows as the stream goes on.
    public var endMediaSequence: Int { firstMediaSequence &+ segmentCount }

    /// Makes a value.
    public init(
        targetDuration: Duration, firstMediaSequence: Int, segmentCount: Int, lastDiscontinuitySequence: Int = 0,
        hasEndList: Bool = false
    ) {
        self.targetDuration = targetDuration
        self.firstMediaSequence = firstMediaSequence
        self.segmentCount = segmentCount
        self.lastDiscontinuitySequence = lastDiscontinuitySequence
        self.hasEndList = hasEndList
    }
}

/// One loaded segment.
public struct SegmentLoad: Sendable, Hashable {
    /// The URL of the segment, without secrets.
    public var urlString: String
    /// Its media sequence number.
    public var mediaSequence: Int
    /// Its start on the item's timeline.
    public var itemTime: MediaTime
    /// Its length by the playlist.
    public var mediaDuration: Duration
    /// From request to last byte.
    public var duration: Duration
    /// Bytes that arrived.
    public var byteCount: Int
    /// The variant, as in ``AssetVariant/id``; nil for a rendition of its own, and where there is but one media playlist.
    public var variantID: AssetVariant.ID?
    /// Its position in the multivariant playlist, for logs.
    package var variantIndex: Int?

    /// Makes a value.
    package init(
        url: String, mediaSequence: Int, itemTime: MediaTime, mediaDuration: Duration, duration: Duration,
        byteCount: Int, variantID: AssetVariant.ID?, variantIndex: Int?
    ) {
        urlString = Redaction.url(url)
        self.mediaSequence = mediaSequence
        self.itemTime = itemTime
        self.mediaDuration = mediaDuration
        self.duration = duration
        self.byteCount = byteCount
        self.variantID = variantID
        self.variantIndex = variantIndex
    }
}

/// Media that is missing from what was delivered.
public struct SkippedSegments: Sendable, Hashable {
    /// First and last media sequence number.
    public var first: Int
    /// Last media sequence number.
    public var last: Int
    /// The media time that is missing.
    public var mediaDuration: Duration
    /// The URL of the first one, without secrets.
    public var urlString: String
    /// Why they are missing, in a few words.
    public var cause: String
    /// The playlist itself says that there is nothing (`EXT-X-GAP`): nothing is lost.
    package var isListedGap = false

    /// Makes a value.
    package init(first: Int, last: Int, mediaDuration: Duration, url: String, cause: String) {
        self.first = first
        self.last = last
        self.mediaDuration = mediaDuration
        urlString = Redaction.url(url)
        self.cause = Redaction.text(cause)
    }
}
