package import HLSKitCore

extension PlayOptions {
    /// A playlist that takes longer is useless to a waiting user.
    private static let longestTransfer = Duration.seconds(60)

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

    /// The facts about a stream that are known before it is played.
    package struct Look: Sendable {
        package init() {}

        /// Whether the stream continues while it is played, according to its first variant.
        package var isLive = false
        package var metadata = FileMetadata()
        package var metadataFailure: HLSError?
    }

    /// The time for a request for metadata. A recording does not depend on it.
    private static let metadataPatience = Duration.seconds(5)

    /// Loads the first playlist to find out about the stream. If that fails, the player reports the reason.
    package func look(findsLive: Bool, readsMetadata: Bool) async -> Look {
        var look = Look()
        var options = self
        options.retries = .count(0)
        guard findsLive || readsMetadata, let loader = try? options.loader() else { return look }
        do throws(HLSError) {
            switch try await loader.load() {
            case .media(let media): look.isLive = findsLive && !media.isComplete
            case .multivariant(let playlist):
                if findsLive, let variant = playlist.variants.first, let url = playlist.resolve(variant.uri),
                    case .media(let media)? = try? await loader.load(url, namedBy: playlist.url)
                {
                    look.isLive = !media.isComplete
                }
                if readsMetadata, !playlist.sessionData.isEmpty { await options.read(playlist, to: &look) }
            }
        } catch {
            let isMedia =
                (error.underlyingError as? PlaylistError)?.code == .notAPlaylist
                || error.loadingError?.code == .tooLarge
            if readsMetadata, isMedia { await options.read(nil, to: &look) }
        }
        return look
    }

    private func read(_ playlist: MultivariantPlaylist?, to look: inout Look) async {
        guard var options = try? assetOptions() else { return }
        options.timeouts.total = Self.metadataPatience
        let inspector = AssetInspector(url: url, client: ResourceClient(url: url, options: options))
        let languages = LanguageTag.preferred(self.languages, by: SourceClock.host)
        do {
            if let playlist {
                (look.metadata, look.metadataFailure) = try await inspector.fileMetadata(of: playlist, languages)
            } else {
                (look.metadata, look.metadataFailure) = try await inspector.fileMetadata(languages)
            }
        } catch {
            // The player reports why a file cannot be read.
            if playlist != nil { look.metadataFailure = HLSError(error) }
        }
        inspector.cancel()
    }

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
