import HLSKitMedia
import HLSKitPlaylist

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
    /// Pictures are loaded, where they are apart from the sound.
    var playsVideo = true
    var wantsSoundOnly: Bool { playsAudio && !playsVideo }
    /// What the user speaks, the most wanted first; BCP 47 tags.
    var languages: [String] = []
    /// Header fields of every request.
    var fields: [HTTPField] = []
    /// Besides the item's own.
    var credentialOrigins: Set<Origin> = []
    var timeouts = ResourceTimeouts()
    /// Bits per second to expect before anything was measured; nil where nothing is known.
    var initialBitRateHint: Double?
    /// Names all playback sessions, instead of a new name for each item.
    var sessionID: String?
    /// Every item gets a session, and servers are told its name.
    var sendsSessionID = false
    /// What servers are told of playing.
    var clientData: ClientData?
    /// What servers say is minded where variants are chosen.
    var mindsServerData = true
    /// Where the names of sessions come from; nil is the system's randomness.
    var sessionSeed: UInt64? = 0
    /// Which keys are used.
    var keyRules = KeyRules()
    /// Keys of the multivariant playlist are loaded before media needs them.
    var preloadsKeys = false
    /// Servers may hold requests until there is something new.
    var allowsLowLatency = true
    /// What lists hint at is asked for before it is listed.
    var usesPreloadHints = true
    /// What was known of the network when the item was set.
    var bandwidths = BandwidthEstimates()
    /// The program gives fresh URLs for those that run out.
    var refreshesURLs = false
    /// The date of time zero.
    var epoch = PlaylistDate(seconds: 0)
    /// That is a date of people's, and not the beginning of a virtual clock.
    var knowsDate = false
    var seed: UInt64 = 0
    var networkConditions = NetworkConditions()
    var selector: any VariantSelector = ScenarioRule()
    var capabilities = PlaybackCapabilities()
    /// Decisions that are told with ``EngineEffect/note(_:)``.
    var decisionDetail = DecisionDetail.nothing
    var parallelLoading = ParallelLoading()
    /// Somebody waits for media; else it is only loaded.
    var presentsMedia = true
}
