public import HLSKitLoading

/// A transport that reads `file:` and `data:` URLs on its own thread.
///
/// `data:` URLs are read for keys only. The caller decides from the playlist's location which files may be read.
public final class LocalTransport: ResourceTransport {
    private let reader: LocalReader

    /// Creates a transport.
    ///
    /// The thread of the transport starts with the first request.
    public init(clock: ContinuousClock = ContinuousClock()) { reader = LocalReader(clock: clock) }

    deinit { reader.stop() }

    public func start(
        _ request: TransportRequest, handler: @escaping @Sendable (TransportEvent) -> Void
    ) -> any TransportTask {
        // The task keeps the transport and its thread alive until the caller releases the task.
        let task = QueuedTask { [self] _ in reader.wake() }
        reader.add(LocalRead(request: request, task: task, handler: handler))
        return task
    }
}

private struct LocalRead: Sendable {
    let request: TransportRequest
    let task: QueuedTask
    let handler: @Sendable (TransportEvent) -> Void
}

private final class LocalReader: Sendable {
    private struct Queue {
        var added: [LocalRead] = []
        var isStarted = false
        var isStopped = false
        /// Whether a request was added, resumed or cancelled since the thread last checked.
        var isRung = false
    }

    private let queue = Monitor(Queue())
    private let clock: ContinuousClock

    private static let pieceByteCount = 256 << 10

    init(clock: ContinuousClock) {
        self.clock = clock
    }

    func add(_ read: LocalRead) {
        let isRunning = queue.withLock { queue in
            if !queue.isStarted {
                queue.isStarted = WorkerThread.start { [self] in run() }
            }
            if queue.isStarted { queue.added.append(read) }
            return queue.isStarted
        }
        if isRunning {
            wake()
        } else {
            let error = LoadingError(
                code: .transport, url: read.request.urlString, text: "no thread is left for reading files")
            read.handler(.failed(error, TransferMetrics()))
        }
    }

    func wake() { queue.signal { $0.isRung = true } }

    func stop() {
        queue.signal { queue in
            queue.isStopped = true
            queue.isRung = true
        }
    }

    private func run() {
        var active: [ActiveRead] = []
        var mayWait = false
        while true {
            let (added, isStopped) = queue.wait { queue -> ([LocalRead], Bool)? in
                if mayWait, !queue.isRung { return nil }
                defer {
                    queue.added = []
                    queue.isRung = false
                }
                return (queue.added, queue.isStopped)
            }
            if isStopped { return }
            active += added.map { ActiveRead($0, startedAt: clock.now) }
            // Read one piece of each in turn, so that a large file does not delay a playlist.
            active.removeAll { $0.readPiece(Self.pieceByteCount, clock) }
            mayWait = active.allSatisfy(\.isPaused)
        }
    }
}

/// A request in progress, confined to the reader's thread.
private final class ActiveRead {
    private let read: LocalRead
    private let startedAt: ContinuousClock.Instant
    private var file: LocalFile?
    private var rest: Range<UInt64> = 0..<0
    private var metrics = TransferMetrics()

    init(_ read: LocalRead, startedAt: ContinuousClock.Instant) {
        self.read = read
        self.startedAt = startedAt
    }

    var isPaused: Bool { read.task.isPaused && !read.task.isCancelled }

    /// Delivers the next piece.
    ///
    /// - Returns: Whether the request has ended.
    func readPiece(_ byteCount: Int, _ clock: ContinuousClock) -> Bool {
        if read.task.isCancelled { return true }
        if read.task.isPaused { return false }
        do throws(LoadingError) {
            if metrics.protocolName.isEmpty {
                return try begin(clock)
            }
            guard !rest.isEmpty else {
                finish(clock)
                return true
            }
            let count = Int(min(UInt64(byteCount), rest.upperBound - rest.lowerBound))
            let bytes = try file?.read(at: rest.lowerBound, count: count, url: read.request.urlString) ?? []
            guard !bytes.isEmpty else {
                throw error(.connectionLost, "the file was truncated while being read")
            }
            rest = (rest.lowerBound + UInt64(bytes.count))..<rest.upperBound
            metrics.receivedByteCount += bytes.count
            metrics.decodedByteCount += bytes.count
            read.handler(.data(bytes))
            return false
        } catch {
            metrics.total = clock.now - startedAt
            read.handler(.failed(error, metrics))
            return true
        }
    }

    /// Opens the resource and delivers its response, including the whole body of a `data:` URL.
    private func begin(_ clock: ContinuousClock) throws(LoadingError) -> Bool {
        let request = read.request
        if request.urlString.prefix(5).lowercased() == "data:" {
            metrics.protocolName = "data"
            guard request.resourceClass == .key else { throw error(.refused, "data: is allowed for keys only") }
            let data = try DataURL(request.urlString)
            let range = try range(of: UInt64(data.bytes.count))
            respond(contentType: data.contentType.isEmpty ? nil : data.contentType, range, clock)
            metrics.receivedByteCount = data.bytes.count
            metrics.decodedByteCount = range.count
            if !read.task.isCancelled {
                read.handler(.data(Array(data.bytes[Int(range.lowerBound)..<Int(range.upperBound)])))
            }
            if !read.task.isCancelled { finish(clock) }
            return true
        }
        metrics.protocolName = "file"
        let file = try LocalFile(at: request.urlString)
        rest = try range(of: file.byteCount)
        self.file = consume file
        respond(contentType: nil, rest, clock)
        return false
    }

    private func range(of byteCount: UInt64) throws(LoadingError) -> Range<UInt64> {
        guard byteCount > 0 else { throw error(.emptyBody, "0 bytes") }
        guard let range = (read.request.byteRange ?? 0..<byteCount).bytes(ofResourceOf: byteCount) else {
            let wanted = read.request.byteRange?.headerText ?? ""
            throw error(.badRange, "requested bytes \(wanted) of a file of \(byteCount) bytes")
        }
        let limit = read.request.maximumByteCount
        guard range.upperBound - range.lowerBound <= UInt64(max(0, limit)) else {
            throw error(.tooLarge, "\(range.upperBound - range.lowerBound) bytes, the limit is \(limit)")
        }
        return range
    }

    private func respond(contentType: String?, _ range: Range<UInt64>, _ clock: ContinuousClock) {
        metrics.firstByte = clock.now - startedAt
        read.handler(
            .response(
                TransportResponse(
                    status: read.request.byteRange == nil ? 200 : 206, urlString: read.request.urlString,
                    contentType: contentType, contentLength: Int(clamping: range.upperBound - range.lowerBound))))
    }

    private func finish(_ clock: ContinuousClock) {
        metrics.total = clock.now - startedAt
        read.handler(.finished(metrics))
    }

    private func error(_ code: LoadingError.Code, _ text: String) -> LoadingError {
        LoadingError(code: code, url: metrics.protocolName == "data" ? "data:" : read.request.urlString, text: text)
    }
}
