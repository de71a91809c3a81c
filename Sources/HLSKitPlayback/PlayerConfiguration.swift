public import HLSKitEngine
public import HLSKitLoading
public import HLSKitMedia
public import HLSKitNetwork
public import HLSKitPlaylist
public import HLSKitSelection

#if Logging || Observability || All
    public import Logging
#endif

/// How players load, buffer and present, set once for each player.
public struct PlayerConfiguration: Sendable {
    /// Whether media is presented as its time comes, or as fast as outputs take it (recorders, converters).
    public enum Pacing: Sendable, Hashable { case realTime, unpaced }

    /// The clock of all timers and of the timebase. Default: ``SourceClock/host``.
    ///
    /// Players with the same clock can be locked together (``Player/setRate(_:time:atHostTime:)``). Where it is a
    /// `TaskExecutor` as well, all tasks of the player run on it, decoders included: that makes what happens under a
    /// virtual clock the same each time.
    public var sourceClock: SourceClock
    /// Transfers bytes. Default: ``SchemeTransport/shared`` of the process.
    public var transport: any ResourceTransport
    /// Whether media is presented in real time. Default: it is.
    public var pacing = Pacing.realTime
    /// How much media is held.
    public var buffering = BufferingConfiguration()
    /// The budget shared with other players: limits of what they hold together, and whose needs come first
    /// (``Player/networkResourcePriority``). Default: ``ResourceBudget/process``.
    public var resourceBudget = ResourceBudget.process
    /// How many segments are loaded side by side.
    public var parallelLoading = ParallelLoading()
    /// When playback is likely to keep up, so that it starts or resumes. Default: predictive.
    public var keepUpPolicy = KeepUpPolicy.predictive
    /// How often and when requests are tried again.
    public var retryPolicies = RetryPolicies()
    /// Deadlines of each request, for all classes of resources or for one.
    public var timeouts = ResourceTimeouts()
    /// Header fields of requests to the origin of the item's URL and to ``credentialOrigins``. Other origins get those that
    /// hold no secret (``TransportRequest/fields`` lists them).
    public var fields: [TransportField] = []
    /// Further origins that get all of ``fields``, logins of the netrc file and the client certificate. Default: none.
    public var credentialOrigins: Set<URLOrigin> = []
    /// A playlist given as a file may name files outside its folder. Default false.
    public var allowsFilesAnywhere = false
    /// Refuses playlists that break a rule, instead of reading on where the meaning is clear. Default false.
    public var isPlaylistParsingStrict = false
    /// Threads that each video decoder may use, `1...`; nil (the default) shares the cores among the players of the process: the
    /// first decoder has a thread for each core, the second for every other one, and so on; each has one at the least. A
    /// decoder is let go at the end of its item.
    public var decodingThreadCount: Int?
    /// Interlaced video is decoded to whole pictures, one for each frame, with libavfilter's `bwdif` where that is installed.
    /// Default false: pictures come as they were coded. ``ImageGenerator`` does so anyway.
    public var deinterlacesVideo = false
    /// The media to play. Other kinds are not decoded, and not loaded if they are separate: with `[.audio]` the audio
    /// that is wanted is loaded from its own playlist, and where it is among the video, from the lowest variant with
    /// the best audio. Default: video and audio.
    public var mediaTypes: Set<MediaKind> = [.video, .audio]
    /// Languages of the user, the most wanted first: BCP 47 tags. Audio is chosen by them where neither the user nor
    /// ``Player/setMediaSelectionCriteria(_:for:)`` says which. An empty list leaves it to the playlist. nil (the default)
    /// takes the languages of the environment (`LANGUAGE`, `LC_ALL`, `LC_MESSAGES`, `LANG`) where ``sourceClock`` is a
    /// `ContinuousClock` or a `SuspendingClock`, and otherwise none, so that a test plays the same everywhere.
    ///
    /// See docs/behaviour/media-selection.md; I05.
    public var preferredLanguages: [String]?
    /// Media to decode although no output takes it. Default: none.
    public var decodesWithoutOutput: Set<MediaKind> = []
    /// Segments are taken apart. False only checks their length and kind and drops them: a probe of the network.
    public var demuxesMedia = true
    /// Every codec may be selected, although it cannot be decoded here (outputs that take samples). Default false.
    public var acceptsAllCodecs = false
    /// Bits per second to expect before anything was measured; nil (the default) where nothing is known. What is not a number
    /// above zero counts as nil.
    public var initialBitRateHint: Double?
    /// Conditions of the network when the player is made; they may change (``Player/networkConditions``).
    public var networkConditions = NetworkConditions()
    /// Decides which variant the next segment comes from.
    public var variantSelector: any VariantSelector = ScenarioRule()
    /// Seed of the only randomness there is, the jitter of retries. nil (the default) is a new one for each player where
    /// ``sourceClock`` is a `ContinuousClock` or a `SuspendingClock`, else always the same.
    public var seed: UInt64?
    /// Sent to servers as `X-Playback-Session-Id`; nil (the default) sends a new UUID for each item.
    public var playbackSessionID: String?
    /// Servers are told the ``playbackSessionID``. Default true.
    public var sendsPlaybackSessionID = true
    /// What servers are told of the player (CMCD): with requests, and by reports of events. nil (the default) tells nothing,
    /// and costs nothing.
    public var clientData: ClientData?
    /// What servers tell of the throughput and of the bit rate that they want to serve (CMSD) is minded where variants are
    /// chosen: ``SelectionInput/serverData``. Default true. It is in the metrics of a request anyway.
    public var mindsServerData = true
    /// The date of now, for logs. nil (the default) is the system's date where ``sourceClock`` is a `ContinuousClock` or a
    /// `SuspendingClock`, and otherwise 1970-01-01, so that the same session under a virtual clock has the same log.
    /// Read once, when a player is made; from there on dates go with the clock.
    public var wallClock: (@Sendable () -> PlaylistDate)?
    /// Where the program takes part in loading: schemes and keys of its own, requests and the multivariant playlist that
    /// it changes.
    public var hooks = LoadingHooks()
    /// Keys that the multivariant playlist announces (`EXT-X-SESSION-KEY`) are loaded at once, so that no media waits for
    /// them. Default false.
    public var preloadsEligibleContentKeys = false
    /// Live streams whose servers offer it are played with low latency: by parts of segments, `PART-HOLD-BACK` behind the live
    /// edge, and with requests for playlists that servers hold until there is something new. Default true.
    public var allowsLowLatency = true
    /// Throughput that earlier players measured: decides the first variant, and learns from this player. nil (the
    /// default) knows nothing.
    public var bandwidthHistory: BandwidthHistory?
    /// Keeps what players load on disk, for other players and later runs. nil (the default) keeps nothing.
    public var diskCache: DiskCache?
    /// Capabilities of the machine and the display, apart from codecs.
    public var capabilities = PlaybackCapabilities()
    #if Logging || Observability || All
        /// Hears what players do: decisions with their inputs as `debug` (and, where they come with each byte, as `trace`),
        /// what went wrong and was worked around as `info`, lost media as `warning`, a failed item as `error`. Its level is
        /// read when a player is made. nil (the default) logs nothing.
        public var logger: Logger?
        var playerLogger: PlayerLogger? { logger }
    #else
        var playerLogger: PlayerLogger? { nil }
    #endif
    /// Where playlists are parsed and media is demuxed, in tests.
    var workQueue: WorkQueue?
    /// What decodes, in tests.
    var makeDecoder = TrackDecoder.libavcodec

    /// Makes the default configuration: the clock of the machine and the process-wide transport.
    public init(
        clock: any Clock<Duration> = ContinuousClock(), transport: any ResourceTransport = SchemeTransport.shared
    ) {
        sourceClock = SourceClock(clock)
        self.transport = transport
    }
}

extension PlayerConfiguration {
    /// Time passes as it does for people, and not as a test says.
    var isClockOfThisMachine: Bool { sourceClock.passesAsForPeople }

    /// ``preferredLanguages``, or what they are by default.
    package var languages: [String] { LanguageTag.preferred(preferredLanguages, by: sourceClock) }

    var now: PlaylistDate { wallClock?() ?? sourceClock.date }
    /// The date of now is one of people's.
    var knowsDate: Bool { isClockOfThisMachine || wallClock != nil }
}
