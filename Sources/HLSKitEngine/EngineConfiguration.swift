package import HLSKitLoading
package import HLSKitMedia
package import HLSKitPlaylist
package import HLSKitSelection

/// What an engine is told once, when it is made.
package struct EngineConfiguration: Sendable {
    /// Whether media is presented as its time comes, or as fast as outputs take it.
    package enum Pacing: Sendable, Hashable { case realTime, unpaced }

    package var pacing = Pacing.realTime
    package var buffering = BufferingConfiguration()
    /// A seek is over when outputs have decoded what is at its target, and not already when that is loaded.
    package var seeksAwaitOutputs = false
    package var keepUpPolicy = KeepUpPolicy.predictive
    package var retryPolicies = RetryPolicies()
    /// Which `CODECS` entries can be played; nil accepts all (outputs that take compressed samples).
    package var canPlayCodec: (@Sendable (String) -> Bool)?
    /// Whether the codec of a track inside segments can be decoded.
    package var canDecode: @Sendable (MediaCodec) -> Bool = { _ in true }
    /// Why the decoding library cannot be used; nil if it can, or if nothing is decoded.
    package var decoderFailure: @Sendable () -> String? = { nil }
    /// Separate audio is loaded.
    package var playsAudio = true
    /// Pictures are loaded, where they are apart from the sound.
    package var playsVideo = true
    var wantsSoundOnly: Bool { playsAudio && !playsVideo }
    /// What the user speaks, the most wanted first; BCP 47 tags.
    package var languages: [String] = []
    /// Header fields of every request.
    package var fields: [TransportField] = []
    /// Besides the item's own.
    package var credentialOrigins: Set<URLOrigin> = []
    package var timeouts = ResourceTimeouts()
    /// Bits per second to expect before anything was measured; nil where nothing is known.
    package var initialBitRateHint: Double?
    /// Names all playback sessions, instead of a new name for each item.
    package var sessionID: String?
    /// Every item gets a session, and servers are told its name.
    package var sendsSessionID = false
    /// What servers are told of playing.
    package var clientData: ClientData?
    /// What servers say is minded where variants are chosen.
    package var mindsServerData = true
    /// Where the names of sessions come from; nil is the system's randomness.
    package var sessionSeed: UInt64? = 0
    /// Which keys are used.
    package var keyRules = KeyRules()
    /// Keys of the multivariant playlist are loaded before media needs them.
    package var preloadsKeys = false
    /// Servers may hold requests until there is something new.
    package var allowsLowLatency = true
    /// What lists hint at is asked for before it is listed.
    package var usesPreloadHints = true
    /// What was known of the network when the item was set.
    package var bandwidths = BandwidthEstimates()
    /// The program gives fresh URLs for those that run out.
    package var refreshesURLs = false
    /// The date of time zero.
    package var epoch = PlaylistDate(seconds: 0)
    /// That is a date of people's, and not the beginning of a virtual clock.
    package var knowsDate = false
    package var seed: UInt64 = 0
    package var networkConditions = NetworkConditions()
    package var selector: any VariantSelector = ScenarioRule()
    package var capabilities = PlaybackCapabilities()
    /// Decisions that are told with ``EngineEffect/note(_:)``.
    package var decisionDetail = DecisionDetail.nothing
    package var parallelLoading = ParallelLoading()
    /// Somebody waits for media; else it is only loaded.
    package var presentsMedia = true

    package init() {}
}
