import Synchronization

/// Whole resources in memory, for those who load the same ones again: copies of an item, an asset and the item made of
/// it.
///
/// Keeps what arrived complete until there is no more room: what comes first is what is needed first in the next round.
/// Playlists are kept where they will not change.
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

    /// Room for media, bytes.
    package static let defaultLimit = 64 << 20

    private let limit: Int
    private let state: Mutex<State>
    /// What is on the disk besides.
    fileprivate let stored: (any StoredMedia)?

    /// - Parameter keepsMedia: segments too; else playlists only.
    package init(keepsMedia: Bool, limit: Int = ResourceCache.defaultLimit, stored: (any StoredMedia)? = nil) {
        self.limit = limit
        self.stored = stored
        state = Mutex(State(keepsMedia: keepsMedia))
    }

    /// From now on segments are kept as well.
    package func keepMedia() { state.withLock { $0.keepsMedia = true } }

    /// From now on keys are kept as well.
    package func keepKeys() { state.withLock { $0.keepsKeys = true } }

    var byteCount: Int { state.withLock { $0.byteCount } }

    /// A transport that answers from here what is here, and asks `base` for the rest.
    ///
    /// - Parameters:
    ///   - passesMultivariant: multivariant playlists come from `base` only.
    ///   - executor: where what is here is told; nil for the global one.
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
        // It may end elsewhere the next time.
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
        // What is good for a while only is asked for each time.
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

    /// Whether a playlist stays what it is: a list of variants, or of segments that has its end.
    package static func isFinal(_ chunks: [[UInt8]]) -> Bool {
        // What is media may be large.
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
            return MadeAnswer(events, on: executor, handler: handler)
        }
        if let read = cache.stored?.reader(for: request) {
            return MadeAnswer(to: request, on: executor, handler: handler, reading: read) {
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

/// Collects one resource on its way.
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
                // What will not fit is not collected either.
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
