import Synchronization

/// A cache of complete resources in memory, for users that load the same resources again.
///
/// Examples are copies of an item, or an asset and an item created from it. The cache keeps complete resources until it
/// is full, because the first resources are the first ones needed in the next round. It keeps playlists only if they
/// will not change.
package final class ResourceCache: Sendable {
    private struct Key: Hashable {
        var url: String
        var byteRange: Range<UInt64>?
    }

    private struct Entry {
        var response: TransportResponse
        var chunks: [[UInt8]]
        var metrics: TransferMetrics
    }

    private struct State {
        var entries: [Key: Entry] = [:]
        var byteCount = 0
        var keepsMedia: Bool
        var keepsKeys = false
    }

    /// The space for media in bytes.
    package static let defaultLimit = 64 << 20

    private let limit: Int
    private let state: Mutex<State>
    fileprivate let stored: (any StoredMedia)?

    /// - Parameter keepsMedia: Whether to keep segments in addition to playlists.
    package init(keepsMedia: Bool, limit: Int = ResourceCache.defaultLimit, stored: (any StoredMedia)? = nil) {
        self.limit = limit
        self.stored = stored
        state = Mutex(State(keepsMedia: keepsMedia))
    }

    package func keepMedia() { state.withLock { $0.keepsMedia = true } }

    package func keepKeys() { state.withLock { $0.keepsKeys = true } }

    var byteCount: Int { state.withLock { $0.byteCount } }

    /// Returns a transport that serves cached resources, and loads others from `base`.
    ///
    /// - Parameters:
    ///   - passesMultivariant: Whether multivariant playlists always come from `base`.
    ///   - executor: The executor that delivers cached resources, or nil for the global one.
    package func transport(
        over base: any ResourceTransport, passesMultivariant: Bool = false, on executor: (any TaskExecutor)?
    ) -> any ResourceTransport {
        CachingTransport(cache: self, base: base, passesMultivariant: passesMultivariant, executor: executor)
    }

    fileprivate func entry(for request: TransportRequest) -> [TransportEvent]? {
        guard request.keyReason == .needed else { return nil }
        let key = Key(url: request.urlString, byteRange: request.byteRange)
        guard let entry = state.withLock({ $0.entries[key] }),
            entry.metrics.decodedByteCount <= request.maximumByteCount
        else { return nil }
        return [.response(entry.response)] + entry.chunks.map { .data($0) } + [.finished(entry.metrics)]
    }

    fileprivate func mayKeep(_ request: TransportRequest) -> Bool {
        // The resource may end elsewhere the next time.
        if request.byteRange?.isOpenEnded == true { return false }
        switch request.resourceClass {
        case .multivariantPlaylist, .mediaPlaylist: return true
        case .segment, .initializationSection: return state.withLock { $0.keepsMedia }
        case .key: return request.keyReason == .needed && state.withLock { $0.keepsMedia || $0.keepsKeys }
        case .sessionData, .report, .steering, .assetList: return false
        }
    }

    fileprivate func keep(_ request: TransportRequest, _ response: TransportResponse, _ chunks: [[UInt8]]) {
        let isPlaylist = [.multivariantPlaylist, .mediaPlaylist].contains(request.resourceClass)
        if isPlaylist, !Self.isFinal(chunks) { return }
        // A key with limited validity is requested each time.
        if let terms = response.keyTerms, terms.renewal != nil || terms.expiration != nil { return }
        let byteCount = chunks.reduce(0) { $0 + $1.count }
        var response = response
        response.wasReadFromCache = true
        var metrics = TransferMetrics()
        metrics.decodedByteCount = byteCount
        metrics.protocolName = "cache"
        let entry = Entry(response: response, chunks: chunks, metrics: metrics)
        let key = Key(url: request.urlString, byteRange: request.byteRange)
        state.withLock { state in
            guard state.entries[key] == nil, state.byteCount + byteCount <= limit else { return }
            state.entries[key] = entry
            state.byteCount += byteCount
        }
    }

    /// Whether a playlist will not change: a multivariant playlist, or a media playlist with an end tag.
    package static func isFinal(_ chunks: [[UInt8]]) -> Bool {
        // Check the beginning first, because media may be large.
        let head = Array(chunks.lazy.joined().prefix(10))
        guard head.starts(with: "#EXTM3U".utf8) || head.starts(with: "\u{FEFF}#EXTM3U".utf8) else { return false }
        let text = String(decoding: chunks.joined(), as: UTF8.self)
        guard text.hasPrefix("#EXTM3U") || text.hasPrefix("\u{FEFF}#EXTM3U") else { return false }
        let lines = text.split(whereSeparator: \.isNewline)
        return lines.contains { $0.hasPrefix("#EXT-X-ENDLIST") || $0.hasPrefix("#EXT-X-STREAM-INF") }
    }
}

private struct CachingTransport: ResourceTransport {
    let cache: ResourceCache
    let base: any ResourceTransport
    let passesMultivariant: Bool
    let executor: (any TaskExecutor)?

    func start(
        _ request: TransportRequest, handler: @escaping @Sendable (TransportEvent) -> Void
    ) -> any TransportTask {
        if passesMultivariant, request.resourceClass == .multivariantPlaylist {
            return base.start(request, handler: handler)
        }
        if let events = cache.entry(for: request) {
            return SyntheticResponse(events, on: executor, handler: handler)
        }
        if let read = cache.stored?.reader(for: request) {
            return SyntheticResponse(to: request, on: executor, handler: handler, reading: read) {
                load(request, handler: handler)
            }
        }
        return load(request, handler: handler)
    }

    private func load(
        _ request: TransportRequest, handler: @escaping @Sendable (TransportEvent) -> Void
    ) -> any TransportTask {
        guard cache.mayKeep(request) else { return base.start(request, handler: handler) }
        let copy = Copy(cache: cache, request: request)
        return base.start(request) { event in
            copy.take(event)
            handler(event)
        }
    }
}

private final class Copy: Sendable {
    private struct State {
        var response: TransportResponse?
        var chunks: [[UInt8]] = []
        var byteCount = 0
    }

    private let cache: ResourceCache
    private let request: TransportRequest
    private let state = Mutex(State())

    init(cache: ResourceCache, request: TransportRequest) {
        self.cache = cache
        self.request = request
    }

    func take(_ event: TransportEvent) {
        switch event {
        case .response(let response): state.withLock { $0.response = response }
        case .data(let bytes):
            state.withLock { state in
                state.byteCount += bytes.count
                // Do not collect a resource that will not fit.
                if state.byteCount > ResourceCache.defaultLimit { state.response = nil }
                if state.response == nil { state.chunks = [] } else { state.chunks.append(bytes) }
            }
        case .finished:
            let (response, chunks) = state.withLock { ($0.response, $0.chunks) }
            if let response { cache.keep(request, response, chunks) }
        case .failed: break
        }
    }
}
