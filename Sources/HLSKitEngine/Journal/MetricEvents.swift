public import HLSKitLoading
public import HLSKitMedia
public import HLSKitSelection
public import HLSKitTime

/// An event that reports a playlist request.
public struct MetricHLSPlaylistRequestEvent: MetricEvent, MetricRecord, Hashable {
    package static let name = "playlist_request"
    public var context: MetricContext
    /// The request.
    public var request: MetricRequest
    /// A Boolean value that indicates whether the playlist is a multivariant playlist.
    public var isMultivariantPlaylist: Bool
    /// A Boolean value that indicates whether the playlist was loaded before.
    ///
    /// Live playlists are reloaded periodically.
    public var isReload: Bool
    /// The variants of a multivariant playlist. Records contain the first 100.
    package var variants: [AssetVariant] = []

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

/// An event that reports a request for a media segment or its initialization section.
public struct MetricHLSMediaSegmentRequestEvent: MetricEvent, MetricRecord, Hashable {
    package static let name = "media_segment_request"
    public var context: MetricContext
    /// The request.
    public var request: MetricRequest
    /// A Boolean value that indicates whether the request is for an initialization section.
    public var isMapSegment: Bool
    /// The segment in its playlist, or `nil` for initialization sections.
    public var segment: MetricSegment?

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
    /// The media sequence number.
    public var mediaSequence: Int
    /// The start on the item's timeline.
    public var start: MediaTime
    /// The duration according to the playlist.
    public var duration: Duration
    /// The ID of the segment's variant (``AssetVariant/id``).
    ///
    /// The value is `nil` for separate renditions and if the item has only one media playlist.
    public var variantID: AssetVariant.ID?
    /// The index of the variant in the multivariant playlist, as records contain it.
    package var variantIndex: Int?
    /// The lane of the segment in records: `main`, `audio` or `subtitles`, or nil if unknown.
    package var lane: String?

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

    /// Returns the same members for every request, so that a table of requests has fixed columns.
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

/// An event that reports a key request.
public struct MetricContentKeyRequestEvent: MetricEvent, MetricRecord, Hashable {
    package static let name = "content_key_request"
    public var context: MetricContext
    /// The request.
    public var request: MetricRequest

    package init(context: MetricContext, request: MetricRequest) {
        self.context = context
        self.request = request
    }

    package var record: String { line(request.members) }
}

/// An event that reports the time until playback was likely to keep up.
public protocol LikelyToKeepUpMetric: MetricEvent {
    /// The time since the item became current, a seek or a stall, whichever came last.
    var timeTaken: Duration { get }
    /// The time ranges of media that was loaded by then.
    var loadedTimeRanges: [MediaTimeRange] { get }
}

/// An event that reports that playback became likely to keep up for the first time.
///
/// It contains the requests that were necessary.
public struct MetricPlayerItemInitialLikelyToKeepUpEvent: LikelyToKeepUpMetric, MetricRecord, Hashable {
    package static let name = "initial_likely_to_keep_up"
    public var context: MetricContext
    /// The time since the item became current.
    public var timeTaken: Duration
    /// The time ranges of media that was loaded by then.
    public var loadedTimeRanges: [MediaTimeRange]
    /// The playlist requests until then.
    public var playlistRequests: [MetricHLSPlaylistRequestEvent]
    /// The segment requests until then.
    public var mediaSegmentRequests: [MetricHLSMediaSegmentRequestEvent]
    /// The key requests until then.
    public var contentKeyRequests: [MetricContentKeyRequestEvent]

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

/// An event that reports that playback became likely to keep up or is no longer likely to.
public struct MetricPlayerItemLikelyToKeepUpEvent: LikelyToKeepUpMetric, MetricRecord, Hashable {
    package static let name = "likely_to_keep_up"
    public var context: MetricContext
    /// A Boolean value that indicates whether playback is now likely to keep up.
    public var isLikelyToKeepUp: Bool
    /// The time since the item became current, a seek or a stall, whichever came last.
    public var timeTaken: Duration
    /// The time ranges of media that was loaded by then.
    public var loadedTimeRanges: [MediaTimeRange]

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

/// An event that reports a change of the speed at which the item's time passes.
public struct MetricPlayerItemRateChangeEvent: MetricEvent, MetricRecord, Hashable {
    package static let name = "rate_change"
    public var context: MetricContext
    /// The new rate of the timebase, or 0 if time is stopped.
    public var rate: Double
    /// The previous rate.
    public var previousRate: Double
    /// The presented variant, or `nil` before the first one.
    public var variant: AssetVariant?

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

/// An event that reports that playback ran out of media.
public struct MetricPlayerItemStallEvent: MetricEvent, MetricRecord, Hashable {
    package static let name = "stall"
    public var context: MetricContext
    /// The presented variant, or `nil` before the first one.
    public var variant: AssetVariant?

    package init(context: MetricContext, variant: AssetVariant?) {
        self.context = context
        self.variant = variant
    }

    package var record: String { line([("variant", variant?.logValue ?? .string(nil))]) }
}

/// An event that reports the start of a seek.
public struct MetricPlayerItemSeekEvent: MetricEvent, MetricRecord, Hashable {
    package static let name = "seek"
    public var context: MetricContext

    package init(context: MetricContext) {
        self.context = context
    }

    package var record: String { line([]) }
}

/// An event that reports a completed seek whose target can be shown.
public struct MetricPlayerItemSeekDidCompleteEvent: MetricEvent, MetricRecord, Hashable {
    package static let name = "seek_did_complete"
    public var context: MetricContext
    /// A Boolean value that indicates whether the seek needed no loading.
    public var didSeekInBuffer: Bool

    package init(context: MetricContext, didSeekInBuffer: Bool) {
        self.context = context
        self.didSeekInBuffer = didSeekInBuffer
    }

    package var record: String { line([("in_buffer", .bool(didSeekInBuffer))]) }
}

/// An event that reports that another variant will be loaded.
public struct MetricPlayerItemVariantSwitchStartEvent: MetricEvent, MetricRecord, Hashable {
    package static let name = "variant_switch_start"
    public var context: MetricContext
    /// The previous variant, or `nil` for the first choice.
    public var fromVariant: AssetVariant?
    /// The new variant.
    public var toVariant: AssetVariant
    /// The time ranges of media that was loaded by then.
    public var loadedTimeRanges: [MediaTimeRange]
    /// A short reason for the switch.
    public var explanation: String

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

/// An event that reports that media of the new variant arrived, or that the switch was abandoned.
public struct MetricPlayerItemVariantSwitchEvent: MetricEvent, MetricRecord, Hashable {
    package static let name = "variant_switch"
    public var context: MetricContext
    /// The previous variant, or `nil` for the first choice.
    public var fromVariant: AssetVariant?
    /// The new variant.
    public var toVariant: AssetVariant
    /// A Boolean value that indicates whether the switch was completed and not abandoned.
    public var didSucceed: Bool
    /// The time ranges of media that was loaded by then.
    public var loadedTimeRanges: [MediaTimeRange]

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

/// An event that reports a change of the audio or subtitle rendition.
public struct MetricMediaRenditionChangeEvent: MetricEvent, MetricRecord, Hashable {
    package static let name = "rendition_change"
    public var context: MetricContext
    /// The media kind, audio or text.
    public var mediaType: MediaKind
    /// The URI of the previous rendition's media playlist, or `nil` if there was none.
    public var fromURI: String?
    /// The URI of the new rendition's media playlist, or `nil` if there is none.
    public var toURI: String?

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

/// An event that summarizes the playback of an item.
///
/// It is sent once, when the item was played to its end, failed or was removed.
public struct MetricPlayerItemPlaybackSummaryEvent: MetricEvent, MetricRecord, Hashable {
    package static let name = "playback_summary"
    public var context: MetricContext
    /// The description of the error with which the item failed, or `nil` if it did not fail.
    public var error: String?
    /// The time from becoming current to being ready to play, or `nil` if the item was never ready.
    public var startupTime: Duration?
    /// The number of stalls, not including the initial wait.
    public var stallCount: Int
    /// The total wait after stalls.
    public var stallDuration: Duration
    /// The number of variant switches, not including the first choice.
    public var variantSwitchCount: Int
    /// The duration of played media, not including skipped or missing media.
    public var playbackDuration: Duration
    /// The average declared bit rate of loaded media in bits per second, weighted by media time.
    ///
    /// The value is `nil` if no bit rate was declared.
    public var timeWeightedAverageBitrate: Double?
    /// The declared peak bit rate, weighted like ``timeWeightedAverageBitrate``.
    public var timeWeightedPeakBitrate: Double?
    /// The number of failures that were retried or worked around.
    public var recoverableErrorCount: Int
    /// The number of playlist requests, including reloads.
    public var playlistRequestCount: Int
    /// The number of segment requests.
    public var mediaSegmentRequestCount: Int
    /// The number of key requests.
    public var contentKeyRequestCount: Int
    /// The mean of ``PlayerItem/liveLatency`` while presented, or `nil` if the item was not live.
    public var meanLiveLatency: Duration?

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
