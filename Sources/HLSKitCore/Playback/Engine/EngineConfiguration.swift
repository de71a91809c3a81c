import HLSMedia

/// What an engine is told once, when it is made.
struct EngineConfiguration: Sendable {
    /// Whether media is presented as its time comes, or as fast as outputs take it.
    enum Pacing: Sendable, Hashable { case realTime, unpaced }

    var pacing = Pacing.realTime
    var buffering = BufferingConfiguration()
    /// A seek is over when outputs have decoded what is at its target, and not already when that is loaded.
    var seeksAwaitOutputs = false
    var keepUpPolicy = KeepUpPolicy.predictive
    var retryPolicies = RetryPolicies()
    /// Which `CODECS` entries can be played; nil accepts all (outputs that take compressed samples).
    var canPlayCodec: (@Sendable (String) -> Bool)?
    /// Separate audio is loaded.
    var playsAudio = true
    /// Header fields of every request.
    var fields: [HTTPField] = []
    /// Besides the item's own.
    var credentialOrigins: Set<Origin> = []
    var timeouts = TransportTimeouts()
    /// Bits per second to expect before anything was measured; nil where nothing is known.
    var initialBitRateHint: Double?
    /// Names the playback session to servers (`X-Playback-Session-Id`); nil sends nothing.
    var sessionID: String?
    var seed: UInt64 = 0
    var networkConditions = NetworkConditions()
    var selector: any VariantSelector = ScenarioRule()
    var parallelLoading = ParallelLoading()
    /// Somebody waits for media; else it is only loaded.
    var presentsMedia = true
}

extension EngineConfiguration {
    init(_ configuration: PlayerConfiguration) {
        pacing = configuration.pacing == .realTime ? .realTime : .unpaced
        buffering = configuration.buffering
        seeksAwaitOutputs = true
        keepUpPolicy = configuration.keepUpPolicy
        retryPolicies = configuration.retryPolicies
        if !configuration.acceptsAllCodecs { canPlayCodec = CodecRegistry.canDecode(entry:) }
        playsAudio = configuration.mediaTypes.contains(.audio)
        fields = configuration.fields
        credentialOrigins = configuration.credentialOrigins
        timeouts = configuration.timeouts
        initialBitRateHint = configuration.initialBitRateHint
        sessionID = configuration.playbackSessionID
        seed = configuration.seed
        networkConditions = configuration.networkConditions
        selector = configuration.variantSelector
        parallelLoading = configuration.parallelLoading
        presentsMedia = configuration.demuxesMedia
    }
}
