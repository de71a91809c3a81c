import HLSMedia
import HLSPlaylist

/// What the driver of an item needs besides the engine.
struct DriverConfiguration: Sendable {
    var transport: any Transport
    /// The time on the clock of the item's media that is its start, where that is known: of a file.
    var mediaOrigin: @Sendable () -> Duration? = { nil }
    var resourcePolicy: ResourcePolicy
    var outputs = OutputBoard()
    /// What is played; media of other kinds is dropped.
    var mediaTypes: Set<MediaType> = [.video, .audio]
    /// Media that is decoded although no output wants it.
    var decodes: Set<MediaType> = []
    var decodingThreadCount = 0
    /// Media is taken apart; otherwise it is only checked and dropped.
    var demuxes = true
    var isPaced = true
    var bandwidthHistory: BandwidthHistory?
    var urlRefresher: (any URLRefresher)?
    let userCall: UserCall
    let log: PlaybackLog
    var playlistOptions = PlaylistParser.Options()
    /// Where playlists are parsed and media is demuxed; nil is ``WorkQueue/shared``, or at once where the clock runs the
    /// player's tasks.
    var workQueue: WorkQueue?

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
            resourcePolicy = .forItem(at: item.url, allowsFilesAnywhere: configuration.allowsFilesAnywhere)
            configuration.hooks.admit(to: &resourcePolicy)
            let hooked = HedgedTransport(
                HookedTransport(
                    configuration.transport, hooks: configuration.hooks, policy: resourcePolicy, itemURL: item.url,
                    clock: configuration.clock), clock: configuration.clock)
            let stamped = item.asset?.options.transport(over: hooked, url: item.url, conditions: conditions) ?? hooked
            // What the asset has loaded was not changed by the player's hooks.
            let isChanged =
                item.asset?.options.hooks.transformMultivariant == nil
                && configuration.hooks.transformMultivariant != nil && item.asset != nil
            let base = item.cache?.transport(over: stamped, passesMultivariant: isChanged) ?? stamped
            let files = MediaFileTransport(base, url: item.url, options: AssetOptions(configuration))
            transport = files
            mediaOrigin = { files.origin }
            outputs = item.outputs
        }
        urlRefresher = configuration.hooks.urlRefresher
        userCall = UserCall(clock: configuration.clock)
        log = PlaybackLog(configuration.logger, url: item?.url, session: session)
        bandwidthHistory = configuration.bandwidthHistory
        mediaTypes = configuration.mediaTypes
        decodes = configuration.decodesWithoutOutput
        decodingThreadCount = configuration.decodingThreadCount
        demuxes = configuration.demuxesMedia
        workQueue = configuration.workQueue
        isPaced = configuration.pacing == .realTime
        playlistOptions.mode = configuration.isPlaylistParsingStrict ? .strict : .lenient
    }
}

extension AssetOptions {
    /// As a player loads.
    init(_ configuration: PlayerConfiguration) {
        self.init(transport: configuration.transport)
        clock = configuration.clock
        retryPolicies = configuration.retryPolicies
        seed = configuration.seed
        allowsFilesAnywhere = configuration.allowsFilesAnywhere
        acceptsAllCodecs = configuration.acceptsAllCodecs
    }
}
