package import HLSKitLoading
package import HLSKitNetwork

/// The transports between whoever loads something of an item and the network, in one order for all: players, assets,
/// images and downloads.
package struct TransportStack: Sendable {
    /// What each of them adds, from the network up.
    enum Layer: Sendable, Hashable, CaseIterable {
        /// What servers are told of the player. Next to the network: nobody else sees it.
        case clientData
        /// What was loaded before, by whatever program, as far as servers allow. Above it are others: its URLs are those
        /// that are really asked for.
        case disk
        /// The program's own code, above the network: what it answers or changes is treated as a server's answer.
        case hooks
        /// A second request beside one that stands still. Above the hooks, which may be what is stuck.
        case hedging
        /// What an asset's options say of requests. Refuses before anything is asked.
        case assetOptions
        /// What was loaded before. What is there is answered whatever the network may be used for.
        case cache
        /// A bare media file looks like a stream to all that is above, and its parts are requests to all below.
        case mediaFile
    }

    /// What the stack is made for, besides its URL.
    package struct Parts: Sendable {
        package var network: any ResourceTransport
        package var hooks = LoadingHooks()
        /// `network` calls them already: they only decide which schemes may be loaded.
        var hooksAreBelow = false
        package var clock: any Clock<Duration>
        /// What servers are told, and the session that they are told of.
        package var clientData: (settings: ClientData, sessionID: String, facts: ClientDataFacts)?
        package var allowsFilesAnywhere = false
        /// What the asset's options say of requests; nil without an asset.
        package var asset: AssetOptions?
        /// What is known of the network when a request is made.
        package var conditions: @Sendable () -> NetworkConditions = { NetworkConditions() }
        package var cache: ResourceCache?
        package var diskCache: DiskCache?
        /// ``diskCache`` keeps what is loaded.
        var storesOnDisk = true
        /// Multivariant playlists are not taken from the cache, whose hooks were others.
        package var changesMultivariant = false
        /// How a media file is looked into; nil where it comes as it is.
        package var mediaFile: AssetOptions?

        package init(
            network: any ResourceTransport, hooks: LoadingHooks = LoadingHooks(), hooksAreBelow: Bool = false,
            clock: any Clock<Duration>,
            clientData: (settings: ClientData, sessionID: String, facts: ClientDataFacts)? = nil,
            allowsFilesAnywhere: Bool = false, asset: AssetOptions? = nil,
            conditions: @escaping @Sendable () -> NetworkConditions = { NetworkConditions() },
            cache: ResourceCache? = nil, diskCache: DiskCache? = nil, storesOnDisk: Bool = true,
            changesMultivariant: Bool = false, mediaFile: AssetOptions? = nil
        ) {
            self.network = network
            self.hooks = hooks
            self.hooksAreBelow = hooksAreBelow
            self.clock = clock
            self.clientData = clientData
            self.allowsFilesAnywhere = allowsFilesAnywhere
            self.asset = asset
            self.conditions = conditions
            self.cache = cache
            self.diskCache = diskCache
            self.storesOnDisk = storesOnDisk
            self.changesMultivariant = changesMultivariant
            self.mediaFile = mediaFile
        }
    }

    /// The uppermost.
    package let transport: any ResourceTransport
    /// What there is, from the network up.
    let layers: [Layer]
    /// What the item may load.
    package let policy: ResourcePolicy
    private let file: MediaFileTransport?

    /// Touches the disk once where `url` is a file's.
    ///
    /// - Parameter url: the item's.
    package init(url: String, _ parts: Parts) {
        var policy = ResourcePolicy.forItem(at: url, allowsFilesAnywhere: parts.allowsFilesAnywhere)
        parts.hooks.admit(to: &policy)
        var layers: [Layer] = []
        var transport = parts.network
        if let data = parts.clientData, !parts.hooksAreBelow {
            transport = ClientDataTransport(transport, data.settings, sessionID: data.sessionID, facts: data.facts)
            layers.append(.clientData)
        }
        if let disk = parts.diskCache, !parts.hooksAreBelow {
            transport = disk.transport(over: transport, clock: parts.clock, stores: parts.storesOnDisk)
            layers.append(.disk)
        }
        if !parts.hooksAreBelow {
            transport = HookedTransport(
                transport, hooks: parts.hooks, policy: policy, itemURL: url, clock: parts.clock)
            layers.append(.hooks)
        }
        transport = HedgedTransport(transport, clock: parts.clock)
        layers.append(.hedging)
        if let asset = parts.asset, asset.concernsRequests {
            transport = AssetTransport(transport, url: url, options: asset, conditions: parts.conditions)
            layers.append(.assetOptions)
        }
        if let cache = parts.cache {
            transport = cache.transport(
                over: transport, passesMultivariant: parts.changesMultivariant, on: parts.clock.executor)
            layers.append(.cache)
        }
        file = parts.mediaFile.map { [transport] in MediaFileTransport(transport, url: url, options: $0) }
        if let file {
            transport = file
            layers.append(.mediaFile)
        }
        self.transport = transport
        self.layers = layers
        self.policy = policy
    }

    /// The time on the clock of a media file that is its start, where that is known.
    package var mediaOrigin: Duration? { file?.origin }
}
