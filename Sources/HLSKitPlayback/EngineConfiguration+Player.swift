import HLSKitCodec
import HLSKitEngine
import HLSKitLoading
import HLSKitMedia
import HLSKitSelection

extension EngineConfiguration {
    init(_ configuration: PlayerConfiguration) {
        self.init()
        pacing = configuration.pacing == .realTime ? .realTime : .unpaced
        buffering = configuration.buffering
        seeksAwaitOutputs = true
        keepUpPolicy = configuration.keepUpPolicy
        retryPolicies = configuration.retryPolicies
        if !configuration.acceptsAllCodecs {
            canPlayCodec = CodecRegistry.canDecode(entry:)
            decoderFailure = { CodecLibrary.failure }
        }
        canDecode = { CodecRegistry.canDecode($0) }
        playsAudio = configuration.mediaTypes.contains(.audio)
        playsVideo = configuration.mediaTypes.contains(.video)
        languages = configuration.languages
        fields = configuration.fields
        credentialOrigins = configuration.credentialOrigins
        timeouts = configuration.timeouts
        initialBitRateHint = configuration.initialBitRateHint.flatMap { $0.isFinite && $0 > 0 ? $0 : nil }
        sessionID = configuration.playbackSessionID
        sendsSessionID = configuration.sendsPlaybackSessionID
        clientData = configuration.clientData
        usesServerHints = configuration.usesServerHints
        sessionSeed = configuration.isClockOfThisMachine ? nil : configuration.seed ?? 0
        keyRules = KeyRules(configuration.hooks)
        preloadsKeys = configuration.preloadsEligibleContentKeys
        allowsLowLatency = configuration.allowsLowLatency
        if let history = configuration.bandwidthHistory { bandwidths = history.estimates }
        refreshesURLs = configuration.hooks.urlRefresher != nil
        epoch = configuration.now
        knowsDate = configuration.knowsDate
        // With different seeds, the players on one clock do not all retry at once after an outage.
        seed =
            configuration.seed ?? (configuration.isClockOfThisMachine ? UInt64.random(in: 1 ... .max) : 0)
        networkConditions = configuration.networkConditions
        selector = configuration.variantSelector
        capabilities = configuration.capabilities
        decisionDetail = PlaybackLog.detail(for: configuration.playerLogger)
        parallelLoading = configuration.parallelLoading
        presentsMedia = configuration.demuxesMedia
    }
}

extension EngineConfiguration {
    /// Adapts the configuration for the next item of the same player. Time 0 stays the same, and the session ID
    /// changes.
    mutating func resume(from other: EngineConfiguration, session number: Int) {
        (epoch, knowsDate) = (other.epoch, other.knowsDate)
        sessionSeed = sessionSeed.map { $0 &+ UInt64(number) &* 0x2545_F491_4F6C_DD1D }
    }
}
