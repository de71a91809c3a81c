package import HLSKitCore

/// Loading without playback, with the same options.
extension PlayOptions {
    /// A playlist that takes longer is useless to a waiting user.
    private static let longestTransfer = Duration.seconds(60)

    /// A loader for playlists.
    ///
    /// - Parameter wrap: Wraps the network transport.
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

    /// Whether the stream is live, by its first variant. Returns `false` if that cannot be determined at once, because
    /// playback will report the error.
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

    /// The options for loading parts of the stream.
    ///
    /// - Parameter wrap: Wraps the network transport.
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
