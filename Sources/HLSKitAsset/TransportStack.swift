package import HLSKitLoading
package import HLSKitNetwork

/// The layers of transports between a loader of an item's resources and the network. Players, assets, images and
/// downloads all use the same order.
package struct TransportStack: Sendable {
    /// A layer of the stack. The cases are in order from the network up.
    enum Layer: Sendable, Hashable, CaseIterable {
        /// Adds the player's CMCD data to requests. It is lowest so that no other layer sees the data.
        case clientData
        /// Returns resources that any process stored on disk, as far as servers allow. It is below the hooks because it
        /// stores resources by the final URLs.
        case disk
        /// Runs the app's hooks. Their responses and changes are treated like server responses.
        case hooks
        /// Sends a second request if the first one stalls. It is above the hooks because a hook may be the part that
        /// stalls.
        case hedging
        /// Applies the asset's options to requests. Refuses requests before the layers below see them.
        case assetOptions
        /// Returns resources that are cached in memory, even if network access is not allowed.
        case cache
        /// Presents a bare media file as a stream to the layers above, and requests its parts from the layers below.
        case mediaFile
    }

    package struct Parts: Sendable {
        package var network: any ResourceTransport
        package var hooks = LoadingHooks()
        /// Whether `network` already calls the hooks, so that here they only decide which schemes may be loaded.
        var hooksAreBelow = false
        package var clock: any Clock<Duration>
        package var clientData: (settings: ClientData, sessionID: String, facts: ClientDataFacts)?
        package var allowsFilesAnywhere = false
        /// The asset's options for requests, or `nil` without an asset.
        package var asset: AssetOptions?
        package var conditions: @Sendable () -> NetworkConditions = { NetworkConditions() }
        package var cache: ResourceCache?
        package var diskCache: DiskCache?
        var storesOnDisk = true
        /// Whether multivariant playlists bypass the cache, because other hooks changed the cached ones.
        package var changesMultivariant = false
        /// The options for inspecting a media file, or `nil` to pass it through unchanged.
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

    package let transport: any ResourceTransport
    let layers: [Layer]
    package let policy: ResourcePolicy
    private let file: MediaFileTransport?

    /// Creates a stack. Accesses the disk once if `url` is a file URL.
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

    package var isMediaFile: Bool { file?.isMediaFile ?? false }

    package var mediaOrigin: Duration? { file?.origin }
}
