public import HLSKitLoading
public import HLSKitNetwork

/// How an asset loads its properties.
///
/// Settings of requests, hooks included, also apply to items made from the asset; clock, transport,
/// timeouts and retries of those are the player's.
public struct AssetOptions: Sendable {
    /// The clock of retries. Default: `ContinuousClock`.
    public var clock: any Clock<Duration>
    /// Transfers bytes. Default: ``SchemeTransport/shared`` of the process.
    public var transport: any ResourceTransport
    /// Header fields of requests of whatever class (playlists, segments, initialization sections, keys, session data) to
    /// the asset's own origin and to ``credentialOrigins``. Other origins get those that hold no secret
    /// (``TransportRequest/fields`` lists them).
    public var fields: [TransportField] = []
    /// `User-Agent` of every request; nil (the default) leaves it to the transport.
    public var userAgent: String?
    /// Cookies to start with. Each goes where its domain, path and scheme say, wherever that is; those that servers set
    /// are the transport's concern. Default: none.
    public var cookies: [TransportCookie] = []
    /// False: requests over http and https are refused while the network is expensive. Default true.
    public var allowsExpensiveNetworkAccess = true
    /// False: requests over http and https are refused while the network is constrained. Default true.
    public var allowsConstrainedNetworkAccess = true
    /// Conditions of the network that the asset itself loads over. For items, the player's conditions apply.
    public var networkConditions = NetworkConditions()
    /// Origins besides the asset's own that get all of ``fields``, logins of the netrc file and the client certificate.
    /// Default: none.
    public var credentialOrigins: Set<URLOrigin> = []
    /// Deadlines of each request.
    public var timeouts = ResourceTimeouts()
    /// How what failed is tried again, and how many requests may bring nothing.
    public var retryPolicies = RetryPolicies()
    /// Of the jitter of retries, as ``PlayerConfiguration`` has it.
    package var seed: UInt64 = 0
    /// A playlist given as a file may name files outside its folder. Default false.
    public var allowsFilesAnywhere = false
    /// Refuses playlists that break a rule, instead of reading on where the meaning is clear. Default false.
    public var isPlaylistParsingStrict = false
    /// Durations of bare media files without one in a header are found by reading the whole file. Default false: such a
    /// duration is reckoned from the file's ends, or is indefinite. Costs a download of the file.
    public var prefersPreciseDurationAndTiming = false
    /// The media type (MIME) of the resource at the asset's URL: `application/vnd.apple.mpegurl` and its other names,
    /// `video/mp4`, `video/quicktime`, `video/mp2t`, `audio/aac`, `audio/mpeg`, `audio/ac3` and the like. nil (the
    /// default) lets its first bytes decide, which are surer than what servers say; a type is for a file that begins with
    /// something else. Loading, and playing, fails with a type that is of nothing that is read here.
    public var overrideMIMEType: String?
    /// Bits per second to expect of the network: decides which variant is looked into. nil (the default) takes the
    /// first that is eligible.
    public var initialBitRateHint: Double?
    /// Every codec counts as playable, although it cannot be decoded here (converters). Default false.
    public var acceptsAllCodecs = false
    /// Sent to servers as `X-Playback-Session-Id`; nil (the default) sends nothing.
    public var playbackSessionID: String?
    /// The session of the presentation that this asset is an interstitial of: added to the request of the asset's own URL
    /// as the parameter `_HLS_primary_id`. nil (the default) adds nothing. Source: rfc8216bis, Appendix D.
    public var primarySessionID: String?

    /// What servers are told of loading, and with an item of its playing (CMCD): for inspection, images and downloads as
    /// well. Each of these that is made numbers its own requests and, where nothing names it, is a session. nil (the default)
    /// tells nothing. Events are reported by players only.
    public var clientData: ClientData?

    /// Keeps what is loaded on disk, for later loads and runs; holds for items of the asset whose player has none. nil (the
    /// default) keeps nothing.
    public var diskCache: DiskCache?
    /// The program's part in loading: its own schemes, and changes of requests and of the multivariant playlist.
    public var hooks = LoadingHooks()
    /// The transport calls them already: here they only decide which schemes may be loaded.
    var hooksAreBelow = false

    /// Makes the default options: the real clock and the process-wide transport.
    public init(
        clock: any Clock<Duration> = ContinuousClock(), transport: any ResourceTransport = SchemeTransport.shared
    ) {
        self.clock = clock
        self.transport = transport
    }
}

extension AssetOptions {
    /// Where work for the asset runs: a clock that is an executor as well wants to know of all of it.
    package var executor: (any TaskExecutor)? { clock.executor }
}
