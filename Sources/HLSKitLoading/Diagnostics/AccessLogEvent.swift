public import HLSKitPlaylist

/// One period of an item's playback.
///
/// A period begins with the first media request, a change of the loaded media playlist, or the end of a seek. It lasts
/// until the next of these. Unknown values are `nil`, and unknown numbers are negative in text (``jsonLine``). Counts
/// only increase during a period, so that sums over all events never decrease.
public struct AccessLogEvent: Sendable, Hashable {
    /// The date at which the timebase first ran in this period, or `nil` if it has not.
    public var playbackStartDate: PlaylistDate?
    /// The URL of the media playlist without user information.
    public var uri: String?
    /// The numeric address of the peer in the last media response.
    public var serverAddress: String?
    /// The number of changes of ``serverAddress``.
    public var numberOfServerAddressChanges = 0
    /// The ID of the playback session, which servers receive as `X-Playback-Session-Id`.
    public var playbackSessionID: String?
    /// The number of requested segments.
    ///
    /// Playlists, initialization sections and keys do not count.
    public var numberOfMediaRequests = 0
    /// The item time at which the timebase first ran in this period.
    public var playbackStartOffset: Duration?
    /// The duration of completely loaded segments of the variant, not of its renditions.
    public var segmentsDownloadedDuration = Duration.zero
    /// The duration of media that was played, not the time that it took.
    public var durationWatched = Duration.zero
    /// The number of stalls during the period.
    public var numberOfStalls = 0
    /// The number of bytes of segments and initialization sections, except from caches.
    public var numberOfBytesTransferred: Int64 = 0
    /// The time in which at least one of these transfers was running, from request to last byte.
    ///
    /// A preload hint counts from its response on.
    public var transferDuration = Duration.zero
    /// The value of 8 × bytes ÷ ``transferDuration``, in bits per second.
    public var observedBitrate: Double?
    /// The lowest rate of single segments of the variant and its audio, in bits per second.
    ///
    /// Segments with a preload hint are excluded.
    public var observedMinBitrate: Double?
    /// The highest rate of single segments of the variant and its audio, in bits per second.
    ///
    /// Segments with a preload hint are excluded.
    public var observedMaxBitrate: Double?
    /// The standard deviation of the rates of single segments, in bits per second.
    ///
    /// It covers the same segments as ``observedMinBitrate``.
    public var observedBitrateStandardDeviation: Double?
    /// The `BANDWIDTH` of the variant, in bits per second.
    public var indicatedBitrate: Double?
    /// The `AVERAGE-BANDWIDTH` of the variant, in bits per second.
    public var indicatedAverageBitrate: Double?
    /// The measured bit rate of the loaded video, in bits per second.
    ///
    /// If video and audio share segments, both count as video.
    public var averageVideoBitrate: Double?
    /// The measured bit rate of the loaded audio, in bits per second.
    ///
    /// If video and audio share segments, both count as video.
    public var averageAudioBitrate: Double?
    /// The number of video frames that were decoded but too late to be shown.
    public var numberOfDroppedVideoFrames: Int?
    /// The time from the item becoming current to its being ready to play, or `nil` in later periods.
    public var startupTime: Duration?
    /// The number of segments that took longer to load than to play.
    public var downloadOverdue = 0
    /// The expected throughput that caused the switch at the start of the period, in bits per second.
    public var switchBitrate: Double?
    /// The type: `LIVE`, `VOD` or `FILE`.
    public var playbackType: String?
    /// The number of segments that were requested while the network was expensive.
    public var mediaRequestsExpensive = 0
    /// The mean of ``PlayerItem/liveLatency`` while media was presented, or `nil` if the item is not live.
    public var liveLatency: Duration?
    /// The source of the media, as in ``PlayerItem/pathway``.
    public var pathway: String?

    package init() {}
}
