/// Segments, initialization sections and keys that are on the disk already, or will be soon.
package protocol StoredMedia: Sendable {
    /// What reads all that a request asks for; nil where it is not there. Touches no disk itself.
    ///
    /// The closure may wait until it is there. It gives nil where it does not come, or is not what it was: it is then loaded
    /// as if nothing were stored.
    func reader(for request: TransportRequest) -> (@Sendable () async -> [UInt8]?)?
}

extension MadeAnswer {
    /// Answers a request with what `read` gives, or with a transfer where that gives nothing.
    convenience init(
        to request: TransportRequest, on executor: (any TaskExecutor)?,
        handler: @escaping @Sendable (TransportEvent) -> Void, reading read: @escaping @Sendable () async -> [UInt8]?,
        orStarting start: @escaping @Sendable () -> any TransportTask
    ) {
        self.init(
            on: executor, handler: handler,
            making: {
                guard let bytes = await read(), bytes.count <= request.maximumByteCount else { return nil }
                var metrics = TransferMetrics()
                metrics.protocolName = "file"
                metrics.decodedByteCount = bytes.count
                var response = TransportResponse(
                    status: request.byteRange == nil ? 200 : 206, urlString: request.urlString,
                    contentLength: bytes.count)
                response.wasReadFromCache = true
                return [.response(response), .data(bytes), .finished(metrics)]
            }, orStarting: start)
    }
}
