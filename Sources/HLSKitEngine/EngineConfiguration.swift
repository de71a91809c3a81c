package import HLSKitLoading
package import HLSKitMedia
package import HLSKitPlaylist
package import HLSKitSelection

package struct EngineConfiguration: Sendable {
    /// Whether media is presented in real time or as fast as outputs take it.
    package enum Pacing: Sendable, Hashable { case realTime, unpaced }

    package var pacing = Pacing.realTime
    package var buffering = BufferingConfiguration()
    /// Whether a seek ends when outputs have decoded its target, not when the target is loaded.
    package var seeksAwaitOutputs = false
    package var keepUpPolicy = KeepUpPolicy.predictive
    package var retryPolicies = RetryPolicies()
    /// Returns whether a `CODECS` entry can be played. nil accepts all, for outputs of compressed samples.
    package var canPlayCodec: (@Sendable (String) -> Bool)?
    package var canDecode: @Sendable (MediaCodec) -> Bool = { _ in true }
    /// Returns why the decoding library is unusable, or nil if it is usable or not needed.
    package var decoderFailure: @Sendable () -> String? = { nil }
    package var playsAudio = true
    /// Whether video is loaded if it is separate from audio.
    package var playsVideo = true
    var wantsAudioOnly: Bool { playsAudio && !playsVideo }
    /// The user's languages in order of preference, as BCP 47 tags.
    package var languages: [String] = []
    package var fields: [TransportField] = []
    /// Origins that may receive credentials, in addition to the item's origin.
    package var credentialOrigins: Set<URLOrigin> = []
    package var timeouts = ResourceTimeouts()
    /// The expected bit rate in bits per second before any measurement, or nil if unknown.
    package var initialBitRateHint: Double?
    /// A name for all playback sessions, which replaces the generated name of each item.
    package var sessionID: String?
    /// Whether every item gets a session whose name is sent to servers.
    package var sendsSessionID = false
    /// The data to send to servers about playback (CMCD).
    package var clientData: ClientData?
    /// Whether variant selection uses the hints that servers send (CMSD).
    package var usesServerHints = true
    /// The seed of generated session names, or nil for system randomness.
    package var sessionSeed: UInt64? = 0
    package var keyRules = KeyRules()
    /// Whether keys of the multivariant playlist are loaded before media needs them.
    package var preloadsKeys = false
    package var allowsLowLatency = true
    package var usesPreloadHints = true
    /// Bandwidth estimates from before the item was set.
    package var bandwidths = BandwidthEstimates()
    /// Whether the app supplies fresh URLs for expired ones.
    package var refreshesURLs = false
    /// The date of time zero.
    package var epoch = PlaylistDate(seconds: 0)
    /// Whether ``epoch`` is a real date and not the start of a virtual clock.
    package var knowsDate = false
    package var seed: UInt64 = 0
    package var networkConditions = NetworkConditions()
    package var selector: any VariantSelector = ScenarioRule()
    package var capabilities = PlaybackCapabilities()
    package var decisionDetail = DecisionDetail.nothing
    package var parallelLoading = ParallelLoading()
    /// Whether media is presented. If false, it is only loaded.
    package var presentsMedia = true

    package init() {}
}
