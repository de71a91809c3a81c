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
    private let part: FilePart
    private let request: TransportRequest
    private let url: String
    private let executor: (any TaskExecutor)?
    private let handler: @Sendable (TransportEvent) -> Void
    private let chain: TransferChain
    /// Ranges that were asked for.
    private let count = Mutex(0)

    /// - Parameters:
    ///   - request: for the file as a whole.
    ///   - url: what the part is called.
    ///   - executor: where what needs no request is answered; nil for the global one.
    init(
        _ part: FilePart, of request: TransportRequest, named url: String, over base: any Transport,
        on executor: (any TaskExecutor)?, handler: @escaping @Sendable (TransportEvent) -> Void
    ) {
        self.part = part
        self.request = request
        self.url = url
        self.executor = executor
        self.handler = handler
        chain = TransferChain(over: base)
    }

    func begin() {
        guard part.ranges.isEmpty else { return next() }
        Task(executorPreference: executor) { [self] in
            guard !chain.isCancelled else { return }
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

    func cancel() { chain.cancel() }
    func pause() { chain.pause() }
    func resume() { chain.resume() }

    /// Asks for the next range.
    private func next() {
        let index = count.withLock { count in
            count += 1
            return count - 1
        }
        var request = request
        let range = part.ranges[index]
        request.byteRange = range
        request.maximumByteCount = Int(clamping: range.upperBound - range.lowerBound)
        chain.start(request) { [self] event in
            switch event {
            case .response(let response): if index == 0 { respond(response) }
            case .finished where index + 1 < part.ranges.count: next()
            case .data, .finished, .failed: handler(event)
            }
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
