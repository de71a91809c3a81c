public import Logging

/// How players load, buffer and present, set once for each player.
public struct PlayerConfiguration: Sendable {
    /// Whether media is presented as its time comes, or as fast as outputs take it (recorders, converters).
    public enum Pacing: Sendable, Hashable { case realTime, unpaced }

    /// The clock of all timers and of the timebase. Default: `ContinuousClock`.
    ///
    /// Where it is a `TaskExecutor` as well, all tasks of the player run on it, decoders included: that makes what
    /// happens under a virtual clock the same each time.
    public var clock: any Clock<Duration>
    /// What moves bytes. Default: ``SchemeTransport/shared`` of the process.
    public var transport: any Transport
    public var pacing = Pacing.realTime
    public var buffering = BufferingConfiguration()
    /// How many segments are loaded side by side.
    public var parallelLoading = ParallelLoading()
    public var keepUpPolicy = KeepUpPolicy.predictive
    public var retryPolicies = RetryPolicies()
    public var timeouts = TransportTimeouts()
    /// Header fields of every request. Those that carry credentials go to the origin of the item's URL and to
    /// ``credentialOrigins`` only.
    public var fields: [HTTPField] = []
    /// Further origins that credentials may go to: header fields, and client certificates (RELIABILITY R59). Default: none.
    public var credentialOrigins: Set<Origin> = []
    /// A playlist given as a file may name files outside its folder. Default false.
    public var allowsFilesAnywhere = false
    /// Refuses playlists that break a rule, instead of reading on where the meaning is clear. Default false.
    public var isPlaylistParsingStrict = false
    /// Threads that each video decoder may use; 0 (the default) is one per core.
    public var decodingThreadCount = 0
    /// What is played. Media of other kinds is not decoded, and not loaded where it is separate. Default: video and
    /// audio.
    public var mediaTypes: Set<MediaType> = [.video, .audio]
    /// What is decoded although no output takes it. Default: nothing.
    public var decodesWithoutOutput: Set<MediaType> = []
    /// Segments are taken apart. False only checks their length and kind and drops them: a probe of the network.
    public var demuxesMedia = true
    /// Every codec may be selected, although it cannot be decoded here (outputs that take samples). Default false.
    public var acceptsAllCodecs = false
    /// Bits per second to expect before anything was measured; nil (the default) where nothing is known.
    public var initialBitRateHint: Double?
    /// What is known of the network when the player is made; it may change (``Player/networkConditions``).
    public var networkConditions = NetworkConditions()
    /// Decides which variant the next segment comes from.
    public var variantSelector: any VariantSelector = ScenarioRule()
    /// Seed of the only randomness there is, the jitter of retries.
    public var seed: UInt64 = 0
    /// Sent to servers as `X-Playback-Session-Id`; nil (the default) sends nothing.
    public var playbackSessionID: String?
    public var logger: Logger?

    public init(
        clock: any Clock<Duration> = ContinuousClock(), transport: any Transport = SchemeTransport.shared
    ) {
        self.clock = clock
        self.transport = transport
    }
}
