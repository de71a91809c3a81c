public import HLSKitLoading
public import HLSKitMedia
public import HLSKitSelection
public import HLSKitTime

/// A playlist was requested.
public struct MetricHLSPlaylistRequestEvent: MetricEvent, MetricRecord, Hashable {
    package static let name = "playlist_request"
    public var context: MetricContext
    /// The request.
    public var request: MetricRequest
    /// False for media playlists.
    public var isMultivariantPlaylist: Bool
    /// The playlist had been loaded before: that of a live stream is, again and again.
    public var isReload: Bool
    /// What a multivariant playlist lists, as records have it: the first of very many.
    package var variants: [AssetVariant] = []

    /// A request of a playlist.
    package init(
        context: MetricContext, request: MetricRequest, isMultivariantPlaylist: Bool, isReload: Bool = false
    ) {
        self.context = context
        self.request = request
        self.isMultivariantPlaylist = isMultivariantPlaylist
        self.isReload = isReload
    }

    package var record: String {
        line(
            request.members + [
                ("kind", .string(isMultivariantPlaylist ? "multivariant" : "media")), ("reload", .bool(isReload)),
            ] + (variants.isEmpty ? [] : [("variants", JSONLine.array(variants.prefix(100).map(\.logValue)))]))
    }
}

/// A media segment or its initialization section was requested.
public struct MetricHLSMediaSegmentRequestEvent: MetricEvent, MetricRecord, Hashable {
    package static let name = "media_segment_request"
    public var context: MetricContext
    /// The request.
    public var request: MetricRequest
    /// An initialization section.
    public var isMapSegment: Bool
    /// The segment in its playlist; nil for initialization sections.
    public var segment: MetricSegment?

    /// A request of a segment or of an initialization section.
    package init(context: MetricContext, request: MetricRequest, isMapSegment: Bool, segment: MetricSegment? = nil) {
        self.context = context
        self.request = request
        self.isMapSegment = isMapSegment
        self.segment = segment
    }

    package var record: String {
        line(request.members + [("map", .bool(isMapSegment))] + MetricSegment.members(of: segment))
    }
}

/// A requested segment, as its playlist describes it.
public struct MetricSegment: Sendable, Hashable {
    /// Media sequence number.
    public var mediaSequence: Int
    /// Its start on the item's timeline.
    public var start: MediaTime
    /// Its length by the playlist.
    public var duration: Duration
    /// The variant that it is of, as in ``AssetVariant/id``; nil for renditions of their own, and where there is but one media
    /// playlist.
    public var variantID: AssetVariant.ID?
    /// Its position in the multivariant playlist, as records have it.
    package var variantIndex: Int?
    /// What it is loaded for, as records have it: `main`, `audio` or `subtitles`; nil where that is not known.
    package var lane: String?

    /// A segment of a playlist.
    package init(mediaSequence: Int, start: MediaTime, duration: Duration, variantIndex: Int? = nil) {
        self.mediaSequence = mediaSequence
        self.start = start
        self.duration = duration
        self.variantIndex = variantIndex
    }

    init(_ job: SegmentJob) {
        self.init(mediaSequence: job.mediaSequence, start: MediaTime(job.start), duration: job.duration)
        lane = "\(job.id.lane)"
    }

    /// The same members for every request, so that a table of them has the same columns.
    static func members(of segment: MetricSegment?) -> [(String, LogValue)] {
        [
            ("media_sequence", segment.map { .integer(Int64($0.mediaSequence)) } ?? .string(nil)),
            ("segment_start", LogValue(segment.flatMap { $0.start.isNumeric ? $0.start.seconds : nil })),
            ("segment_duration", LogValue(segment?.duration.seconds)),
            ("variant", segment?.variantIndex.map { .integer(Int64($0)) } ?? .string(nil)),
            ("lane", .string(segment?.lane)),
        ]
    }
}

/// A key was requested.
public struct MetricContentKeyRequestEvent: MetricEvent, MetricRecord, Hashable {
    package static let name = "content_key_request"
    public var context: MetricContext
    /// The request.
    public var request: MetricRequest

    /// Makes an event.
    package init(context: MetricContext, request: MetricRequest) {
        self.context = context
        self.request = request
    }

    package var record: String { line(request.members) }
}

/// How long it took until playback was likely to keep up.
public protocol LikelyToKeepUpMetric: MetricEvent {
    /// From the item becoming current, a seek or a stall, whichever came last.
    var timeTaken: Duration { get }
    /// Media that was loaded by then.
    var loadedTimeRanges: [MediaTimeRange] { get }
}

/// Playback became likely to keep up for the first time, with the requests that it took.
public struct MetricPlayerItemInitialLikelyToKeepUpEvent: LikelyToKeepUpMetric, MetricRecord, Hashable {
    package static let name = "initial_likely_to_keep_up"
    public var context: MetricContext
    /// From the item becoming current.
    public var timeTaken: Duration
    /// Media that was loaded by then.
    public var loadedTimeRanges: [MediaTimeRange]
    /// Requests for playlists up to then.
    public var playlistRequests: [MetricHLSPlaylistRequestEvent]
    /// Requests for segments up to then.
    public var mediaSegmentRequests: [MetricHLSMediaSegmentRequestEvent]
    /// Requests for keys up to then.
    public var contentKeyRequests: [MetricContentKeyRequestEvent]

    /// Makes an event.
    package init(
        context: MetricContext, timeTaken: Duration, loadedTimeRanges: [MediaTimeRange],
        playlistRequests: [MetricHLSPlaylistRequestEvent], mediaSegmentRequests: [MetricHLSMediaSegmentRequestEvent],
        contentKeyRequests: [MetricContentKeyRequestEvent]
    ) {
        self.context = context
        self.timeTaken = timeTaken
        self.loadedTimeRanges = loadedTimeRanges
        self.playlistRequests = playlistRequests
        self.mediaSegmentRequests = mediaSegmentRequests
        self.contentKeyRequests = contentKeyRequests
    }

    package var record: String {
        func list(_ requests: [MetricRequest]) -> LogValue {
            JSONLine.array(requests.map { JSONLine.object($0.members) })
        }
        return line([
            ("time_taken", LogValue(timeTaken.seconds)), ("loaded_time_ranges", loadedTimeRanges.logValue),
            ("playlist_requests", list(playlistRequests.map(\.request))),
            ("media_segment_requests", list(mediaSegmentRequests.map(\.request))),
            ("content_key_requests", list(contentKeyRequests.map(\.request))),
        ])
    }
}

/// Playback became likely to keep up, or no longer is.
public struct MetricPlayerItemLikelyToKeepUpEvent: LikelyToKeepUpMetric, MetricRecord, Hashable {
    package static let name = "likely_to_keep_up"
    public var context: MetricContext
    /// The new value.
    public var isLikelyToKeepUp: Bool
    /// From the item becoming current, a seek or a stall, whichever came last.
    public var timeTaken: Duration
    /// Media that was loaded by then.
    public var loadedTimeRanges: [MediaTimeRange]

    /// Makes an event.
    package init(
        context: MetricContext, isLikelyToKeepUp: Bool, timeTaken: Duration, loadedTimeRanges: [MediaTimeRange]
    ) {
        self.context = context
        self.isLikelyToKeepUp = isLikelyToKeepUp
        self.timeTaken = timeTaken
        self.loadedTimeRanges = loadedTimeRanges
    }

    package var record: String {
        line([
            ("likely", .bool(isLikelyToKeepUp)), ("time_taken", LogValue(timeTaken.seconds)),
            ("loaded_time_ranges", loadedTimeRanges.logValue),
        ])
    }
}

/// The speed at which time passes on the item's timeline changed.
public struct MetricPlayerItemRateChangeEvent: MetricEvent, MetricRecord, Hashable {
    package static let name = "rate_change"
    public var context: MetricContext
    /// The new rate of the timebase; 0 while it stands.
    public var rate: Double
    /// The rate before.
    public var previousRate: Double
    /// The variant that is presented; nil before the first.
    public var variant: AssetVariant?

    /// Makes an event.
    package init(context: MetricContext, rate: Double, previousRate: Double, variant: AssetVariant?) {
        self.context = context
        self.rate = rate
        self.previousRate = previousRate
        self.variant = variant
    }

    package var record: String {
        line([("old", LogValue(previousRate)), ("new", LogValue(rate)), ("variant", variant?.logValue ?? .string(nil))])
    }
}

/// Playback ran out of media.
public struct MetricPlayerItemStallEvent: MetricEvent, MetricRecord, Hashable {
    package static let name = "stall"
    public var context: MetricContext
    /// The variant that is presented; nil before the first.
    public var variant: AssetVariant?

    /// Makes an event.
    package init(context: MetricContext, variant: AssetVariant?) {
        self.context = context
        self.variant = variant
    }

    package var record: String { line([("variant", variant?.logValue ?? .string(nil))]) }
}

/// A seek began.
public struct MetricPlayerItemSeekEvent: MetricEvent, MetricRecord, Hashable {
    package static let name = "seek"
    public var context: MetricContext

    /// Makes an event.
    package init(context: MetricContext) {
        self.context = context
    }

    package var record: String { line([]) }
}

/// A seek came to its end: media at its target can be shown.
public struct MetricPlayerItemSeekDidCompleteEvent: MetricEvent, MetricRecord, Hashable {
    package static let name = "seek_did_complete"
    public var context: MetricContext
    /// No media had to be loaded for it.
    public var didSeekInBuffer: Bool

    /// Makes an event.
    package init(context: MetricContext, didSeekInBuffer: Bool) {
        self.context = context
        self.didSeekInBuffer = didSeekInBuffer
    }

    package var record: String { line([("in_buffer", .bool(didSeekInBuffer))]) }
}

/// Another variant is going to be loaded.
public struct MetricPlayerItemVariantSwitchStartEvent: MetricEvent, MetricRecord, Hashable {
    package static let name = "variant_switch_start"
    public var context: MetricContext
    /// nil for the first choice.
    public var fromVariant: AssetVariant?
    /// The variant to switch to.
    public var toVariant: AssetVariant
    /// Media that was loaded by then.
    public var loadedTimeRanges: [MediaTimeRange]
    /// Why, in a few words.
    public var explanation: String

    /// The beginning of a switch.
    package init(
        context: MetricContext, fromVariant: AssetVariant?, toVariant: AssetVariant,
        loadedTimeRanges: [MediaTimeRange], explanation: String = ""
    ) {
        self.context = context
        self.fromVariant = fromVariant
        self.toVariant = toVariant
        self.loadedTimeRanges = loadedTimeRanges
        self.explanation = explanation
    }

    package var record: String {
        line([
            ("from", fromVariant?.logValue ?? .string(nil)), ("to", toVariant.logValue),
            ("explanation", .string(explanation)), ("loaded_time_ranges", loadedTimeRanges.logValue),
        ])
    }
}

/// Media of another variant arrived, or the switch was given up before that.
public struct MetricPlayerItemVariantSwitchEvent: MetricEvent, MetricRecord, Hashable {
    package static let name = "variant_switch"
    public var context: MetricContext
    /// nil for the first choice.
    public var fromVariant: AssetVariant?
    /// The variant to switch to.
    public var toVariant: AssetVariant
    /// Whether the switch took place; else it was given up.
    public var didSucceed: Bool
    /// Media that was loaded by then.
    public var loadedTimeRanges: [MediaTimeRange]

    /// Makes an event.
    package init(
        context: MetricContext, fromVariant: AssetVariant?, toVariant: AssetVariant, didSucceed: Bool,
        loadedTimeRanges: [MediaTimeRange]
    ) {
        self.context = context
        self.fromVariant = fromVariant
        self.toVariant = toVariant
        self.didSucceed = didSucceed
        self.loadedTimeRanges = loadedTimeRanges
    }

    package var record: String {
        line([
            ("from", fromVariant?.logValue ?? .string(nil)), ("to", toVariant.logValue),
            ("did_succeed", .bool(didSucceed)),
        ])
    }
}

/// Another rendition of audio or subtitles is loaded, or none.
public struct MetricMediaRenditionChangeEvent: MetricEvent, MetricRecord, Hashable {
    package static let name = "rendition_change"
    public var context: MetricContext
    /// `audio` or `subtitle`.
    public var mediaType: MediaKind
    /// The rendition's media playlist; nil for none.
    public var fromURI: String?
    /// The media playlist from now on; nil for none.
    public var toURI: String?

    /// Makes an event.
    package init(context: MetricContext, mediaType: MediaKind, fromURI: String?, toURI: String?) {
        self.context = context
        self.mediaType = mediaType
        self.fromURI = fromURI
        self.toURI = toURI
    }

    package var record: String {
        line([("kind", .string("\(mediaType)")), ("from", .string(fromURI)), ("to", .string(toURI))])
    }
}

/// How the whole item went. Comes once: when it was played to its end, failed or was removed.
public struct MetricPlayerItemPlaybackSummaryEvent: MetricEvent, MetricRecord, Hashable {
    package static let name = "playback_summary"
    public var context: MetricContext
    /// Why it failed; nil if it did not.
    public var error: String?
    /// From becoming current to being ready to play; nil if it never was.
    public var startupTime: Duration?
    /// Stalls, without the wait at the start.
    public var stallCount: Int
    /// Time spent waiting after stalls.
    public var stallDuration: Duration
    /// Without the first choice.
    public var variantSwitchCount: Int
    /// Media time that was played: what was jumped over or lost is left out.
    public var playbackDuration: Duration
    /// Declared bits per second of what was loaded, weighted by its media time; nil if nothing was declared.
    public var timeWeightedAverageBitrate: Double?
    /// The same of the declared peaks; see ``timeWeightedAverageBitrate``.
    public var timeWeightedPeakBitrate: Double?
    /// Failures that were retried or worked around.
    public var recoverableErrorCount: Int
    /// Requests for playlists, reloads included.
    public var playlistRequestCount: Int
    /// Requests for segments.
    public var mediaSegmentRequestCount: Int
    /// Requests for keys.
    public var contentKeyRequestCount: Int
    /// The mean of ``PlayerItem/liveLatency`` over the time in which the item was presented; nil if it was not live.
    public var meanLiveLatency: Duration?

    /// Makes an event.
    package init(
        context: MetricContext, error: String?, startupTime: Duration?, stallCount: Int, stallDuration: Duration,
        variantSwitchCount: Int, playbackDuration: Duration, timeWeightedAverageBitrate: Double?,
        timeWeightedPeakBitrate: Double?, recoverableErrorCount: Int, playlistRequestCount: Int,
        mediaSegmentRequestCount: Int, contentKeyRequestCount: Int
    ) {
        self.context = context
        self.error = error
        self.startupTime = startupTime
        self.stallCount = stallCount
        self.stallDuration = stallDuration
        self.variantSwitchCount = variantSwitchCount
        self.playbackDuration = playbackDuration
        self.timeWeightedAverageBitrate = timeWeightedAverageBitrate
        self.timeWeightedPeakBitrate = timeWeightedPeakBitrate
        self.recoverableErrorCount = recoverableErrorCount
        self.playlistRequestCount = playlistRequestCount
        self.mediaSegmentRequestCount = mediaSegmentRequestCount
        self.contentKeyRequestCount = contentKeyRequestCount
    }

    package var record: String {
        line([
            ("error", .string(error)), ("startup_time", LogValue(startupTime?.seconds)),
            ("stalls", .integer(Int64(stallCount))),
            ("stall_duration", LogValue(stallDuration.seconds)),
            ("variant_switches", .integer(Int64(variantSwitchCount))),
            ("playback_duration", LogValue(playbackDuration.seconds)),
            ("average_bitrate", LogValue(timeWeightedAverageBitrate)),
            ("peak_bitrate", LogValue(timeWeightedPeakBitrate)),
            ("recoverable_errors", .integer(Int64(recoverableErrorCount))),
            ("playlist_requests", .integer(Int64(playlistRequestCount))),
            ("media_segment_requests", .integer(Int64(mediaSegmentRequestCount))),
            ("content_key_requests", .integer(Int64(contentKeyRequestCount))),
            ("live_latency", LogValue(meanLiveLatency?.seconds)),
        ])
    }
}

extension [MediaTimeRange] {
    var logValue: LogValue {
        JSONLine.array(
            map { range in JSONLine.array([LogValue(range.start.seconds), LogValue(range.end.seconds)]) })
    }
}

extension AssetVariant {
    var logValue: LogValue {
        JSONLine.object([
            ("index", .integer(Int64(index))), ("bandwidth", .integer(Int64(declaredBitRate))),
            ("average_bandwidth", averageBandwidth.map { .integer(Int64(min($0, 1e15))) } ?? .string(nil)),
            ("width", .integer(Int64(resolution?.width ?? 0))), ("height", .integer(Int64(resolution?.height ?? 0))),
            ("frame_rate", LogValue(storage.facts.frameRate)), ("codecs", .string(codecs.joined(separator: ","))),
        ])
    }
}
