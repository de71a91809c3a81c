import HLSMedia
import Synchronization

/// Looks at the first bytes of a resource: passes a playlist on, and ends the transfer of anything that is media.
final class OpeningProbe: TransportTask {
    private enum Mode {
        case undecided
        /// So many bytes were passed on of what came from this URL.
        case passing(byteCount: Int, url: String)
        case ended
    }

    private struct State {
        var mode = Mode.undecided
        var head: [UInt8] = []
        var response: TransportResponse?
        var task: (any TransportTask)?
        var container: ContainerProbe.Container?
        var description: Task<Void, Never>?
        var isCancelled = false
    }

    private struct Found {
        var task: (any TransportTask)?
        var container: ContainerProbe.Container
        var response: TransportResponse
    }

    private let state = Mutex(State())
    private let limit: Int
    private let handler: @Sendable (TransportEvent) -> Void
    private let describe: @Sendable (ContainerProbe.Container, TransportResponse) -> Task<Void, Never>

    init(
        limit: Int, handler: @escaping @Sendable (TransportEvent) -> Void,
        describe: @escaping @Sendable (ContainerProbe.Container, TransportResponse) -> Task<Void, Never>
    ) {
        self.limit = limit
        self.handler = handler
        self.describe = describe
    }

    func setTask(_ task: any TransportTask) {
        let isOver = state.withLock { state in
            if case .ended = state.mode { return true }
            state.task = task
            return state.isCancelled
        }
        if isOver { task.cancel() }
    }

    func cancel() {
        let (task, description) = state.withLock { state in
            state.isCancelled = true
            return (state.task, state.description)
        }
        task?.cancel()
        description?.cancel()
    }

    func pause() { state.withLock { $0.task }?.pause() }
    func resume() { state.withLock { $0.task }?.resume() }

    /// Takes an event of the transfer. The transport calls one at a time.
    func take(_ event: TransportEvent) {
        for event in state.withLock({ Self.next(event, &$0, limit: limit) }) { handler(event) }
        let found = state.withLock { state -> Found? in
            guard case .ended = state.mode, state.description == nil, let response = state.response,
                let container = state.container, !state.isCancelled
            else { return nil }
            state.response = nil
            return Found(task: state.task, container: container, response: response)
        }
        guard let found else { return }
        found.task?.cancel()
        let description = describe(found.container, found.response)
        let isCancelled = state.withLock { state in
            state.description = description
            return state.isCancelled
        }
        if isCancelled { description.cancel() }
    }

    /// What is passed on.
    private static func next(_ event: TransportEvent, _ state: inout State, limit: Int) -> [TransportEvent] {
        switch (state.mode, event) {
        case (.ended, _): return []
        case (.undecided, .response(let response)):
            state.response = response
            return []
        case (.undecided, .data(let bytes)):
            state.head += bytes
            return decide(&state, isEnd: false, limit: limit)
        case (.undecided, .finished):
            let events = decide(&state, isEnd: true, limit: limit)
            return events.isEmpty ? [] : events + [event]
        case (.undecided, .failed):
            state.mode = .ended
            let response = state.response.map { [TransportEvent.response($0)] } ?? []
            state.response = nil
            return response + [event]
        case (.passing(let count, let url), .data(let bytes)):
            return pass(bytes, after: count, of: url, &state, limit: limit)
        case (.passing, _): return [event]
        }
    }

    private static func decide(_ state: inout State, isEnd: Bool, limit: Int) -> [TransportEvent] {
        let head = state.head
        let text = head.starts(with: [0xEF, 0xBB, 0xBF]) ? head.dropFirst(3) : head[...]
        if !text.starts(with: "#EXTM3U".utf8) {
            let container = ContainerProbe.identify(head[...], isComplete: isEnd)
            switch container {
            case nil: return []
            case .mp4?, .transportStream?, .packedAudio?:
                state.container = container
                state.mode = .ended
                state.head = []
                return []
            // Whoever plays it says what it is.
            case .unknown(let name)? where ContainerProbe.isUnsupportedContainer(name):
                state.container = container
                state.mode = .ended
                state.head = []
                return []
            case .webVTT?, .unknown?: break
            }
        }
        let url = state.response?.url ?? ""
        state.mode = .passing(byteCount: 0, url: url)
        let response = state.response.map { [TransportEvent.response($0)] } ?? []
        state.response = nil
        state.head = []
        return response + (head.isEmpty ? [] : pass(head, after: 0, of: url, &state, limit: limit))
    }

    private static func pass(
        _ bytes: [UInt8], after count: Int, of url: String, _ state: inout State, limit: Int
    ) -> [TransportEvent] {
        let total = count + bytes.count
        state.mode = .passing(byteCount: total, url: url)
        guard total > limit else { return [.data(bytes)] }
        state.mode = .ended
        state.task?.cancel()
        return [
            .failed(LoadingError(code: .tooLarge, url: url, text: "more than \(limit) bytes"), TransferMetrics())
        ]
    }
}
