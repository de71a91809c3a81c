import HLSKitAsset
import HLSKitLoading
import HLSKitMedia
import HLSKitPlaylist
import HLSKitSelection

extension DownloadTask {
    /// The time for a request for metadata. The download does not depend on it.
    private static let metadataPatience = Duration.seconds(5)

    func noteMetadata(of playlist: MultivariantPlaylist?) async throws {
        guard folder.journal.metadata.isEmpty, client.presentsFile || playlist?.sessionData.isEmpty == false else {
            return
        }
        var options = configuration.loading
        options.transport = tally.transport(over: options.transport)
        options.retryPolicies.maximumRetryCount = 0
        options.timeouts.total = min(options.timeouts.total ?? Self.metadataPatience, Self.metadataPatience)
        let inspector = AssetInspector(
            url: currentURL, client: ResourceClient(url: currentURL, options: options, storesOnDisk: false))
        defer { inspector.cancel() }
        let languages = LanguageTag.preferred(configuration.preferredLanguages, by: configuration.loading.clock)
        do {
            let metadata: FileMetadata
            let failure: HLSError?
            if let playlist, !client.presentsFile {
                (metadata, failure) = try await inspector.fileMetadata(of: playlist, languages)
            } else {
                (metadata, failure) = try await inspector.fileMetadata(languages)
            }
            if let failure { keep(metadataFailure: failure) }
            if !metadata.isEmpty { try folder.add([.metadata(metadata)]) }
        } catch let error as HLSError where error.domain != .output && error.code != .cancelled {
            keep(metadataFailure: error)
        }
    }
}
