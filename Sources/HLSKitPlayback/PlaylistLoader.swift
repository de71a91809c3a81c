public import HLSKitLoading
public import HLSKitPlaylist

/// Loads single playlists without playing them, as a player loads them: the same transport, deadlines, retries, limits and
/// refusals.
///
/// Redirects are followed and give the base of relative references; content codings are undone under the size limit; a
/// playlist from the network names no files. See docs/behaviour/resources.md.
public struct PlaylistLoader: Sendable {
    private let configuration: PlayerConfiguration
    private let url: String
    private let policy: ResourcePolicy
    private let credentials: RequestCredentials
    private let retrier: RequestRetrier

    /// A loader for the playlist at `urlString` and what that names.
    ///
    /// Credentials in `urlString` and in the configuration's fields go to the origin of `urlString` and to the configuration's
    /// `credentialOrigins` only. Touches the disk once, for a `file:` URL: its folder is where other files may be.
    public init(urlString url: String, configuration: PlayerConfiguration = .init()) {
        self.url = url
        var configuration = configuration
        if let data = configuration.clientData {
            var facts = ClientDataFacts()
            facts.isNotRendered = true
            var ids = SessionIDGenerator(seed: configuration.isClockOfThisMachine ? nil : configuration.seed ?? 0)
            configuration.transport = ClientDataTransport(
                configuration.transport, data, sessionID: configuration.playbackSessionID ?? ids.next(), facts: facts)
        }
        self.configuration = configuration
        policy = .forItem(at: url, allowsFilesAnywhere: configuration.allowsFilesAnywhere)
        credentials = RequestCredentials(url: url, configuration.fields, origins: configuration.credentialOrigins)
        retrier = RequestRetrier(
            policies: configuration.retryPolicies, clock: configuration.sourceClock, seed: configuration.seed ?? 0)
    }

    /// Loads the playlist that the loader was made for. Parses it while it arrives.
    ///
    /// - Throws: ``HLSError``; its `underlyingError` is that of the transport if the resource cannot be loaded, a
    ///   `PlaylistError` if it is not a playlist.
    public func load(_ options: PlaylistParser.Options = .init()) async throws(HLSError) -> Playlist {
        try await typed(url, namedBy: nil) { tries throws in
            try await load(url, resourceClass: .multivariantPlaylist, namedBy: nil, options, &tries)
        }
    }

    /// Loads a playlist that another, at `source`, names.
    ///
    /// - Throws: As ``load(_:)``, and ``HLSError/Code/refused`` if the other may not name it.
    public func load(
        _ url: String, namedBy source: String, _ options: PlaylistParser.Options = .init()
    ) async throws(HLSError) -> Playlist {
        try await typed(url, namedBy: source) { tries throws in
            try await load(url, resourceClass: .mediaPlaylist, namedBy: source, options, &tries)
        }
    }

    /// The size of a resource that a playlist at `source` names, in bytes, without loading it: the first byte is asked
    /// for. nil if the server does not say.
    ///
    /// - Throws: As ``load(_:namedBy:_:)``.
    package func byteCount(of url: String, namedBy source: String) async throws(HLSError) -> Int? {
        try await typed(url, namedBy: source) { tries throws in try await size(of: url, namedBy: source, &tries) }
    }

    private func size(of url: String, namedBy source: String, _ tries: inout Int) async throws -> Int? {
        var request = request(url, .segment)
        request.maximumByteCount = .max
        // A file has its size in any response.
        if !LocalFile.isFileURL(url) { request.byteRange = 0..<1 }
        try policy.check(url, resourceClass: .segment, namedBy: source)
        let sent = request
        let retried = RequestRetrier.Request(url: url, terms: RetryTerms(kind: .segment), deliversMedia: false)
        return try await retrier.value(of: retried) {
            tries += 1
            for await event in configuration.transport.events(for: sent) {
                switch event {
                case .response(let response): return Self.byteCount(response)
                case .failed(let error, _): throw LoadingError(error)
                case .data, .finished: break
                }
            }
            throw CancellationError()
        }
    }

    /// `Content-Range: bytes 0-0/SIZE`, else the length of an answer that is the whole.
    private static func byteCount(_ response: TransportResponse) -> Int? {
        guard response.status == 206 else { return response.contentLength }
        let range = response.fields.first { ResponseHead.isEqual($0.name, "Content-Range") }?.value
        return range?.split(separator: "/").last.flatMap { Int($0) }.flatMap { $0 >= 0 ? $0 : nil }
    }

    /// What the steering server of a playlist says now; in the playlist itself, at once. Asked once.
    ///
    /// - Throws: ``SteeringManifest/Invalid`` besides what loading throws.
    package func steeringManifest(of playlist: MultivariantPlaylist) async throws -> (SteeringManifest, url: String)? {
        guard let tag = playlist.contentSteering else { return nil }
        if tag.serverURI.prefix(5).lowercased() == "data:" {
            let data = try DataURL(tag.serverURI, maximumByteCount: SteeringManifest.maximumByteCount)
            return (try SteeringManifest(parsing: data.bytes), playlist.url)
        }
        guard let url = playlist.resolve(tag.serverURI) else {
            throw SteeringManifest.Invalid(description: "SERVER-URI is not a URI")
        }
        try policy.check(url, resourceClass: .steering, namedBy: playlist.url)
        var request = request(url, .steering)
        request.maximumByteCount = SteeringManifest.maximumByteCount
        var bytes: [UInt8] = []
        for await event in configuration.transport.events(for: request) {
            switch event {
            case .response: break
            case .data(let more): bytes += more
            case .finished: return (try SteeringManifest(parsing: bytes), url)
            case .failed(let error, _): throw LoadingError(error)
            }
        }
        throw CancellationError()
    }

    // MARK: Loading

    /// The error of whatever was thrown, by what the resource was wanted for.
    private func typed<Value>(
        _ url: String, namedBy source: String?, _ body: (_ tries: inout Int) async throws -> Value
    ) async throws(HLSError) -> Value {
        var tries = 0
        do {
            return try await body(&tries)
        } catch let error as LoadingError {
            throw HLSError(error, as: source == nil ? .named : .listed).at(attempt: tries)
        } catch let error as PlaylistError {
            throw HLSError(error, url: url).at(attempt: tries)
        } catch {
            throw HLSError(error)
        }
    }

    private func load(
        _ url: String, resourceClass: ResourceClass, namedBy source: String?, _ options: PlaylistParser.Options,
        _ tries: inout Int
    ) async throws -> Playlist {
        try policy.check(url, resourceClass: resourceClass, namedBy: source)
        let request = request(url, resourceClass)
        let retried = RequestRetrier.Request(
            url: url, terms: RetryTerms(kind: source == nil ? .firstPlaylist : .mediaPlaylist), deliversMedia: false)
        return try await retrier.value(of: retried) {
            tries += 1
            var parser = PlaylistParser(url: url, options: options)
            for await event in configuration.transport.events(for: request) {
                switch event {
                case .response(let response):
                    var options = options
                    options.contentType = response.contentType
                    parser = PlaylistParser(url: response.urlString, options: options)
                case .data(let bytes): try parser.append(bytes)
                case .finished: return try parser.finish()
                case .failed(let error, _): throw LoadingError(error)
                }
            }
            throw CancellationError()
        }
    }

    private func request(_ url: String, _ resourceClass: ResourceClass) -> TransportRequest {
        TransportRequest(
            urlString: url, resourceClass: resourceClass, fields: credentials.fields,
            credentialOrigins: credentials.origins,
            timeouts: configuration.timeouts[resourceClass], maximumByteCount: ResourceLimits.playlistByteCount)
    }
}
