import HLSKitLoading
import HLSKitPlaylist
import Synchronization

/// Serves requests from a ``DiskCache`` if possible. If it ``stores``, it adds the responses of the network to the
/// cache.
struct DiskCacheTransport: ResourceTransport {
    let cache: DiskCache
    let base: any ResourceTransport
    let clock: any Clock<Duration>
    let stores: Bool

    func start(
        _ request: TransportRequest, handler: @escaping @Sendable (TransportEvent) -> Void
    ) -> any TransportTask {
        guard Self.isOfConcern(request) else { return base.start(request, handler: handler) }
        let task = DiskCacheTask(
            request, cache: cache, base: base, clock: clock, stores: stores, handler: handler)
        task.begin()
        return task
    }

    private static func isOfConcern(_ request: TransportRequest) -> Bool {
        guard let scheme = URIReference(request.urlString)?.scheme?.lowercased(), scheme == "http" || scheme == "https"
        else {
            return false
        }
        // A growing resource is not worth storing.
        if request.byteRange?.isOpenEnded == true { return false }
        switch request.resourceClass {
        case .segment, .initializationSection, .multivariantPlaylist, .mediaPlaylist: return true
        case .key, .sessionData, .report, .steering, .assetList: return false
        }
    }
}

/// One request: a disk lookup, then the network if needed, then the disk again if the server confirms the entry.
private final class DiskCacheTask: TransportTask {
    private struct State {
        /// The response of the network, or nil if it must not be stored.
        var response: TransportResponse?
        var body: [UInt8] = []
        var began: Int64 = 0
    }

    private let request: TransportRequest
    private let cache: DiskCache
    private let base: any ResourceTransport
    private let clock: any Clock<Duration>
    private let executor: (any TaskExecutor)?
    private let stores: Bool
    private let handler: @Sendable (TransportEvent) -> Void
    private let slot = TransferSlot()
    private let state = Mutex(State())

    init(
        _ request: TransportRequest, cache: DiskCache, base: any ResourceTransport, clock: any Clock<Duration>,
        stores: Bool, handler: @escaping @Sendable (TransportEvent) -> Void
    ) {
        self.request = request
        self.cache = cache
        self.base = base
        self.clock = clock
        executor = clock.executor
        self.stores = stores
        self.handler = handler
    }

    func begin() {
        slot.start { _ in
            SyntheticResponse(on: executor, handler: handler) { [self] in
                let request = request
                switch await cache.find(request, clock: clock) {
                case .fresh(let stored): return stored.events
                case .stale(let stored): load(revalidating: stored)
                case .nothing: load(revalidating: nil)
                }
                return []
            }
        }
    }

    private func load(revalidating stored: StoredResponse?) {
        var request = request
        if let stored {
            request.fields += stored.conditions
            request.ownFieldNames.formUnion(stored.conditions.map { $0.name.lowercased() })
        }
        let conditional = request
        let began = cache.time
        state.withLock { $0.began = began }
        slot.start { number in
            base.start(conditional) { [self] event in take(event, of: number, revalidating: stored) }
        }
    }

    private func take(_ event: TransportEvent, of number: Int, revalidating stored: StoredResponse?) {
        switch event {
        case .failed(let error, _) where error.statusCode == 304:
            if let stored { return reuse(stored, error.fields) }
        case .response(let response):
            if stores, cache.mayStore(response, of: request) { state.withLock { $0.response = response } }
        case .data(let bytes):
            state.withLock { state in
                guard state.response != nil else { return }
                if cache.isTooLarge(state.body.count + bytes.count) {
                    (state.response, state.body) = (nil, [])
                } else {
                    state.body += bytes
                }
            }
        case .finished(let metrics):
            let (response, body, began) = state.withLock { state in
                defer { (state.response, state.body) = (nil, []) }
                return (state.response, state.body, state.began)
            }
            slot.end(number)
            if let response, !metrics.isLengthUnverified, isLasting(body) {
                // The age of a response counts from the time of its request.
                let key = StoredResponse.Key(request)
                cache.store(StoredResponse(key: key, response: response, validated: began, body: body), on: executor)
            }
        case .failed: slot.end(number)
        }
        handler(event)
    }

    private func reuse(_ stored: StoredResponse, _ fields: [TransportField]) {
        var current = stored
        current.revalidate(fields, at: state.withLock(\.began))
        cache.store(current, on: executor)
        slot.start { _ in SyntheticResponse(stored.events, on: executor, handler: handler) }
    }

    /// Whether a playlist is complete. Live playlists soon change.
    private func isLasting(_ body: [UInt8]) -> Bool {
        !request.resourceClass.isPlaylist || ResourceCache.isFinal([body])
    }

    // MARK: Control

    func cancel() {
        slot.cancel()
        state.withLock { ($0.response, $0.body) = (nil, []) }
    }

    func pause() { slot.pause() }
    func resume() { slot.resume() }
}
