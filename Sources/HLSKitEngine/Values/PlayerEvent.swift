public import HLSKitLoading
public import HLSKitMedia
public import HLSKitPlaylist
public import HLSKitSelection
public import HLSKitTime

/// An event of a player, with its time.
public struct PlayerEvent: Sendable {
    /// The time of the event on the player's ``Player/sourceClock``.
    ///
    /// Events of players with the same clock can be sorted by it.
    public var hostTime: HostTime
    /// The kind of event.
    public var kind: Kind
    package var subject: (any EventSubject)?

    package init(hostTime: HostTime, kind: Kind, subject: (any EventSubject)? = nil) {
        self.hostTime = hostTime
        self.kind = kind
        self.subject = subject
    }

    /// The kind of event.
    ///
    /// The associated values describe the state immediately after the event. The set is open: a `switch` needs a
    /// `default`.
    #if hasAttribute(nonexhaustive)
        @nonexhaustive
    #endif
    public enum Kind: Sendable {
        /// The time control status or the reason for waiting changed.
        case timeControl(TimeControlChange)
        /// The requested rate changed, or was not kept as set.
        case rateChanged(Float, RateChangeReason)
        /// Another item became current, or none. ``PlayerEvent/item`` is that item.
        case currentItemChanged(PlayerItemID?)
        /// The item became ready to play or failed.
        case itemStatusChanged(PlayerItemStatus)
        /// The duration became known or changed. The end of the media may differ from the playlist by less than half a
        /// second, which is not reported.
        case durationChanged(MediaTime)
        /// A multivariant or media playlist was loaded. This includes each reload, even of an unchanged playlist.
        case playlistLoaded(PlaylistLoad)
        /// A media segment was completely loaded.
        case segmentLoaded(SegmentLoad)
        /// The variant that is being loaded changed. For the first choice, the old variant is `nil`.
        case variantSwitched(from: AssetVariant?, to: AssetVariant, explanation: String)
        /// Media is loaded from another pathway, starting with the next segment. The names are as in
        /// ``PlayerItem/pathway``.
        case pathwayChanged(from: String, to: String, reason: PathwayChangeReason)
        /// A download was cancelled in favor of a smaller variant. Its bytes so far are discarded.
        case downloadAbandoned(SegmentLoad)
        case playbackLikelyToKeepUpChanged(Bool)
        case playbackBufferFullChanged(Bool)
        case playbackStalled(itemTime: MediaTime)
        case timeJumped(to: MediaTime)
        /// A rate above 2 or below 0 was set, but no I-frames are available.
        ///
        /// The item is played at rate 2, or in reverse not at all. Sent once each time such a rate is set, and when the
        /// item turns out to have no I-frames.
        case trickPlayUnavailable(TrickPlayObstacle, rate: Float)
        /// The selected options of audio or subtitles changed, or new options appeared.
        ///
        /// New options are closed captions in the video that no playlist names.
        case mediaSelectionChanged(MediaSelection)
        /// A cue of the selected subtitles begins to be shown.
        ///
        /// A cue whose segment arrives late is sent as soon as it arrives. Each cue is sent once. Its end may still be
        /// unknown, for example for a closed caption at the end of the loaded media.
        case legibleCue(LegibleCue)
        /// The playhead entered or left a date range (`EXT-X-DATERANGE`), or a reload changed it.
        ///
        /// A change is sent only while the playhead is in the date range. Sent with or without outputs. Each date range
        /// is entered once until the next seek, and left if its end is known. A date range without a duration is only
        /// entered.
        case dateRange(DateRangePhase, DateRangeMetadataGroup)
        /// The playhead reached a splice marker of the playlist.
        ///
        /// Markers are `EXT-X-CUE-OUT`, `EXT-X-CUE-IN` and similar tags. The time is the marker's item time. Sent with
        /// or without outputs, once for each marker until the next seek. The continuation of a break
        /// (`SpliceMarker.Kind.continued`) is sent only if the playhead entered the break in its middle.
        case spliceMarker(SpliceMarker, at: MediaTime)
        /// The playhead reached metadata in the media.
        ///
        /// This is an ID3 tag, an event message, or SCTE 35 splice information
        /// (``TimedMetadataGroup/spliceInformation``). Sent with or without outputs, once for each group until the next
        /// seek, even if several segments, variants or renditions repeat it.
        case timedMetadata(TimedMetadataGroup)
        /// ``PlayerItem/skipRule`` skipped a part of the item. Sent when playback continues after it.
        case contentSkipped(SkippedContent)
        /// The interstitials scheduled in the current item changed. The value has all of them, in playing order.
        indirect case interstitialEventsChanged([InterstitialEvent])
        /// The item is suspended for a break at this item time.
        ///
        /// Until it resumes, it waits with the reason ``WaitingReason/interstitialEvent``.
        case interstitialBreakBegan(at: MediaTime)
        /// An event of a break starts to play, or waits for its media.
        indirect case interstitialEventBegan(InterstitialEvent)
        /// An asset of the event, or its asset list, is unavailable and is skipped.
        ///
        /// Sent once for each failed asset and for a failed asset list. If nothing of the event is left,
        /// ``interstitialEventEnded(_:_:played:)`` follows.
        indirect case interstitialEventFailed(InterstitialEvent, HLSError)
        /// The event ended. The values are its outcome and the played time.
        ///
        /// ``interstitialEventFailed(_:_:)`` has the reason of a failure.
        indirect case interstitialEventEnded(InterstitialEvent, InterstitialEvent.Outcome, played: MediaTime)
        /// The break ended, and the item resumes at this time.
        ///
        /// The time is `nil` if another break follows, the user made a seek, or the item has ended.
        case interstitialBreakEnded(resumingAt: MediaTime?)
        /// The asset list of an event was requested, was loaded, or failed.
        indirect case interstitialAssetListStatusChanged(InterstitialEvent, InterstitialEvent.AssetListStatus)
        /// The user may skip the playing event from now on, or no longer.
        indirect case interstitialSkippableStateChanged(InterstitialEvent, InterstitialEvent.SkippableEventState)
        /// A seek was rejected because of the ``InterstitialEvent/restrictions`` of the playing event.
        indirect case interstitialSeekRefused(InterstitialEvent)
        /// A segment could not be loaded and was skipped, so its media time is lost.
        case segmentSkipped(SkippedSegments)
        /// Playback crosses at least 0.1 s of missing media that no playlist announced.
        ///
        /// Sent once, when the media after it is loaded.
        case missingMediaSkipped(MediaTimeRange)
        /// Readers of output sequences were too slow and have lost frames, buffers or samples of this kind.
        ///
        /// The count covers the time since the last such event. Sent at most once in 10 s of media. Without pacing,
        /// readers lose nothing. ``PlaybackStatistics/numberOfUnreadVideoFrames`` has the total.
        case mediaUnread(MediaKind, count: Int)
        /// The link is slower than playback needs, in bits per second, and there is no lower variant.
        ///
        /// Playback therefore stalls and waits. Sent at a stall, once in each series of stalls.
        case linkTooSlow(bitsPerSecond: Double, needed: Double)
        /// A live playlist has moved past segments that had not been loaded.
        case segmentsMissed(SkippedSegments)
        /// The server offers low latency but does not fully support it. The item is played like any other live stream.
        case lowLatencyDeclined(url: String, cause: String)
        /// A failure that was or will be retried or worked around.
        case recoverableError(HLSError)
        /// An anomaly in a playlist or in media that may be of interest to a person.
        case warning(String)
        /// This number of events is missing here because the reader was too slow. Only that reader gets this event.
        ///
        /// See ``Player/events(bufferingNewest:)``.
        case eventsLost(Int)
        /// A new event was added to the item's access log.
        case newAccessLogEntry
        case newErrorLogEntry(ErrorLogEvent)
        /// ``PlayerItem/recommendedTimeOffsetFromLive`` changed.
        case recommendedTimeOffsetFromLiveChanged(MediaTime)
        case didPlayToEnd
        /// Playback ended before the end of the item.
        case failedToPlayToEnd(HLSError)
    }
}

/// The item of an event, as this module sees it.
package protocol EventSubject: AnyObject, Sendable {
    var error: HLSError? { get }
}

/// A change of the time control status.
public struct TimeControlChange: Sendable, Hashable {
    /// The status before the change.
    public var old: TimeControlStatus
    /// The status after the change.
    public var new: TimeControlStatus
    /// The reason for waiting, or `nil` if ``new`` is not `waitingToPlayAtSpecifiedRate`.
    public var reason: WaitingReason?
    /// The requested rate.
    public var rate: Float
    /// The rate at which time passes, or 0 while waiting.
    public var timebaseRate: Double
    /// The item time of the change.
    public var itemTime: MediaTime

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

/// A loaded playlist.
public struct PlaylistLoad: Sendable, Hashable {
    /// The URL of the response after redirects, without secrets.
    public var urlString: String
    /// A Boolean value that indicates whether it is a multivariant playlist.
    public var isMultivariant: Bool
    /// A Boolean value that indicates whether the playlist was loaded before.
    public var isReload: Bool
    /// The time from the request to the last byte.
    public var duration: Duration
    /// The size of the body in bytes, after content decoding.
    public var byteCount: Int
    /// The extent of a media playlist, or `nil` for a multivariant playlist.
    public var extent: MediaPlaylistExtent?

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

/// The extent of a media playlist in a few numbers.
///
/// A comparison of two extents shows whether the stream continues.
public struct MediaPlaylistExtent: Sendable, Hashable {
    /// The value of `EXT-X-TARGETDURATION`.
    public var targetDuration: Duration
    /// The value of `EXT-X-MEDIA-SEQUENCE`, or 0 if it is undeclared.
    public var firstMediaSequence: Int
    /// The number of listed segments, including segments without media (`EXT-X-GAP`).
    public var segmentCount: Int
    /// The discontinuity sequence number of the last segment or, for an empty playlist, the declared one.
    public var lastDiscontinuitySequence: Int
    /// A Boolean value that indicates whether the playlist has `EXT-X-ENDLIST` and so has ended.
    public var hasEndList: Bool

    /// The media sequence number after the last segment.
    ///
    /// It grows as the stream continues.
    public var endMediaSequence: Int { firstMediaSequence &+ segmentCount }

    /// Creates an extent.
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

/// A loaded segment.
public struct SegmentLoad: Sendable, Hashable {
    /// The URL of the segment, without secrets.
    public var urlString: String
    /// The media sequence number of the segment.
    public var mediaSequence: Int
    /// The start of the segment on the item's timeline.
    public var itemTime: MediaTime
    /// The duration of the segment according to the playlist.
    public var mediaDuration: Duration
    /// The time from the request to the last byte.
    public var duration: Duration
    /// The number of received bytes.
    public var byteCount: Int
    /// The variant (``AssetVariant/id``), or `nil` for a separate rendition or a single media playlist.
    public var variantID: AssetVariant.ID?
    /// The variant's index in the multivariant playlist, for logs.
    package var variantIndex: Int?

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

/// Media that is missing from the delivered media.
public struct SkippedSegments: Sendable, Hashable {
    /// The first media sequence number.
    public var first: Int
    /// The last media sequence number.
    public var last: Int
    /// The missing media time.
    public var mediaDuration: Duration
    /// The URL of the first segment, without secrets.
    public var urlString: String
    /// The cause in a few words.
    public var cause: String
    /// Whether the playlist declares a gap (`EXT-X-GAP`), so that nothing is lost.
    package var isListedGap = false
    /// Whether the media belongs to the variant's playlist, not to a rendition's.
    package var isOfVariant = true

    package init(first: Int, last: Int, mediaDuration: Duration, url: String, cause: String) {
        self.first = first
        self.last = last
        self.mediaDuration = mediaDuration
        urlString = Redaction.url(url)
        self.cause = Redaction.text(cause)
    }
}

// MARK: - Reasons and phases

/// The reason for a switch to another pathway.
///
/// The set is open: a `switch` needs a `default`.
public struct PathwayChangeReason: RawRepresentable, Sendable, Hashable, CustomStringConvertible {
    public let rawValue: String
    public init(rawValue: String) { self.rawValue = rawValue }
    /// The same as ``rawValue``.
    public var description: String { rawValue }

    /// The steering server prefers the new pathway, or no longer offers the old one.
    public static let steering = PathwayChangeReason(rawValue: "steering")
    /// The old pathway failed.
    public static let failure = PathwayChangeReason(rawValue: "failure")
    /// The new pathway had failed earlier, and its penalty has ended.
    public static let recovery = PathwayChangeReason(rawValue: "recovery")
    /// The app prefers the new pathway (``PlayerItem/preferredPathway``).
    public static let preference = PathwayChangeReason(rawValue: "preference")
    /// The selected variant is available only on the new pathway.
    public static let variant = PathwayChangeReason(rawValue: "variant")
}

/// The reason why I-frames cannot be played at a rate that needs them.
///
/// The set is open. See ``PlayerEvent/Kind/trickPlayUnavailable(_:rate:)``.
public struct TrickPlayObstacle: RawRepresentable, Sendable, Hashable, CustomStringConvertible {
    public let rawValue: String
    public init(rawValue: String) { self.rawValue = rawValue }

    public var description: String { rawValue }

    /// The stream has no I-frame playlist (`EXT-X-I-FRAME-STREAM-INF`), or is a media file.
    public static let noIFrames = TrickPlayObstacle(rawValue: "the stream has no I-frame playlist")
    /// The I-frames cannot be decoded on this system.
    public static let undecodable = TrickPlayObstacle(rawValue: "its I-frames cannot be decoded")
    /// Outputs take media as fast as it arrives.
    public static let unpaced = TrickPlayObstacle(rawValue: "media is not presented in real time")
    /// The I-frames could not be loaded.
    public static let notLoaded = TrickPlayObstacle(rawValue: "the I-frames could not be loaded")
}

/// The change of a date range that a player reports.
///
/// The set is open: a `switch` needs a `default`. See ``PlayerEvent/Kind/dateRange(_:_:)``.
public struct DateRangePhase: RawRepresentable, Sendable, Hashable, CustomStringConvertible {
    public let rawValue: String
    public init(rawValue: String) { self.rawValue = rawValue }

    public var description: String { rawValue }

    /// The playhead has entered the date range, during playback or by a seek.
    public static let entered = DateRangePhase(rawValue: "entered")
    /// The playlist has changed the date range while the playhead is in it.
    ///
    /// Attributes are new or different, or its end has become known.
    public static let updated = DateRangePhase(rawValue: "updated")
    /// The playhead has left the date range.
    public static let left = DateRangePhase(rawValue: "left")
    /// The playlist has removed the date range while the playhead is in it.
    public static let removed = DateRangePhase(rawValue: "removed")
}
