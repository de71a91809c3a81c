public import HLSKitLoading
public import HLSKitPlaylist

/// Loads single playlists without playing them, in the same way as a player loads them.
///
/// The same transport, deadlines, retries, limits and access rules apply. Redirects are followed, and the final URL is
/// the base of relative references. The size limit applies to the decoded body. A playlist from the network cannot
/// refer to local files.
public struct PlaylistLoader: Sendable {
    private let configuration: PlayerConfiguration
    private let url: String
    private let policy: ResourcePolicy
    private let credentials: RequestCredentials
    private let retrier: RequestRetrier

    /// Creates a loader for the playlist at `urlString` and for resources that it refers to.
    ///
    /// Credentials in `urlString` and in the configuration's fields are sent only to the origin of `urlString` and to
    /// the configuration's `credentialOrigins`. For a `file:` URL, the initializer accesses the disk once to determine
    /// the folder that other files may be in.
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

    /// Loads the playlist of this loader, and parses it as it arrives.
    ///
    /// - Throws: ``HLSError``. Its `underlyingError` is the transport's error if the resource cannot be loaded, or a
    ///   `PlaylistError` if it is not a playlist.
    public func load(_ options: PlaylistParser.Options = .init()) async throws(HLSError) -> Playlist {
        try await typed(url, namedBy: nil) { tries throws in
            try await load(url, resourceClass: .multivariantPlaylist, namedBy: nil, options, &tries)
        }
    }

    /// Loads a playlist that the playlist at `source` refers to.
    ///
    /// - Throws: The same errors as ``load(_:)``, and ``HLSError/Code/refused`` if that playlist may not refer to it.
    public func load(
        _ url: String, namedBy source: String, _ options: PlaylistParser.Options = .init()
    ) async throws(HLSError) -> Playlist {
        try await typed(url, namedBy: source) { tries throws in
            try await load(url, resourceClass: .mediaPlaylist, namedBy: source, options, &tries)
        }
    }

    /// Returns the size in bytes of a resource that a playlist refers to, or `nil` if the server does not report it.
    ///
    /// The method requests only the first byte.
    ///
    /// - Throws: The same errors as ``load(_:namedBy:_:)``.
    package func byteCount(of url: String, namedBy source: String) async throws(HLSError) -> Int? {
        try await typed(url, namedBy: source) { tries throws in try await size(of: url, namedBy: source, &tries) }
    }

    private func size(of url: String, namedBy source: String, _ tries: inout Int) async throws -> Int? {
        var request = request(url, .segment)
        request.maximumByteCount = .max
        // Any response for a file contains its size.
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

    /// The size in `Content-Range: bytes 0-0/SIZE`, or the length of a complete response.
    private static func byteCount(_ response: TransportResponse) -> Int? {
        guard response.status == 206 else { return response.contentLength }
        let range = response.fields.first { ResponseHead.isEqual($0.name, "Content-Range") }?.value
        return range?.split(separator: "/").last.flatMap { Int($0) }.flatMap { $0 >= 0 ? $0 : nil }
    }

    /// Returns the current steering manifest of a playlist, with a single request.
    ///
    /// A manifest in a `data:` URL is decoded without a request.
    ///
    /// - Throws: ``SteeringManifest/Invalid``, or the errors of loading.
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

    /// Runs `body` and converts its errors to ``HLSError``, according to the resource's purpose.
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
