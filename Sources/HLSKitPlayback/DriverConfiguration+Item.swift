import HLSKitAsset
import HLSKitCodec
import HLSKitEngine
import HLSKitLoading
import HLSKitPlaylist
import HLSKitSelection

extension DriverConfiguration {
    /// Touches the disk once for an item whose URL is a file's.
    ///
    /// - Parameters:
    ///   - configuration: the player's, with what the item's asset says of loading.
    ///   - session: names the playing of the item in logs.
    ///   - conditions: what is known of the network now.
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
            // What the asset has loaded was not changed by the player's hooks.
            parts.changesMultivariant =
                item.asset?.options.hooks.transformMultivariant == nil
                && configuration.hooks.transformMultivariant != nil && item.asset != nil
            parts.mediaFile = AssetOptions(configuration).forInside
            parts.mediaFile?.overrideMIMEType = item.asset?.options.overrideMIMEType
            declaredContainer = item.asset?.options.declaredKind?.container
            let stack = TransportStack(url: item.urlString, parts)
            transport = stack.transport
            resourcePolicy = stack.policy
            // What is only named reaches no more than who has named it.
            if let owner = item.owner {
                resourcePolicy = .forItem(at: owner, allowsFilesAnywhere: configuration.allowsFilesAnywhere)
                configuration.hooks.admit(to: &resourcePolicy)
            }
            mediaOrigin = { stack.mediaOrigin }
            outputs = item.outputs
            judgeVariants = { [weak item] in item?.preferences.quality?.judge(AssetVariant.list(of: $0)) }
        }
        urlRefresher = configuration.hooks.urlRefresher
        userCall = UserCall(clock: configuration.sourceClock)
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
    /// As a player loads.
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
