import HLSKitLoading
import HLSKitMedia
import HLSKitTime
import Synchronization

/// Delivers a segment of a transport stream: finds its start, then reads until the next segment starts.
final class TransportStreamPartTask: TransportTask {
    /// The bytes requested beyond the average length of a segment.
    private static let stepByteCount = 256 << 10
    /// The maximum number of bytes to hold back in case the next segment begins in them.
    private static let maximumHeldByteCount = 16 << 20

    private struct State {
        var hasEnded = false
        var search: Task<Void, Never>?
        var hasAsked = false
        var hasResponded = false
        /// The bytes not delivered yet, and their offset in the file.
        var held: [UInt8] = []
        var heldOffset = 0
        var nextOffset = 0
        var scanner: TransportStreamScanner?
        var blotter: TransportStreamBlotter
        var rest: [UInt8] = []
        /// Whether the end has been found, so that the held bytes belong to the next segment.
        var isOver = false
    }

    private let file: TransportStreamFile
    private let index: Int
    private let head: [UInt8]
    private let request: TransportRequest
    private let url: String
    private let executor: (any TaskExecutor)?
    private let handler: @Sendable (TransportEvent) -> Void
    private let chain: TransferChain
    private let state: Mutex<State>

    /// - Parameters:
    ///   - left: The PIDs of the tracks to remove.
    ///   - executor: The executor for the search for its start, or `nil` for the global one.
    init(
        _ file: TransportStreamFile, segment index: Int, without left: Set<Int>, of request: TransportRequest,
        named url: String, over base: any ResourceTransport, on executor: (any TaskExecutor)?,
        handler: @escaping @Sendable (TransportEvent) -> Void
    ) {
        self.file = file
        self.index = index
        self.request = request
        self.url = url
        self.executor = executor
        self.handler = handler
        chain = TransferChain(over: base)
        head = file.tables.packets(without: left)
        // The tables in the stream still list all tracks, so remove those tables too.
        let blotted = left.isEmpty ? [] : left.union([file.tables.mapPID])
        state = Mutex(State(blotter: TransportStreamBlotter(blotted, stride: file.stride)))
    }

    deinit { end() }

    func begin() {
        file.begin(index)
        let search = Task(executorPreference: executor) { [self] in
            do {
                let start = try await file.start(ofSegment: index)
                let rest = file.rest(from: start)
                state.withLock { state in
                    state.rest = rest
                    state.heldOffset = start
                    state.nextOffset = start + rest.count
                    state.scanner = TransportStreamScanner(
                        pid: file.pid, start: start, stride: file.stride, takesAll: file.takesAll)
                }
                next()
            } catch let error as HLSError {
                let code: LoadingError.Code = error.code == .notFound ? .httpStatus : .connectionLost
                fail(LoadingError(code: code, url: url, status: error.statusCode, text: "\(error)"))
            } catch {
                fail(LoadingError(code: .connectionLost, url: url, text: "\(error)"))
            }
        }
        state.withLock { $0.search = search }
        if chain.isCancelled { search.cancel() }
    }

    private func end() {
        let isFirst = state.withLock { state in
            defer { state.hasEnded = true }
            return !state.hasEnded
        }
        if isFirst { file.end(index) }
    }

    private func fail(_ error: LoadingError) {
        end()
        guard !chain.isCancelled else { return }
        handler(.failed(error, TransferMetrics()))
    }

    func cancel() {
        chain.cancel()
        state.withLock { $0.search.take() }?.cancel()
        end()
    }

    func pause() { chain.pause() }
    func resume() { chain.resume() }

    private var isLast: Bool { index + 1 >= file.segmentCount }

    private func next() {
        guard !chain.isCancelled else { return }
        let range = state.withLock { state -> Range<UInt64>? in
            guard state.nextOffset < file.byteCount else { return nil }
            let start = state.nextOffset
            let expected = file.byteCount(of: file.segmentDuration)
            let count = state.hasAsked ? Self.stepByteCount : max(expected - state.rest.count, Self.stepByteCount)
            let end = isLast ? file.byteCount : min(start + count, file.byteCount)
            state.hasAsked = true
            state.nextOffset = end
            return UInt64(start)..<UInt64(end)
        }
        guard let range else { return finish(chain.metrics) }
        var request = request
        request.byteRange = range
        request.maximumByteCount = range.count
        chain.start(request) { [self] event in take(event) }
    }

    private func take(_ event: TransportEvent) {
        switch event {
        case .response(let response):
            let isFirst = state.withLock { state in
                defer { state.hasResponded = true }
                return !state.hasResponded
            }
            guard isFirst else { return }
            var response = response
            response.urlString = url
            response.contentLength = nil
            respond(response)
        case .data(let bytes): deliver(bytes)
        case .finished(let metrics):
            if state.withLock({ $0.isOver }) { finish(metrics) } else { next() }
        case .failed:
            end()
            handler(event)
        }
    }

    private func respond(_ response: TransportResponse) {
        handler(.response(response))
        handler(.data(head))
        let rest = state.withLock { state in
            defer { state.rest = [] }
            return state.rest
        }
        if !rest.isEmpty { deliver(rest) }
    }

    private func deliver(_ bytes: [UInt8]) {
        let ready = state.withLock { take(bytes, &$0) }
        if !ready.isEmpty { handler(.data(ready)) }
    }

    private func take(_ bytes: [UInt8], _ state: inout State) -> [UInt8] {
        state.held += bytes
        guard !state.isOver else { return [] }
        let end = file.time(ofSegment: index + 1)
        var start = state.heldOffset
        var isOver = false
        for point in state.scanner?.append(bytes) ?? [] {
            let time = file.time(point.pts)
            if !isLast, time > end + TransportStreamFile.reordering {
                isOver = true
                break
            }
            if point.isRandomAccess, isLast || time <= end { start = max(start, point.offset) }
        }
        if isLast { start = state.heldOffset + state.held.count }
        if state.held.count > Self.maximumHeldByteCount, !isOver { start = state.heldOffset + state.held.count }
        let count = min(start - state.heldOffset, state.held.count)
        let ready = Array(state.held.prefix(count))
        state.held.removeFirst(count)
        state.heldOffset += count
        if isOver { state.isOver = true }
        return state.blotter.append(ready)
    }

    private func finish(_ metrics: TransferMetrics) {
        if !state.withLock({ $0.hasResponded }) {
            state.withLock { $0.hasResponded = true }
            respond(TransportResponse(status: 200, urlString: url))
        }
        let rest = state.withLock { state in
            if state.isOver {
                file.keep(state.held, from: state.heldOffset)
                file.note(start: state.heldOffset, ofSegment: index + 1)
                state.held = []
            } else if !isLast {
                // The next segment starts at the end of the file.
                file.note(start: file.byteCount, ofSegment: index + 1)
            }
            let rest = state.blotter.append(state.held) + state.blotter.finish()
            state.held = []
            return rest
        }
        end()
        if !rest.isEmpty { handler(.data(rest)) }
        handler(.finished(metrics))
    }
}
