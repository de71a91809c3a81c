import HLSKitAsset
import HLSKitEngine
import HLSKitLoading
import HLSKitTime

extension PlayerCore {
    func loadAssetKeys(of item: PlayerItem) -> Task<Void, Never>? {
        guard let asset = item.asset, item.awaitsAssetKeys else { return nil }
        return Task(executorPreference: clock.executor) { [weak self] in
            var failure: HLSError?
            for property in item.keysToLoad {
                do throws(HLSError) {
                    try await property.load(asset)
                } catch {
                    let cancelled = HLSError(
                        code: .cancelled, urlString: item.urlString, cause: "loading was cancelled")
                    failure = failure ?? (error.code == .cancelled ? cancelled : error)
                }
            }
            if Task.isCancelled { return }
            self?.control(.assetKeysEnded(failure), of: item)
        }
    }
}

extension PlayerCore.State {
    /// Passes the duration to the asset once the item is ready, before this is visible to the app.
    mutating func noteDuration(of id: Int, at now: Duration) {
        update(id) { playback in
            guard !playback.hasNotedDuration, playback.engine.item?.isReady == true else { return }
            playback.hasNotedDuration = true
            guard let item = playback.item, item.automaticallyLoadedAssetKeys.contains(.duration) else { return }
            item.asset?.note(duration: playback.snapshot(at: now).duration)
        }
    }
}

extension PlayerItem {
    /// The properties to load from the asset. The player determines the duration itself.
    fileprivate var keysToLoad: [PartialAssetProperty] { automaticallyLoadedAssetKeys.filter { $0 != .duration } }

    fileprivate var awaitsAssetKeys: Bool { asset != nil && !keysToLoad.isEmpty }
}

extension EngineItem {
    init(_ item: PlayerItem) {
        self.init(
            url: item.urlString, diary: item.diary, awaitsAssetKeys: item.awaitsAssetKeys,
            followsSchedule: item.skipRule != nil, owner: item.owner)
    }
}

extension PlayerConfiguration {
    /// Returns the configuration for one item, in which the loading options of its asset take precedence.
    func loading(_ item: PlayerItem?) -> PlayerConfiguration {
        guard let asset = item?.asset else { return self }
        var configuration = self
        let own = asset.options.allFields
        configuration.fields = fields.filter { field in !own.contains { $0.isNamed(field.name) } } + own
        configuration.credentialOrigins.formUnion(asset.options.credentialOrigins)
        configuration.hooks = asset.hooks.combined(with: hooks)
        if asset.options.allowsFilesAnywhere { configuration.allowsFilesAnywhere = true }
        if asset.options.isPlaylistParsingStrict { configuration.isPlaylistParsingStrict = true }
        if asset.resourceLoader.preloadsEligibleContentKeys { configuration.preloadsEligibleContentKeys = true }
        if let data = asset.options.clientData { configuration.clientData = data }
        if let id = asset.options.playbackSessionID { configuration.playbackSessionID = id }
        return configuration
    }
}
