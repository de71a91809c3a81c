public import HLSKitLoading
public import HLSKitNetwork

/// Settings for loading an asset's properties.
///
/// The settings for requests, including hooks, also apply to items created from the asset. For those items, the player
/// decides on the clock, the transport, timeouts and retries.
public struct AssetOptions: Sendable {
    /// The clock for retries.
    ///
    /// The default is `ContinuousClock`.
    public var clock: any Clock<Duration>
    /// The object that transfers bytes.
    ///
    /// The default is the process-wide ``SchemeTransport/shared``.
    public var transport: any ResourceTransport
    /// Additional header fields of all requests to trusted origins.
    ///
    /// The asset's own origin and the ``credentialOrigins`` are trusted. Other origins receive only the fields without
    /// secrets (listed in ``TransportRequest/fields``). The fields apply to playlists, segments, initialization
    /// sections, keys and session data.
    public var fields: [TransportField] = []
    /// The `User-Agent` of every request.
    ///
    /// With the default, `nil`, the transport chooses it.
    public var userAgent: String?
    /// The initial cookies.
    ///
    /// Each cookie is sent to all URLs that match its domain, path and scheme. The transport manages cookies that
    /// servers set. Empty by default.
    public var cookies: [TransportCookie] = []
    /// A Boolean value that indicates whether http and https requests are allowed on expensive networks.
    ///
    /// The default is `true`.
    public var allowsExpensiveNetworkAccess = true
    /// A Boolean value that indicates whether http and https requests are allowed on constrained networks.
    ///
    /// The default is `true`.
    public var allowsConstrainedNetworkAccess = true
    /// The network conditions for the asset's own requests.
    ///
    /// For items, the player's conditions apply.
    public var networkConditions = NetworkConditions()
    /// The origins, other than the asset's own, that receive credentials.
    ///
    /// Credentials are all ``fields``, logins from the netrc file and the client certificate. Empty by default.
    public var credentialOrigins: Set<URLOrigin> = []
    /// The deadlines of each request.
    public var timeouts = ResourceTimeouts()
    /// The rules for retries and the limits on unsuccessful requests.
    public var retryPolicies = RetryPolicies()
    package var seed: UInt64 = 0
    /// A Boolean value that indicates whether a local playlist may name files outside its folder.
    ///
    /// The default is `false`.
    public var allowsFilesAnywhere = false
    /// A Boolean value that indicates whether playlists that break a rule are rejected.
    ///
    /// If the value is `false` (the default), such a playlist is read if its meaning is clear.
    public var isPlaylistParsingStrict = false
    /// A Boolean value that indicates whether a media file without a duration in its header is read whole.
    ///
    /// Reading it gives an exact duration but costs a download of the file. If the value is `false` (the default), the
    /// duration is estimated from the start and the end of the file, or is indefinite.
    public var prefersPreciseDurationAndTiming = false
    /// The media type (MIME) of the resource at the asset's URL.
    ///
    /// Supported types are `application/vnd.apple.mpegurl` and its other names, `video/mp4`, `video/quicktime`,
    /// `video/mp2t`, `audio/aac`, `audio/mpeg`, `audio/ac3` and similar ones. Loading and playback fail with any other
    /// type. With the default, `nil`, the first bytes decide, because they are more reliable than the type that servers
    /// report. Set a type only if the file begins with other data.
    public var overrideMIMEType: String?
    /// The expected network throughput in bits per second, which decides which variant is inspected.
    ///
    /// With the default, `nil`, it is the first eligible variant.
    public var initialBitRateHint: Double?
    /// A Boolean value that indicates whether every codec is treated as playable, even without a decoder.
    ///
    /// Converters need this. The default is `false`.
    public var acceptsAllCodecs = false
    /// The ID sent to servers as `X-Playback-Session-Id`.
    ///
    /// With the default, `nil`, no ID is sent.
    public var playbackSessionID: String?
    /// The session ID of the presentation in which this asset is an interstitial.
    ///
    /// It is added to the asset's URL as the parameter `_HLS_primary_id`. With the default, `nil`, none is added.
    /// Source: rfc8216bis, Appendix D.
    public var primarySessionID: String?

    /// The settings for CMCD data, which reports to servers how the asset is loaded and played.
    ///
    /// They also apply to inspection, images and downloads. Each of these numbers its own requests and is its own
    /// session unless the settings name one. With the default, `nil`, no data is sent. Only players report events.
    public var clientData: ClientData?

    /// The disk cache for loaded resources, which later loads and runs can use.
    ///
    /// It also applies to items of the asset if their player has no cache. With the default, `nil`, nothing is kept on
    /// disk.
    public var diskCache: DiskCache?
    /// The app's hooks: custom URL schemes, and changes to requests and to the multivariant playlist.
    public var hooks = LoadingHooks()
    /// Whether the transport already calls the hooks, so that here they only decide which schemes may be loaded.
    var hooksAreBelow = false

    /// Creates the default options: the real clock and the process-wide transport.
    public init(
        clock: any Clock<Duration> = ContinuousClock(), transport: any ResourceTransport = SchemeTransport.shared
    ) {
        self.clock = clock
        self.transport = transport
    }
}

extension AssetOptions {
    /// The executor for the asset's work. A clock that is also an executor must run all of it.
    package var executor: (any TaskExecutor)? { clock.executor }
}
