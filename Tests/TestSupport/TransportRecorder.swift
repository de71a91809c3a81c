package import HLSKitLoading
import Synchronization

package struct LoadResult: Sendable {
    package var response: TransportResponse?
    package var pieces: [[UInt8]] = []
    package var error: LoadingError?
    package var metrics = TransferMetrics()
    /// Descriptions of events that arrived in the wrong order or after the end.
    package var violations: [String] = []
    package var hasEnded = false

    package var eventCount: Int { (response == nil ? 0 : 1) + pieces.count + (hasEnded ? 1 : 0) }

    // `joined` takes seconds for a megabyte in an unoptimized build.
    package var bytes: [UInt8] { pieces.reduce(into: []) { $0.append(contentsOf: $1) } }
}

package final class TransportRecorder: Sendable {
    private struct State {
        var result = LoadResult()
        var waiters: [(isDue: @Sendable (LoadResult) -> Bool, continuation: CheckedContinuation<Void, Never>)] = []
    }

    private let state = Mutex(State())

    package init() {}

    package var result: LoadResult { state.withLock { $0.result } }

    package func record(_ event: TransportEvent) {
        let due = state.withLock { state in
            Self.apply(event, to: &state.result)
            let result = state.result
            defer { state.waiters.removeAll { $0.isDue(result) } }
            return state.waiters.filter { $0.isDue(result) }
        }
        for waiter in due { waiter.continuation.resume() }
    }

    private static func apply(_ event: TransportEvent, to result: inout LoadResult) {
        if result.hasEnded { result.violations.append("an event after the end: \(event)") }
        switch event {
        case .response(let response):
            if result.response != nil { result.violations.append("two responses") }
            result.response = response
        case .data(let bytes):
            if result.response == nil { result.violations.append("data before the response") }
            if bytes.isEmpty { result.violations.append("empty data") }
            result.pieces.append(bytes)
        case .finished(let metrics):
            result.metrics = metrics
            result.hasEnded = true
        case .failed(let error, let metrics):
            result.error = LoadingError(error)
            result.metrics = metrics
            result.hasEnded = true
        }
    }

    package func wait(until isDue: @escaping @Sendable (LoadResult) -> Bool) async {
        await withCheckedContinuation { continuation in
            let isDueNow = state.withLock { state in
                if isDue(state.result) { return true }
                state.waiters.append((isDue, continuation))
                return false
            }
            if isDueNow { continuation.resume() }
        }
    }
}

extension ResourceTransport {
    package func load(_ request: TransportRequest) async -> LoadResult {
        let recorder = TransportRecorder()
        let task = start(request) { recorder.record($0) }
        await recorder.wait { $0.hasEnded }
        withExtendedLifetime(task) {}
        return recorder.result
    }

    package func load(_ url: String, _ resourceClass: ResourceClass = .segment) async -> LoadResult {
        await load(TransportRequest(urlString: url, resourceClass: resourceClass))
    }
}
