package import HLSKitAsset
package import HLSKitLoading
import Synchronization

/// A transport that answers from a table in memory, at once or on release, and records its requests.
package final class TableTransport: ResourceTransport {
    private struct State {
        var requests: [TransportRequest] = []
        var held: [@Sendable () -> Void] = []
        var isHolding = false
        var cancelCount = 0
        var failures: [String: [LoadingError.Code]] = [:]
        var watchers: [(count: Int, continuation: CheckedContinuation<Void, Never>)] = []
    }

    private final class Task: TransportTask {
        let isCancelled = Mutex(false)
        let onCancel: @Sendable () -> Void
        init(onCancel: @escaping @Sendable () -> Void) { self.onCancel = onCancel }
        func cancel() {
            let isFirst = isCancelled.withLock { flag in
                defer { flag = true }
                return !flag
            }
            if isFirst { onCancel() }
        }
        func pause() {}
        func resume() {}
    }

    private let resources: [String: [UInt8]]
    private let state = Mutex(State())
    /// The size of one `.data` event.
    private let pieceByteCount: Int
    private let declaresLength: Bool
    private let takesRanges: Bool
    private let fields: [TransportField]

    package init(
        _ resources: [String: [UInt8]], pieceByteCount: Int = 1 << 16, declaresLength: Bool = true,
        takesRanges: Bool = true, fields: [TransportField] = []
    ) {
        self.fields = fields
        self.resources = resources
        self.pieceByteCount = pieceByteCount
        self.declaresLength = declaresLength
        self.takesRanges = takesRanges
    }

    package convenience init(texts: [String: String]) { self.init(texts.mapValues { Array($0.utf8) }) }

    package var requests: [TransportRequest] { state.withLock { $0.requests } }
    package var urls: [String] { requests.map(\.urlString) }
    package var cancelCount: Int { state.withLock { $0.cancelCount } }

    package func hold() { state.withLock { $0.isHolding = true } }

    package func release() {
        let held = state.withLock { state in
            state.isHolding = false
            defer { state.held = [] }
            return state.held
        }
        for answer in held { answer() }
    }

    package func fail(_ url: String, with codes: [LoadingError.Code]) { state.withLock { $0.failures[url] = codes } }

    package func waitForRequests(_ count: Int) async {
        await withCheckedContinuation { continuation in
            let isThere = state.withLock { state in
                if state.requests.count >= count { return true }
                state.watchers.append((count, continuation))
                return false
            }
            if isThere { continuation.resume() }
        }
    }

    package func start(
        _ request: TransportRequest, handler: @escaping @Sendable (TransportEvent) -> Void
    ) -> any TransportTask {
        let box = OverBox()
        let task = Task { [self] in
            if !box.isOver { state.withLock { $0.cancelCount += 1 } }
        }
        let answer: @Sendable () -> Void = { [self] in
            for event in events(for: request) {
                if task.isCancelled.withLock({ $0 }) { return }
                switch event {
                case .finished, .failed: box.end()
                case .response, .data: break
                }
                handler(event)
            }
        }
        let (isHeld, ready) = state.withLock { state in
            state.requests.append(request)
            let ready = state.watchers.filter { $0.count <= state.requests.count }
            state.watchers.removeAll { $0.count <= state.requests.count }
            if state.isHolding { state.held.append(answer) }
            return (state.isHolding, ready)
        }
        for watcher in ready { watcher.continuation.resume() }
        if !isHeld { answer() }
        return task
    }

    private final class OverBox: Sendable {
        private let flag = Mutex(false)
        var isOver: Bool { flag.withLock { $0 } }
        func end() { flag.withLock { $0 = true } }
    }

    private func events(for request: TransportRequest) -> [TransportEvent] {
        let failure = state.withLock { state -> LoadingError.Code? in
            guard let first = state.failures[request.urlString]?.first else { return nil }
            state.failures[request.urlString]?.removeFirst()
            return first
        }
        if let failure {
            let error = LoadingError(
                code: failure, url: request.urlString, status: failure == .httpStatus ? 503 : nil, text: "as told")
            return [.failed(error, TransferMetrics())]
        }
        guard let resource = resources[request.urlString] else {
            return [
                .failed(
                    LoadingError(code: .httpStatus, url: request.urlString, status: 404, text: "HTTP 404"),
                    TransferMetrics())
            ]
        }
        var body = resource[...]
        if let range = request.byteRange {
            guard range.upperBound <= UInt64(resource.count) else {
                return [
                    .failed(
                        LoadingError(code: .badRange, url: request.urlString, status: 206, text: "beyond the end"),
                        TransferMetrics())
                ]
            }
            body = resource[Int(range.lowerBound)..<Int(range.upperBound)]
        }
        guard body.count <= request.maximumByteCount else {
            return [
                .failed(LoadingError(code: .tooLarge, url: request.urlString, text: "too large"), TransferMetrics())
            ]
        }
        var fields = fields
        if let range = request.byteRange, takesRanges {
            let value = "bytes \(range.lowerBound)-\(range.upperBound - 1)/\(resource.count)"
            fields.append(TransportField(name: "Content-Range", value: value))
        }
        var events: [TransportEvent] = [
            .response(
                TransportResponse(
                    status: request.byteRange == nil || !takesRanges ? 200 : 206, urlString: request.urlString,
                    contentLength: declaresLength ? body.count : nil, fields: fields))
        ]
        while !body.isEmpty {
            events.append(.data(Array(body.prefix(pieceByteCount))))
            body = body.dropFirst(pieceByteCount)
        }
        return events + [.finished(TransferMetrics())]
    }
}

extension AssetOptions {
    /// Returns options for a table transport whose waits take almost no real time.
    package static func table(_ transport: TableTransport) -> AssetOptions {
        var options = AssetOptions(transport: transport)
        options.clock = FastClock(factor: 10_000)
        // A short delay by another test is half a minute on this clock, so the budget is large.
        options.retryPolicies.budget = .seconds(100_000)
        return options
    }
}

extension PropertyStatus {
    /// The name of the case, without its associated values.
    package var word: String {
        switch self {
        case .notYetLoaded: "notYetLoaded"
        case .loading: "loading"
        case .loaded: "loaded"
        case .failed: "failed"
        }
    }
}
