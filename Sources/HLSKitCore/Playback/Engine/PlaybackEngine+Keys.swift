import HLSPlaylist

/// Keys: each is asked for once, whoever needs it.
extension PlaybackEngine {
    /// How far a key is in another lane; nil where it has still to be asked for.
    func stateElsewhere(of key: ResourceID, but lane: LaneID) -> ResourceState? {
        for other in LaneID.allCases where other != lane {
            switch item?.lanes[other]?.resources[key] {
            case .loading(let request)? where loading.requests[request] != nil: return .loading(request)
            case .loaded?: return .loaded
            case .loading?, .waitingForRetry?, nil: continue
            }
        }
        return nil
    }

    /// The lanes that wait for what this request brings.
    func lanes(sharing request: RequestID, of resource: ResourceID) -> [LaneID] {
        LaneID.allCases.filter { item?.lanes[$0]?.resources[resource] == .loading(request) }
    }

    /// Gives the request of a key to another lane that waits for it. False where there is none.
    mutating func passOn(_ request: RequestID) -> Bool {
        guard case .resource(let resource, let lane)? = loading.requests[request]?.purpose, resource.kind == .key,
            let other = lanes(sharing: request, of: resource).first(where: { $0 != lane })
        else { return false }
        loading.requests.pass(request, to: .resource(resource, other))
        return true
    }

    /// Asks for the keys that the multivariant playlist announces, before any media needs them.
    mutating func preloadKeys(of playlist: MultivariantPlaylist) {
        guard configuration.preloadsKeys, let base = item?.multivariantURL else { return }
        for key in playlist.sessionKeys where key.isUsable(with: configuration.keyFormats) {
            guard let uri = key.uri, let url = URIReference.resolve(uri, against: base) else { continue }
            let resource = ResourceID(key, url: url)
            guard item?.lanes[.main]?.resources[resource] == nil else { continue }
            requestResource(resource, in: .main)
        }
    }

    /// What is known of the hosts that the first segments come from: of the variants', else of the playlist's.
    func knownBandwidth(of playlist: MultivariantPlaylist) -> Double? {
        guard !configuration.bandwidths.entries.isEmpty, let base = item?.multivariantURL else { return nil }
        let date = configuration.epoch + now
        let urls = [playlist.variants.first.flatMap { URIReference.resolve($0.uri, against: base) }, base]
        for url in urls.compactMap(\.self) {
            guard let host = Origin(of: url)?.authority else { continue }
            if let known = configuration.bandwidths.bitsPerSecond(host: host, at: date) { return known }
        }
        return nil
    }
}
