/// Segments, initialization sections and keys that are on the disk already.
protocol StoredMedia: Sendable {
    /// What reads all that a request asks for; nil where it is not there. Touches no disk itself.
    ///
    /// The closure gives nil where the file is not what it was; the next request is then not answered from here.
    func reader(for request: TransportRequest) -> (@Sendable () async -> [UInt8]?)?
}

extension MadeAnswer {
    /// Answers a request with what `read` gives.
    convenience init(
        to request: TransportRequest, on executor: (any TaskExecutor)?,
        handler: @escaping @Sendable (TransportEvent) -> Void, reading read: @escaping @Sendable () async -> [UInt8]?
    ) {
        self.init(on: executor, handler: handler) {
            var metrics = TransferMetrics()
            metrics.protocolName = "file"
            guard let bytes = await read(), bytes.count <= request.maximumByteCount else {
                let error = LoadingError(
                    code: .transport, url: request.urlString, text: "the stored file cannot be read")
                return [.failed(error, metrics)]
            }
            metrics.decodedByteCount = bytes.count
            var response = TransportResponse(
                status: request.byteRange == nil ? 200 : 206, urlString: request.urlString, contentLength: bytes.count)
            response.wasReadFromCache = true
            return [.response(response), .data(bytes), .finished(metrics)]
        }
    }
}
