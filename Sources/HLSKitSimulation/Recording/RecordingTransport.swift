public import HLSKitCore
import Synchronization

/// A transport that records the traffic of another one as a ``NetworkRecording``, line by line.
///
/// Memory does not grow with the recording. A line is written to the file before the caller receives the event, on the
/// thread of the other transport.
public final class RecordingTransport: ResourceTransport {
    private struct State {
        var lastID = 0
        var open: Set<Int> = []
        var epoch: Duration?
        var isFinished = false
    }

    private let base: any ResourceTransport
    private let file: RecordingFile
    private let now: @Sendable () -> Duration
    private let state = Mutex(State())

    /// Creates a transport and its file.
    ///
    /// - Parameters:
    ///   - base: The transport that fetches the bytes.
    ///   - path: The path of the file, which only its owner can read.
    ///   - overwrite: Whether to replace an existing file.
    ///   - clock: The clock for all times.
    ///   - url: The URL of the session.
    ///   - options: The arguments that your app needs to play it in the same way, without secrets.
    ///   - tool: The name and version of your app.
    /// - Throws: `HLSError` if the file cannot be created.
    public init(
        base: any ResourceTransport, path: String, overwrite: Bool = false, clock: some Clock<Duration>, url: String,
        options: [String] = [], tool: String? = nil
    ) throws(HLSError) {
        self.base = base
        file = try RecordingFile(path: path, overwrite: overwrite)
        let start = clock.now
        now = { start.duration(to: clock.now) }
        var line = RecordingLine(.recording)
        line.version = NetworkRecording.version
        line.tool = tool
        line.url = NetworkRecording.bare(url)
        line.options = options
        file.write(line)
    }

    /// Starts the request and records its events.
    public func start(
        _ request: TransportRequest, handler: @escaping @Sendable (TransportEvent) -> Void
    ) -> any TransportTask {
        // A report is not part of playback.
        if request.body != nil { return base.start(request, handler: handler) }
        let id = state.withLock { state -> Int in
            state.lastID += 1
            state.open.insert(state.lastID)
            let time = time(&state)
            var line = RecordingLine(.request, id: state.lastID, at: time)
            line.url = NetworkRecording.bare(request.resourceURLString)
            line.resourceClass = request.resourceClass.rawValue
            line.rangeStart = request.byteRange?.lowerBound
            line.rangeLength = request.byteRange.flatMap { $0.isOpenEnded ? nil : $0.upperBound - $0.lowerBound }
            file.write(line)
            return state.lastID
        }
        let task = base.start(request) { [self] event in
            record(event, of: id, request)
            handler(event)
        }
        return RecordedTask(base: task) { [self] in cancel(id) }
    }

    /// Records an event of the player, so that a replay can be compared with it.
    package func note(_ event: PlayerEvent) {
        guard let decision = EventLog.decision(event.kind) else { return }
        state.withLock { state in
            guard !state.isFinished else { return }
            var line = RecordingLine(.event, at: time(&state))
            line.text = decision
            file.write(line)
        }
    }

    /// Ends the recording and closes the file.
    ///
    /// Later events are not recorded.
    ///
    /// - Throws: `HLSError` if writing failed.
    public func finish() throws(HLSError) {
        state.withLock { state in
            guard !state.isFinished else { return }
            file.write(RecordingLine(.close, at: time(&state)))
            state.isFinished = true
        }
        try file.finish()
    }

    private func time(_ state: inout State) -> Duration {
        let now = now()
        let epoch = state.epoch ?? now
        state.epoch = epoch
        return now - epoch
    }

    private func cancel(_ id: Int) {
        state.withLock { state in
            guard state.open.remove(id) != nil, !state.isFinished else { return }
            file.write(RecordingLine(.cancel, id: id, at: time(&state)))
        }
    }

    private func record(_ event: TransportEvent, of id: Int, _ request: TransportRequest) {
        // Write under the lock, so that the lines are in time order.
        state.withLock { state in
            guard state.open.contains(id), !state.isFinished else { return }
            let time = time(&state)
            switch event {
            case .response(var response):
                response.urlString = request.plain(response.urlString)
                file.write(line(response, of: id, at: time))
            case .data(let bytes):
                var line = RecordingLine(.data, id: id, at: time)
                line.body = .init(bytes)
                file.write(line)
            case .finished(let metrics):
                state.open.remove(id)
                var line = RecordingLine(.end, id: id, at: time)
                line.metrics = RecordedMetrics(metrics)
                file.write(line)
            case .failed(let error, let metrics):
                state.open.remove(id)
                var error = error
                error.urlString = error.urlString.map(request.plain)
                file.write(line(LoadingError(error), metrics, of: id, at: time))
            }
        }
    }

    private func line(_ response: TransportResponse, of id: Int, at time: Duration) -> RecordingLine {
        var line = RecordingLine(.response, id: id, at: time)
        line.status = response.status
        line.url = NetworkRecording.bare(response.urlString)
        line.contentType = response.contentType
        line.contentLength = response.contentLength
        line.fields = response.fields.filter {
            $0.name.lowercased() != "set-cookie" && !Redaction.isSecret(name: $0.name)
        }
        .flatMap { [$0.name, Redaction.text($0.value)] }
        line.server = response.serverAddress
        return line
    }

    private func line(
        _ error: LoadingError, _ metrics: TransferMetrics, of id: Int, at time: Duration
    ) -> RecordingLine {
        var line = RecordingLine(.failure, id: id, at: time)
        line.code = error.code.rawValue
        line.url = NetworkRecording.bare(error.url)
        line.status = error.status
        line.retryAfter = error.retryAfter?.wholeNanoseconds
        line.text = error.text
        line.metrics = RecordedMetrics(metrics)
        return line
    }
}

private final class RecordedTask: TransportTask {
    private let base: any TransportTask
    private let noteCancel: @Sendable () -> Void

    init(base: any TransportTask, noteCancel: @escaping @Sendable () -> Void) {
        self.base = base
        self.noteCancel = noteCancel
    }

    func cancel() {
        noteCancel()
        base.cancel()
    }

    func pause() { base.pause() }
    func resume() { base.resume() }
}
