/// Segments, initialization sections and keys that are on disk already, or will be soon.
package protocol StoredMedia: Sendable {
    /// Returns a closure that reads the whole requested resource, or nil if it is not available. Does not access the
    /// disk itself.
    ///
    /// The closure may wait until the resource is available. It returns nil if the resource never arrives or was
    /// changed, and it is then loaded as if nothing were stored.
    func reader(for request: TransportRequest) -> (@Sendable () async -> [UInt8]?)?
}

extension SyntheticResponse {
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
