/// How an asset loads what it is asked for.
public struct AssetOptions: Sendable {
    /// The clock of retries. Default: `ContinuousClock`.
    public var clock: any Clock<Duration>
    /// What moves bytes. Default: ``SchemeTransport/shared`` of the process.
    public var transport: any Transport
    /// Header fields of every request. Those that carry credentials go to the asset's own origin only.
    public var fields: [HTTPField] = []
    /// Origins besides the asset's own that credentials go to. Default: none.
    public var credentialOrigins: Set<Origin> = []
    public var timeouts = TransportTimeouts()
    /// What failed and may pass is tried again by ``RetryPolicies/delays`` until ``RetryPolicies/budget`` is used up.
    public var retryPolicies = RetryPolicies()
    /// A playlist given as a file may name files outside its folder. Default false.
    public var allowsFilesAnywhere = false
    /// Refuses playlists that break a rule, instead of reading on where the meaning is clear. Default false.
    public var isPlaylistParsingStrict = false
    /// Durations of bare media files that no header tells are found by reading the whole file. Default false: such a
    /// duration is reckoned from the file's ends, or is indefinite. Costs a download of the file.
    public var prefersPreciseDurationAndTiming = false
    /// Bits per second to expect of the network: decides which variant is looked into. nil (the default) takes the
    /// first that is eligible.
    public var initialBitRateHint: Double?
    /// Every codec counts as playable, although it cannot be decoded here (converters). Default false.
    public var acceptsAllCodecs = false
    /// Sent to servers as `X-Playback-Session-Id`; nil (the default) sends nothing.
    public var playbackSessionID: String?

    /// Where the program takes part in loading: schemes of its own, requests and the multivariant playlist that it changes.
    public var hooks = LoadingHooks()

    public init(
        clock: any Clock<Duration> = ContinuousClock(), transport: any Transport = SchemeTransport.shared
    ) {
        self.clock = clock
        self.transport = transport
    }
}
