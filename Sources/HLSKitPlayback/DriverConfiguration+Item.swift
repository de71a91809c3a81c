import HLSKitAsset
import HLSKitCodec
import HLSKitEngine
import HLSKitLoading
import HLSKitPlaylist
import HLSKitSelection

extension DriverConfiguration {
    /// Creates a configuration. Accesses the disk once if the item's URL is a file URL.
    ///
    /// - Parameters:
    ///   - configuration: The player's configuration, with the loading options of the item's asset.
    ///   - session: The ID of the session in logs.
    ///   - conditions: Returns the current network conditions.
    init(
        _ configuration: PlayerConfiguration, item: PlayerItem?, session: String? = nil,
        conditions: @escaping @Sendable () -> NetworkConditions = { NetworkConditions() }
    ) {
        transport = configuration.transport
        resourcePolicy = ResourcePolicy()
        if let item {
            var parts = TransportStack.Parts(
                network: configuration.transport, hooks: configuration.hooks, clock: configuration.sourceClock)
            parts.allowsFilesAnywhere = configuration.allowsFilesAnywhere
            parts.asset = item.asset?.options
            parts.conditions = conditions
            parts.clientData = configuration.clientData.map { ($0, session ?? "", ClientDataFacts()) }
            parts.cache = item.cache
            parts.diskCache = configuration.diskCache ?? item.asset?.options.diskCache
            // Playlists loaded by the asset have not passed the player's hooks.
            parts.changesMultivariant =
                item.asset?.options.hooks.transformMultivariant == nil
                && configuration.hooks.transformMultivariant != nil && item.asset != nil
            parts.mediaFile = AssetOptions(configuration).forInside
            parts.mediaFile?.overrideMIMEType = item.asset?.options.overrideMIMEType
            declaredContainer = item.asset?.options.declaredKind?.container
            let stack = TransportStack(url: item.urlString, parts)
            transport = stack.transport
            resourcePolicy = stack.policy
            // An interstitial asset may access no more than the item that refers to it.
            if let owner = item.owner {
                resourcePolicy = .forItem(at: owner, allowsFilesAnywhere: configuration.allowsFilesAnywhere)
                configuration.hooks.admit(to: &resourcePolicy)
            }
            mediaOrigin = { stack.mediaOrigin }
            outputs = item.outputs
            judgeVariants = { [weak item] in item?.preferences.quality?.judge(AssetVariant.list(of: $0)) }
        }
        urlRefresher = configuration.hooks.urlRefresher
        userCall = AppCall(clock: configuration.sourceClock)
        log = PlaybackLog(configuration.playerLogger, url: item?.urlString, session: session)
        bandwidthHistory = configuration.bandwidthHistory
        mediaTypes = configuration.mediaTypes
        decodes = configuration.decodesWithoutOutput
        decodingThreadCount = max(0, configuration.decodingThreadCount ?? 0)
        makeDecoder = configuration.decoderMaker
        demuxes = configuration.demuxesMedia
        workQueue = configuration.workQueue
        isPaced = configuration.pacing == .realTime
        playlistOptions.mode = configuration.isPlaylistParsingStrict ? .strict : .lenient
    }
}

extension PlayerConfiguration {
    fileprivate var decoderMaker: TrackDecoder.Maker {
        guard deinterlacesVideo else { return makeDecoder }
        return { [makeDecoder] track, threadCount throws(CodecError) in
            let decoder = try makeDecoder(track, threadCount)
            if case .video(let video as VideoDecoder)? = decoder { video.deinterlaces = true }
            return decoder
        }
    }
}

extension AssetOptions {
    init(_ configuration: PlayerConfiguration) {
        self.init(transport: configuration.transport)
        clock = configuration.sourceClock
        retryPolicies = configuration.retryPolicies
        seed = configuration.seed ?? 0
        hooks = configuration.hooks
        allowsFilesAnywhere = configuration.allowsFilesAnywhere
        acceptsAllCodecs = configuration.acceptsAllCodecs
    }
}
