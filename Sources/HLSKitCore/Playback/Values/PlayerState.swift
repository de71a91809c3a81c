public import HLSTime

/// The status of a player item. Goes one way: from `unknown` to one of the others, where it stays.
public enum PlayerItemStatus: String, Sendable, Hashable, Codable {
    case unknown, readyToPlay, failed
}

/// A consistent snapshot of a player and its current item.
public struct PlayerState: Sendable, Hashable {
    /// The rate that was asked for; 0 when paused.
    public var rate: Float = 0
    public var timeControlStatus: TimeControlStatus = .paused
    /// Not nil exactly while ``timeControlStatus`` is `waitingToPlayAtSpecifiedRate`.
    public var reasonForWaitingToPlay: WaitingReason?
    /// The current item; nil without one.
    public var currentItemID: PlayerItem.ID?
    public var itemStatus: PlayerItemStatus = .unknown
    public var currentTime: MediaTime = .zero
    /// `.indefinite` before it is known and while a live stream goes on.
    public var duration: MediaTime = .indefinite
    /// The rate at which time really passes on the item's timeline; 0 while waiting.
    public var timebaseRate: Double = 0
    public var loadedTimeRanges: [MediaTimeRange] = []
    public var seekableTimeRanges: [MediaTimeRange] = []
    public var isPlaybackLikelyToKeepUp = false
    public var isPlaybackBufferFull = false
    public var isPlaybackBufferEmpty = true
    /// The variant that is being loaded; nil before one was chosen.
    public var variant: VariantDescription?
    /// Distance of the playhead from the live edge, in seconds; nil for VOD.
    public var liveOffset: Double?
    /// Counters of the current item.
    public var statistics = PlaybackStatistics()

    public init() {}
}

/// A variant as people tell variants apart.
public struct VariantDescription: Sendable, Hashable, Codable {
    /// Position in the multivariant playlist, from 0; 0 for a media playlist that was opened directly.
    public var index: Int
    /// `BANDWIDTH` in bits per second; 0 where there is no multivariant playlist.
    public var bandwidth: Int
    public var averageBandwidth: Int?
    /// Pixels; 0 where undeclared.
    public var width: Int
    public var height: Int
    public var frameRate: Double?
    /// The `CODECS` attribute; empty where undeclared.
    public var codecs: String

    public init(
        index: Int, bandwidth: Int = 0, averageBandwidth: Int? = nil, width: Int = 0, height: Int = 0,
        frameRate: Double? = nil, codecs: String = ""
    ) {
        self.index = index
        self.bandwidth = bandwidth
        self.averageBandwidth = averageBandwidth
        self.width = width
        self.height = height
        self.frameRate = frameRate
        self.codecs = codecs
    }
}

/// Counters of one item, from its start.
public struct PlaybackStatistics: Sendable, Hashable {
    /// Bits per second that the next bytes are expected to come with; nil while nothing is known.
    public var throughputEstimate: Double?
    public var numberOfStalls = 0
    /// Seconds spent in stalls, without the first start.
    public var stallDuration = 0.0
    /// Bytes of compressed media held now, and the most that were held. What no output takes is not held: it counts as
    /// loaded, and is loaded again should an output come.
    public var bufferedByteCount = 0
    public var peakBufferedByteCount = 0
    /// Bytes of all bodies received, on the wire.
    public var receivedByteCount = 0
    public var numberOfRequests = 0
    public var numberOfSegments = 0
    /// Segments that could not be had from any variant and were passed over, and their media time in seconds.
    public var numberOfSkippedSegments = 0
    public var skippedDuration = 0.0
    public var numberOfVariantSwitches = 0
    /// Downloads that were given up for a smaller variant, and the bytes that had come of them.
    public var numberOfAbandonedDownloads = 0
    public var abandonedByteCount = 0
    public var numberOfDecodedVideoFrames = 0
    public var numberOfDroppedVideoFrames = 0
    public var numberOfDecodedAudioFrames = 0
    /// Access units that a decoder refused.
    public var numberOfDamagedSamples = 0
    /// Seconds by which the last video frame was delivered later than the audio of the same time; nil without both.
    public var audioVideoSkew: Double?
    /// Seconds from the first control call to the first time that time passed; nil before.
    public var startupTime: Double?
    /// Media time in seconds that the playhead has advanced.
    public var durationWatched = 0.0

    public init() {}
}
