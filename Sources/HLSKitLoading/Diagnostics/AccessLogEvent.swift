public import HLSKitPlaylist

/// One period of an item's playback: from the first media request, a change of the media playlist that is loaded, or
/// the end of a seek, to the next of these.
///
/// Unknown values are nil; in text (``jsonLine``) a number that is not known is negative. Counts only grow while the period
/// lasts, so that sums over all events never fall. See docs/behaviour/logs.md.
public struct AccessLogEvent: Sendable, Hashable {
    /// When the timebase first ran in this period; nil while it has not.
    public var playbackStartDate: PlaylistDate?
    /// The media playlist, without user information.
    public var uri: String?
    /// The peer of the last media response, as a numeric address.
    public var serverAddress: String?
    /// How often ``serverAddress`` changed.
    public var numberOfServerAddressChanges = 0
    /// Names the playback session to servers, too: `X-Playback-Session-Id`.
    public var playbackSessionID: String?
    /// Segments that were asked for; playlists, initialization sections and keys do not count.
    public var numberOfMediaRequests = 0
    /// Item time when the timebase first ran in this period.
    public var playbackStartOffset: Duration?
    /// Media time of the segments that arrived whole: those of the variant, not of its renditions.
    public var segmentsDownloadedDuration = Duration.zero
    /// Media time that was played; not the time that it took.
    public var durationWatched = Duration.zero
    /// Stalls during the period.
    public var numberOfStalls = 0
    /// Bytes of segments and initialization sections. Those from a cache do not count.
    public var numberOfBytesTransferred: Int64 = 0
    /// The time in which at least one of these transfers was under way, from request to last byte; what was hinted at
    /// counts from its answer on.
    public var transferDuration = Duration.zero
    /// 8 × bytes ÷ ``transferDuration``, in bits per second.
    public var observedBitrate: Double?
    /// Over single segments of the variant and its audio that were not hinted at, in bits per second.
    public var observedMinBitrate: Double?
    /// The highest; see ``observedMinBitrate``.
    public var observedMaxBitrate: Double?
    /// The standard deviation; see ``observedMinBitrate``.
    public var observedBitrateStandardDeviation: Double?
    /// `BANDWIDTH` and `AVERAGE-BANDWIDTH` of the variant, in bits per second.
    public var indicatedBitrate: Double?
    /// `AVERAGE-BANDWIDTH`; see ``indicatedBitrate``.
    public var indicatedAverageBitrate: Double?
    /// Measured over what arrived, in bits per second. Where video and audio share segments both count as video.
    public var averageVideoBitrate: Double?
    /// Measured over the audio that arrived; see ``averageVideoBitrate``.
    public var averageAudioBitrate: Double?
    /// Video frames that were decoded but too late to be shown.
    public var numberOfDroppedVideoFrames: Int?
    /// The time from the item becoming current to its being ready to play; nil in later periods.
    public var startupTime: Duration?
    /// Segments that took longer to arrive than to play.
    public var downloadOverdue = 0
    /// The expected throughput that caused the switch with which the period began, in bits per second.
    public var switchBitrate: Double?
    /// `LIVE`, `VOD` or `FILE`.
    public var playbackType: String?
    /// Segments that were asked for while the network was an expensive one.
    public var mediaRequestsExpensive = 0
    /// The mean of ``PlayerItem/liveLatency`` over the time in which media was presented; nil where the item is not live.
    public var liveLatency: Duration?
    /// Where media was loaded from: ``PlayerItem/pathway``.
    public var pathway: String?

    /// Makes an event in which nothing is known.
    package init() {}
}
