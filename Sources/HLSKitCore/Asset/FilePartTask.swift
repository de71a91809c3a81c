import HLSPlaylist
import Synchronization

/// Bytes that are made, and parts of a file that follow them.
struct FilePart: Sendable {
    var head: [UInt8]
    var ranges: [Range<UInt64>]

    var byteCount: Int { ranges.reduce(head.count) { $0 + Int(clamping: $1.upperBound - $1.lowerBound) } }
}

/// Delivers a part of a file as one body: asks for its ranges one after the other.
final class FilePartTask: TransportTask {
    private struct State {
        /// The number of the request that is under way, from 1.
        var number = 0
        var task: (any TransportTask)?
        var isCancelled = false
        var isPaused = false
        var metrics = TransferMetrics()
    }

    private let part: FilePart
    private let request: TransportRequest
    private let url: String
    private let base: any Transport
    private let handler: @Sendable (TransportEvent) -> Void
    private let state = Mutex(State())

    /// - Parameters:
    ///   - request: for the file as a whole.
    ///   - url: what the part is called.
    init(
        _ part: FilePart, of request: TransportRequest, named url: String, over base: any Transport,
        handler: @escaping @Sendable (TransportEvent) -> Void
    ) {
        self.part = part
        self.request = request
        self.url = url
        self.base = base
        self.handler = handler
    }

    func begin() {
        guard part.ranges.isEmpty else { return next() }
        Task {
            guard !state.withLock({ $0.isCancelled }) else { return }
            if part.head.isEmpty {
                handler(
                    .failed(
                        LoadingError(code: .emptyBody, url: url, text: "the file ends before it"), TransferMetrics()))
                return
            }
            respond(TransportResponse(status: 200, url: url))
            handler(.finished(TransferMetrics()))
        }
    }

    func cancel() {
        let task = state.withLock { state in
            state.isCancelled = true
            return state.task.take()
        }
        task?.cancel()
    }

    func pause() {
        state.withLock { state in
            state.isPaused = true
            return state.task
        }?.pause()
    }

    func resume() {
        state.withLock { state in
            state.isPaused = false
            return state.task
        }?.resume()
    }

    /// Asks for the next range.
    private func next() {
        let number = state.withLock { state -> Int? in
            guard !state.isCancelled else { return nil }
            state.number += 1
            return state.number
        }
        guard let number else { return }
        var request = request
        let range = part.ranges[number - 1]
        request.byteRange = range
        request.maximumByteCount = Int(clamping: range.upperBound - range.lowerBound)
        let task = base.start(request) { [self] event in take(event) }
        // A transport may have ended the request by now, and the next be under way.
        let (isStale, isPaused) = state.withLock { state in
            let isStale = state.isCancelled || state.number != number
            if !isStale { state.task = task }
            return (isStale, state.isPaused)
        }
        if isStale { task.cancel() } else if isPaused { task.pause() }
    }

    private func take(_ event: TransportEvent) {
        switch event {
        case .response(let response):
            if state.withLock({ $0.number == 1 }) { respond(response) }
        case .data: handler(event)
        case .finished(let metrics):
            let (sum, isLast) = state.withLock { state in
                state.metrics.add(metrics, isFirst: state.number == 1)
                state.task = nil
                return (state.metrics, state.number == part.ranges.count)
            }
            if isLast { handler(.finished(sum)) } else { next() }
        case .failed(let error, let metrics):
            let sum = state.withLock { state in
                state.metrics.add(metrics, isFirst: state.number == 1)
                state.task = nil
                return state.metrics
            }
            handler(.failed(error, sum))
        }
    }

    private func respond(_ response: TransportResponse) {
        var response = response
        response.url = url
        response.contentLength = part.byteCount
        handler(.response(response))
        if !part.head.isEmpty { handler(.data(part.head)) }
    }
}

extension TransferMetrics {
    /// Adds a transfer that followed.
    fileprivate mutating func add(_ other: TransferMetrics, isFirst: Bool) {
        if isFirst {
            self = other
        } else {
            receivedByteCount += other.receivedByteCount
            decodedByteCount += other.decodedByteCount
            total += other.total
            isLengthUnverified = isLengthUnverified || other.isLengthUnverified
        }
    }
}
