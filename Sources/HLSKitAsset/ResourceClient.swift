package import HLSKitLoading
import HLSKitMedia
import HLSKitNetwork
import HLSKitPlaylist
package import HLSKitSelection

/// Makes something of the bytes of one resource.
package protocol ResourceReader: Sendable {
    associatedtype Output: Sendable
    /// Nothing at all is as good as any other body.
    var mayBeEmpty: Bool { get }
    /// The header has arrived.
    mutating func begin(_ response: TransportResponse) throws
    /// The next bytes; an output ends the transfer early.
    mutating func take(_ bytes: [UInt8]) throws -> Output?
    /// The body is complete.
    mutating func finish() throws -> Output
}

extension ResourceReader {
    package var mayBeEmpty: Bool { false }
}

/// Loads the resources of one asset: checks what may be loaded, sends what the user wants sent, tries again.
package struct ResourceClient: Sendable {
    package let options: AssetOptions
    private var policy: ResourcePolicy
    private var credentials: RequestCredentials
    package let retrier: RequestRetrier

    /// - Parameters:
    ///   - cache: where resources are kept, and looked for first.
    ///   - opensFiles: a bare media file looks like a stream.
    ///   - storesOnDisk: the disk cache of the options keeps what is loaded.
    package init(
        url: String, options: AssetOptions, cache: ResourceCache? = nil, opensFiles: Bool = false,
        storesOnDisk: Bool = true
    ) {
        var parts = TransportStack.Parts(network: options.transport, hooks: options.hooks, clock: options.clock)
        parts.hooksAreBelow = options.hooksAreBelow
        parts.allowsFilesAnywhere = options.allowsFilesAnywhere
        parts.asset = options
        let conditions = options.networkConditions
        parts.conditions = { conditions }
        parts.clientData = options.clientDataParts
        parts.cache = cache
        parts.diskCache = options.diskCache
        parts.storesOnDisk = storesOnDisk
        if opensFiles { parts.mediaFile = options.forInside }
        let stack = TransportStack(url: url, parts)
        var options = options
        options.transport = stack.transport
        self.options = options
        policy = stack.policy
        credentials = options.credentials(for: url)
        retrier = RequestRetrier(policies: options.retryPolicies, clock: options.clock, seed: options.seed)
    }

    /// The same client, whose requests go through another transport.
    package func over(_ makeTransport: (any ResourceTransport) -> any ResourceTransport) -> ResourceClient {
        var options = options
        options.transport = makeTransport(options.transport)
        return ResourceClient(self, options)
    }

    private init(_ other: ResourceClient, _ options: AssetOptions) {
        self.options = options
        policy = other.policy
        credentials = other.credentials
        retrier = other.retrier
    }

    /// The same client for the same stream at another URL.
    package func moved(to url: String) -> ResourceClient {
        var client = self
        client.policy = .forItem(at: url, allowsFilesAnywhere: options.allowsFilesAnywhere)
        options.hooks.admit(to: &client.policy)
        client.credentials = options.credentials(for: url)
        return client
    }

    /// Loads a resource. What failed is tried again as ``AssetOptions/retryPolicies`` say, with a new reader.
    ///
    /// - Parameters:
    ///   - source: the playlist that names it; nil for the asset's own URL.
    ///   - limit: the largest body that is accepted, in bytes.
    ///   - key: which key it is, and why it is asked for.
    ///   - terms: how failures are taken; nil for those of a resource that is loaded once.
    ///   - account: what counts the failures, where that is wanted of other resources as well.
    ///   - mayBeBeyondEnd: `range` is asked for to find out where the resource ends.
    ///   - hedgeDelay: after so long without a byte it is asked once more beside.
    ///   - timeout: from start to end, of each try; nil for that of the options.
    ///   - clientData: what servers may be told with it, besides what it is.
    ///   - lesserURL: gives a part that is enough, or what is to come: tried first, and `url` where that is refused or of no
    ///     use.
    ///   - heldFor: the server may hold the answer from there so long.
    /// - Throws: ``HLSError``, or `CancellationError`.
    package func load<Reader: ResourceReader>(
        _ url: String, _ resourceClass: ResourceClass, range: Range<UInt64>? = nil, limit: Int, namedBy source: String?,
        key: ResourceID? = nil, keyReason: ContentKeyRequest.Reason = .needed, terms: RetryTerms? = nil,
        account: RequestRetrier.Account? = nil,
        mayBeBeyondEnd: Bool = false,
        hedgeDelay: Duration? = nil, timeout: Duration? = nil, clientData: ClientDataNote? = nil,
        lesserURL: String? = nil, heldFor: Duration? = nil, _ makeReader: () -> Reader
    ) async throws -> Reader.Output {
        let role: LoadingFailure.Role = resourceClass == .key ? .key : source == nil ? .named : .listed
        do {
            try policy.check(url, resourceClass: resourceClass, namedBy: source)
        } catch {
            throw HLSError(error, as: role)
        }
        var request = TransportRequest(
            urlString: url, resourceClass: resourceClass, fields: credentials.fields,
            credentialOrigins: credentials.origins, byteRange: range, timeouts: options.timeouts[resourceClass],
            maximumByteCount: limit)
        request.keyFormat = key?.keyFormat
        request.keyReason = keyReason
        request.hedgeDelay = hedgeDelay
        request.clientData = clientData
        if let timeout { request.timeouts.total = timeout }
        let retried = RequestRetrier.Request(
            url: url, terms: terms ?? RetryTerms(kind: source == nil ? .firstPlaylist : .init(resourceClass)),
            deliversMedia: resourceClass.isMedia, mayBeBeyondEnd: mayBeBeyondEnd, account: account)
        var tries = 0
        do {
            return try await retrier.value(of: retried) { [request] in
                tries += 1
                if tries == 1, let lesserURL {
                    var lesser = request
                    lesser.urlString = lesserURL
                    if let heldFor { lesser.hold(for: heldFor) }
                    do {
                        return try await attempt(lesser, makeReader())
                    } catch let error as LoadingError where LoadingFailure.isRefusal(error.status) {
                    } catch is PlaylistError {
                    }
                }
                return try await attempt(request, makeReader())
            }
        } catch let error as LoadingError {
            throw HLSError(error, as: role).at(attempt: tries)
        } catch let error as PlaylistError {
            throw HLSError(error, url: url).at(attempt: tries)
        } catch let error as MediaError {
            throw HLSError(error, url: url).at(attempt: tries)
        } catch let error as DecryptionError {
            throw HLSError(error, url: url).at(attempt: tries)
        }
    }

    /// All bytes of a resource.
    package func bytes(
        _ url: String, _ resourceClass: ResourceClass, range: Range<UInt64>? = nil, limit: Int, namedBy source: String?,
        terms: RetryTerms? = nil, mayBeBeyondEnd: Bool = false, clientData: ClientDataNote? = nil
    ) async throws -> [UInt8] {
        try await load(
            url, resourceClass, range: range, limit: limit, namedBy: source, terms: terms,
            mayBeBeyondEnd: mayBeBeyondEnd, clientData: clientData
        ) { BytesReader() }.bytes
    }

    /// Which keys of the asset are used.
    package var keyRules: KeyRules { KeyRules(options.hooks) }

    /// A key of 16 bytes.
    ///
    /// - Parameter reason: why it is asked for.
    package func key(
        _ key: ResourceID, namedBy source: String, for reason: ContentKeyRequest.Reason = .needed,
        terms: RetryTerms? = nil
    ) async throws -> (bytes: [UInt8], terms: KeyTerms?) {
        let answer = try await load(
            key.url, .key, range: key.byteRange, limit: ResourceLimits.keyByteCount, namedBy: source, key: key,
            keyReason: reason, terms: terms
        ) { BytesReader() }
        guard answer.bytes.count == AES128Decryptor.blockByteCount else {
            throw HLSError(
                code: .contentKey, urlString: key.url, cause: HLSError.badKeyLength,
                detail: "\(answer.bytes.count) bytes")
        }
        return (answer.bytes, answer.response?.keyTerms)
    }

    private func attempt<Reader: ResourceReader>(
        _ request: TransportRequest, _ reader: consuming Reader
    ) async throws -> Reader.Output {
        var reader = reader
        for await event in options.transport.events(for: request) {
            switch event {
            case .response(let response): try reader.begin(response)
            case .data(let bytes):
                if let output = try reader.take(bytes) { return output }
            case .finished: return try reader.finish()
            case .failed(let error, _):
                if error.code == .emptyBody, reader.mayBeEmpty { return try reader.finish() }
                throw LoadingError(error)
            }
        }
        throw CancellationError()
    }
}

extension AssetOptions {
    /// What requests carry for the item at `url`.
    fileprivate func credentials(for url: String) -> RequestCredentials {
        var fields = allFields
        if let id = playbackSessionID { fields.append(TransportField(name: "X-Playback-Session-Id", value: id)) }
        return RequestCredentials(url: url, fields, origins: credentialOrigins)
    }
}

extension AssetOptions {
    /// What servers are told of a session that shows nothing.
    fileprivate var clientDataParts: (ClientData, String, ClientDataFacts)? {
        guard let clientData else { return nil }
        var facts = ClientDataFacts()
        facts.isNotRendered = true
        var ids = SessionIDGenerator(seed: clock.isOfThisMachine ? nil : seed)
        return (clientData, playbackSessionID ?? ids.next(), facts)
    }
}

extension HLSError {
    /// The cause where what came as a key is none.
    package static let badKeyLength = "the key is not 16 bytes long"
}

/// Collects all bytes.
private struct BytesReader: ResourceReader {
    private var response: TransportResponse?
    private var bytes: [UInt8] = []

    mutating func begin(_ response: TransportResponse) { self.response = response }

    mutating func take(_ bytes: [UInt8]) -> (bytes: [UInt8], response: TransportResponse?)? {
        if self.bytes.isEmpty { self.bytes = bytes } else { self.bytes += bytes }
        return nil
    }

    mutating func finish() -> (bytes: [UInt8], response: TransportResponse?) { (bytes, response) }
}

extension Array {
    /// nil if there is no such element.
    package subscript(safe index: Int) -> Element? { indices.contains(index) ? self[index] : nil }
}
