package import HLSKitLoading
import HLSKitMedia
import HLSKitNetwork
import HLSKitPlaylist
package import HLSKitSelection

package protocol ResourceReader: Sendable {
    associatedtype Output: Sendable
    var mayBeEmpty: Bool { get }
    mutating func begin(_ response: TransportResponse) throws
    /// Takes the next bytes. An output ends the transfer early.
    mutating func take(_ bytes: [UInt8]) throws -> Output?
    mutating func finish() throws -> Output
}

extension ResourceReader {
    package var mayBeEmpty: Bool { false }
}

/// Loads the resources of one asset: checks permissions, adds the configured header fields and retries failures.
package struct ResourceClient: Sendable {
    package let options: AssetOptions
    private var policy: ResourcePolicy
    private var credentials: RequestCredentials
    private let stack: TransportStack
    package let retrier: RequestRetrier

    /// - Parameters:
    ///   - opensFiles: Whether to present a bare media file as a stream.
    ///   - storesOnDisk: Whether the options' disk cache keeps loaded resources.
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
        stack = TransportStack(url: url, parts)
        var options = options
        options.transport = stack.transport
        self.options = options
        policy = stack.policy
        credentials = options.credentials(for: url)
        retrier = RequestRetrier(policies: options.retryPolicies, clock: options.clock, seed: options.seed)
    }

    package func over(_ makeTransport: (any ResourceTransport) -> any ResourceTransport) -> ResourceClient {
        var options = options
        options.transport = makeTransport(options.transport)
        return ResourceClient(self, options)
    }

    private init(_ other: ResourceClient, _ options: AssetOptions) {
        self.options = options
        policy = other.policy
        credentials = other.credentials
        stack = other.stack
        retrier = other.retrier
    }

    package var presentsFile: Bool { stack.isMediaFile }

    package func moved(to url: String) -> ResourceClient {
        var client = self
        client.policy = .forItem(at: url, allowsFilesAnywhere: options.allowsFilesAnywhere)
        options.hooks.admit(to: &client.policy)
        client.credentials = options.credentials(for: url)
        return client
    }

    /// Loads a resource. Retries failures according to ``AssetOptions/retryPolicies``, with a new reader each time.
    ///
    /// - Parameters:
    ///   - source: The playlist that names the resource, or `nil` for the asset's own URL.
    ///   - limit: The largest accepted body, in bytes.
    ///   - terms: The retry terms, or `nil` for the terms of a resource that is loaded once.
    ///   - account: The failure counter, if shared with other resources.
    ///   - mayBeBeyondEnd: Whether `range` may start after the end of the resource, to find out where it ends.
    ///   - hedgeDelay: The time without a byte after which a second request is made in parallel.
    ///   - timeout: The total time of each attempt, or `nil` for the options' timeout.
    ///   - clientData: The CMCD data to send, in addition to the kind of resource.
    ///   - lesserURL: A URL that returns a sufficient part of the resource, or its next version. It is tried first. If
    ///     it is refused or of no use, `url` is loaded.
    ///   - heldFor: The maximum time for which the server may delay the response from `lesserURL`.
    package func load<Reader: ResourceReader>(
        _ url: String, _ resourceClass: ResourceClass, range: Range<UInt64>? = nil, limit: Int, namedBy source: String?,
        key: ResourceID? = nil, keyReason: ContentKeyRequest.Reason = .needed, terms: RetryTerms? = nil,
        account: RequestRetrier.Account? = nil,
        mayBePastEnd: Bool = false,
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
            deliversMedia: resourceClass.isMedia, mayBePastEnd: mayBePastEnd, account: account)
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

    package func bytes(
        _ url: String, _ resourceClass: ResourceClass, range: Range<UInt64>? = nil, limit: Int, namedBy source: String?,
        terms: RetryTerms? = nil, mayBePastEnd: Bool = false, clientData: ClientDataNote? = nil
    ) async throws -> [UInt8] {
        try await load(
            url, resourceClass, range: range, limit: limit, namedBy: source, terms: terms,
            mayBePastEnd: mayBePastEnd, clientData: clientData
        ) { BytesReader() }.bytes
    }

    package var keyRules: KeyRules { KeyRules(options.hooks) }

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
    fileprivate func credentials(for url: String) -> RequestCredentials {
        var fields = allFields
        if let id = playbackSessionID { fields.append(TransportField(name: "X-Playback-Session-Id", value: id)) }
        return RequestCredentials(url: url, fields, origins: credentialOrigins)
    }
}

extension AssetOptions {
    fileprivate var clientDataParts: (ClientData, String, ClientDataFacts)? {
        guard let clientData else { return nil }
        var facts = ClientDataFacts()
        facts.isNotRendered = true
        var ids = SessionIDGenerator(seed: clock.isOfThisMachine ? nil : seed)
        return (clientData, playbackSessionID ?? ids.next(), facts)
    }
}

extension HLSError {
    package static let badKeyLength = "the key is not 16 bytes long"
}

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
    package subscript(safe index: Int) -> Element? { indices.contains(index) ? self[index] : nil }
}
