public import HLSKitEngine
public import HLSKitLoading
public import HLSKitMedia
public import HLSKitNetwork
public import HLSKitPlaylist
public import HLSKitSelection

#if Logging || Observability || All
    public import Logging
#endif

/// The settings for loading, buffering and presentation, fixed when a player is created.
public struct PlayerConfiguration: Sendable {
    /// Modes of presentation: in real time, or as fast as outputs take media (recorders, converters).
    public enum Pacing: Sendable, Hashable { case realTime, unpaced }

    /// The clock for all timers and the timebase.
    ///
    /// The default is ``SourceClock/host``. Players with the same clock can be synchronized
    /// (``Player/setRate(_:time:atHostTime:)``). If the clock is also a `TaskExecutor`, all tasks of the player run on
    /// it, including decoders. This makes playback under a virtual clock reproducible.
    public var sourceClock: SourceClock
    /// The transport that transfers bytes.
    ///
    /// The default is the shared ``SchemeTransport/shared``.
    public var transport: any ResourceTransport
    /// The mode of presentation.
    ///
    /// The default is `realTime`.
    public var pacing = Pacing.realTime
    /// The limits on the amount of buffered media.
    public var buffering = BufferingConfiguration()
    /// The budget that the player shares with other players.
    ///
    /// The default is ``ResourceBudget/process``. The budget limits the media that these players hold together. It also
    /// applies their priorities (``Player/networkResourcePriority``).
    public var resourceBudget = ResourceBudget.process
    /// The limits on the number of segments that load in parallel.
    public var parallelLoading = ParallelLoading()
    /// The policy that decides when playback is likely to keep up, so that it starts or resumes.
    ///
    /// The default is `predictive`.
    public var keepUpPolicy = KeepUpPolicy.predictive
    /// The policies for retrying requests.
    public var retryPolicies = RetryPolicies()
    /// The deadlines for requests, for all classes of resources or for individual ones.
    public var timeouts = ResourceTimeouts()
    /// Header fields for requests to the origin of the item's URL and to ``credentialOrigins``.
    ///
    /// Requests to other origins contain only the fields that hold no secret (see ``TransportRequest/fields``).
    public var fields: [TransportField] = []
    /// Additional origins that receive all ``fields``, netrc logins and the client certificate.
    ///
    /// The default is an empty set.
    public var credentialOrigins: Set<URLOrigin> = []
    /// A Boolean value that indicates whether a local playlist may refer to files outside its folder.
    ///
    /// The default is `false`.
    public var allowsFilesAnywhere = false
    /// A Boolean value that indicates whether the player rejects playlists that break a rule.
    ///
    /// If `false` (the default), the player continues to read such a playlist if its meaning is clear.
    public var isPlaylistParsingStrict = false
    /// The number of threads for each video decoder, at least 1, or `nil` to share the cores between players.
    ///
    /// By default, `nil`, all players of the process share the cores. The first decoder has one thread per core, the
    /// second has one per two cores, and so on, with at least one each. A decoder is released at the end of its item.
    public var decodingThreadCount: Int?
    /// A Boolean value that indicates whether interlaced video is deinterlaced.
    ///
    /// If `true`, the decoder produces one progressive frame for each interlaced frame. It uses the `bwdif` filter of
    /// libavfilter if that is installed. ``ImageGenerator`` always deinterlaces. The default is `false`.
    public var deinterlacesVideo = false
    /// The kinds of media to play.
    ///
    /// Other kinds are not decoded and, if they are separate, not loaded. With `[.audio]`, the player loads the
    /// selected audio from its own playlist. If the audio is muxed with the video, the player uses the lowest variant
    /// with the best audio. The default is video and audio.
    public var mediaTypes: Set<MediaKind> = [.video, .audio]
    /// The languages of the user as BCP 47 tags, the most preferred first.
    ///
    /// They select the audio if neither the user nor ``Player/setMediaSelectionCriteria(_:for:)`` does. If the array is
    /// empty, the playlist decides. The default, `nil`, uses the languages of the environment (`LANGUAGE`, `LC_ALL`,
    /// `LC_MESSAGES`, `LANG`) if ``sourceClock`` is a `ContinuousClock` or a `SuspendingClock`. With other clocks,
    /// `nil` means no languages, so that tests behave the same on every machine.
    public var preferredLanguages: [String]?
    /// Kinds of media to decode even if no output takes them.
    ///
    /// The default is an empty set.
    public var decodesWithoutOutput: Set<MediaKind> = []
    /// A Boolean value that indicates whether segments are demuxed.
    ///
    /// The default is `true`. If `false`, the player checks the length and type of each segment and drops it. Use this
    /// to probe a network.
    public var demuxesMedia = true
    /// A Boolean value that indicates whether variants with undecodable codecs can be selected.
    ///
    /// Use this with outputs that take samples. The default is `false`.
    public var acceptsAllCodecs = false
    /// The bit rate to expect before the first measurement, in bits per second.
    ///
    /// If the value is `nil` (the default) or not above zero, the expected bit rate is unknown.
    public var initialBitRateHint: Double?
    /// The initial conditions of the network.
    ///
    /// Change them later with ``Player/networkConditions``.
    public var networkConditions = NetworkConditions()
    /// The selector that chooses the variant for the next segment.
    public var variantSelector: any VariantSelector = ScenarioRule()
    /// The seed for the jitter of retries, which is the only source of randomness.
    ///
    /// The default, `nil`, uses a new seed for each player if ``sourceClock`` is a `ContinuousClock` or a
    /// `SuspendingClock`. With other clocks, `nil` means a constant seed.
    public var seed: UInt64?
    /// The `X-Playback-Session-Id` to send to servers, or `nil` (the default) for a new UUID per item.
    public var playbackSessionID: String?
    /// A Boolean value that indicates whether requests contain the ``playbackSessionID``.
    ///
    /// The default is `true`.
    public var sendsPlaybackSessionID = true
    /// The configuration for CMCD data, sent with requests and in event reports.
    ///
    /// The default, `nil`, sends no CMCD data and has no cost.
    public var clientData: ClientData?
    /// A Boolean value that indicates whether variant selection uses the hints that servers send (CMSD).
    ///
    /// The hints are the throughput and the bit rate that the server wants to serve (``SelectionInput/serverData``).
    /// The metrics of a request contain them in either case. The default is `true`.
    public var usesServerHints = true
    /// A closure that returns the current date, for logs.
    ///
    /// It is called once, when a player is created. Later dates follow the clock. The default, `nil`, uses the system's
    /// date if ``sourceClock`` is a `ContinuousClock` or a `SuspendingClock`. With other clocks, `nil` means
    /// 1970-01-01, so that the same session under a virtual clock always writes the same log.
    public var wallClock: (@Sendable () -> PlaylistDate)?
    /// Hooks that let the app take part in loading.
    ///
    /// With hooks, the app can serve its own URL schemes and keys, and change requests and the multivariant playlist.
    public var hooks = LoadingHooks()
    /// A Boolean value that indicates whether the player preloads session keys (`EXT-X-SESSION-KEY`).
    ///
    /// If `true`, keys that the multivariant playlist announces load at once, so that media does not wait for them. The
    /// default is `false`.
    public var preloadsEligibleContentKeys = false
    /// A Boolean value that indicates whether live streams play with low latency if their server supports it.
    ///
    /// Low-latency playback loads partial segments, stays `PART-HOLD-BACK` behind the live edge and uses blocking
    /// playlist reloads. The default is `true`.
    public var allowsLowLatency = true
    /// The throughput that earlier players measured, or `nil` (the default) if there is no history.
    ///
    /// It determines the first variant, and this player adds its own measurements to it.
    public var bandwidthHistory: BandwidthHistory?
    /// The disk cache for loaded resources, which other players and later runs can use.
    ///
    /// The default, `nil`, keeps nothing on disk.
    public var diskCache: DiskCache?
    /// The capabilities of the machine and the display, apart from codecs.
    public var capabilities = PlaybackCapabilities()
    #if Logging || Observability || All
        /// The logger for the activity of players, or `nil` (the default) for no logging.
        ///
        /// The logger's level is read when a player is created. The levels are:
        ///
        /// - `trace`: decisions that can occur with each received byte
        /// - `debug`: other decisions, with their inputs
        /// - `info`: problems that the player worked around
        /// - `warning`: lost media
        /// - `error`: a failed item
        ///
        /// See <doc:Logging>.
        public var logger: Logger?
        var playerLogger: PlayerLogger? { logger }
    #else
        var playerLogger: PlayerLogger? { nil }
    #endif
    /// The queue that parses playlists and demuxes media, in tests.
    var workQueue: WorkQueue?
    /// The factory for decoders, replaced in tests.
    var makeDecoder = TrackDecoder.libavcodec

    /// Creates the default configuration.
    ///
    /// - Parameters:
    ///   - clock: The clock for all timers and the timebase. The default is the clock of the machine.
    ///   - transport: The transport. The default is the process-wide transport.
    public init(
        clock: any Clock<Duration> = ContinuousClock(), transport: any ResourceTransport = SchemeTransport.shared
    ) {
        sourceClock = SourceClock(clock)
        self.transport = transport
    }
}

extension PlayerConfiguration {
    /// Whether time passes as on a real clock, not as a test controls it.
    var isClockOfThisMachine: Bool { sourceClock.passesAsForPeople }

    package var languages: [String] { LanguageTag.preferred(preferredLanguages, by: sourceClock) }

    var now: PlaylistDate { wallClock?() ?? sourceClock.date }
    var knowsDate: Bool { isClockOfThisMachine || wallClock != nil }
}
