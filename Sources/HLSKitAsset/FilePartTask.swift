import HLSKitLoading
import HLSKitPlaylist
import Synchronization

struct FilePart: Sendable {
    var head: [UInt8]
    var ranges: [Range<UInt64>]

    var byteCount: Int { ranges.reduce(head.count) { $0 + Int(clamping: $1.upperBound - $1.lowerBound) } }

    func made(named url: String) -> [TransportEvent] {
        guard !head.isEmpty else {
            let error = LoadingError(code: .emptyBody, url: url, text: "the file ends before it")
            return [.failed(error, TransferMetrics())]
        }
        let response = described(TransportResponse(status: 200, urlString: url), named: url)
        return [.response(response), .data(head), .finished(TransferMetrics())]
    }

    fileprivate func described(_ response: TransportResponse, named url: String) -> TransportResponse {
        var response = response
        response.urlString = url
        response.contentLength = byteCount
        return response
    }
}

/// Delivers a part of a file as one body. Requests its ranges, at least one, one after the other.
final class FilePartTask: TransportTask {
    private let part: FilePart
    private let request: TransportRequest
    private let url: String
    private let handler: @Sendable (TransportEvent) -> Void
    private let chain: TransferChain
    /// The number of requested ranges.
    private let count = Mutex(0)

    init(
        _ part: FilePart, of request: TransportRequest, named url: String, over base: any ResourceTransport,
        handler: @escaping @Sendable (TransportEvent) -> Void
    ) {
        self.part = part
        self.request = request
        self.url = url
        self.handler = handler
        chain = TransferChain(over: base)
    }

    func begin() { next() }

    func cancel() { chain.cancel() }
    func pause() { chain.pause() }
    func resume() { chain.resume() }

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
        handler(.response(part.described(response, named: url)))
        if !part.head.isEmpty { handler(.data(part.head)) }
    }
}
