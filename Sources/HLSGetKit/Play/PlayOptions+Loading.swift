package import HLSKitCore

/// What loads without playing, with the same options.
extension PlayOptions {
    /// A playlist that takes longer is of no use to anybody who waits for it.
    private static let longestTransfer = Duration.seconds(60)

    /// For playlists.
    ///
    /// - Parameter wrap: what stands before the network.
    package func loader(
        through wrap: (any ResourceTransport) -> any ResourceTransport = { $0 }
    ) throws(ArgumentValueError) -> PlaylistLoader {
        var configuration = PlayerConfiguration(transport: wrap(try makeTransport()))
        configuration.fields = fields
        configuration.credentialOrigins = credentialOrigins
        configuration.allowsFilesAnywhere = allowsFilesOutside
        configuration.clientData = clientData.clientData
        configuration.playbackSessionID = clientData.sessionID
        apply(to: &configuration.retryPolicies)
        if let timeout { configuration.timeouts.firstByte = timeout }
        configuration.timeouts.total = Self.longestTransfer
        return PlaylistLoader(urlString: url, configuration: configuration)
    }

    /// Whether the stream goes on while it is played, by its first variant. False where that cannot be found out at once: who
    /// plays it says why.
    package func isLive() async -> Bool {
        var look = self
        look.retries = .count(0)
        guard let loader = try? look.loader(), let playlist = try? await loader.load() else { return false }
        switch playlist {
        case .media(let media): return !media.isComplete
        case .multivariant(let multivariant):
            guard let variant = multivariant.variants.first, let url = multivariant.resolve(variant.uri),
                case .media(let media)? = try? await loader.load(url, namedBy: multivariant.url)
            else { return false }
            return !media.isComplete
        }
    }

    /// For parts of the stream.
    ///
    /// - Parameter wrap: what stands before the network.
    package func assetOptions(
        through wrap: (any ResourceTransport) -> any ResourceTransport = { $0 }
    ) throws(ArgumentValueError) -> AssetOptions {
        var options = AssetOptions(transport: wrap(try makeTransport()))
        options.fields = fields
        options.credentialOrigins = credentialOrigins
        options.allowsFilesAnywhere = allowsFilesOutside
        options.clientData = clientData.clientData
        options.playbackSessionID = clientData.sessionID
        apply(to: &options.retryPolicies)
        if let timeout { options.timeouts.firstByte = timeout }
        return options
    }
}
