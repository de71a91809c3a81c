import HLSMedia
import HLSPlaylist
import Synchronization

/// Opens what is probably a media file, by its name, with a request for its first bytes: what was sent of more before a
/// transfer is ended may be megabytes.
///
/// Whatever else it is, or if the server takes no ranges, it is opened as anything is.
final class RangedOpening: TransportTask {
    static let range = UInt64(0)..<UInt64(64 << 10)

    /// Endings of media files.
    private static let endings: Set<String> = [
        "mp4", "m4v", "m4a", "mov", "3gp", "ts", "m2ts", "mts", "mp3", "aac", "ac3", "ec3", "eac3",
    ]

    private struct State {
        var task: (any TransportTask)?
        var description: Task<Void, Never>?
        var response: TransportResponse?
        var head: [UInt8] = []
        var isCancelled = false
        /// What follows took over.
        var isOver = false
    }

    private let handler: @Sendable (TransportEvent) -> Void
    private let describe: @Sendable (ContainerProbe.Container, TransportResponse) -> Task<Void, Never>
    private let openOtherwise: @Sendable (_ takesRanges: Bool?) -> any TransportTask
    private let state = Mutex(State())

    /// - Parameters:
    ///   - describe: answers with the playlist of a media file that can be read by ranges.
    ///   - openOtherwise: opens the resource as a whole; it is told whether ranges are taken, where that was seen.
    init(
        handler: @escaping @Sendable (TransportEvent) -> Void,
        describe: @escaping @Sendable (ContainerProbe.Container, TransportResponse) -> Task<Void, Never>,
        openOtherwise: @escaping @Sendable (_ takesRanges: Bool?) -> any TransportTask
    ) {
        self.handler = handler
        self.describe = describe
        self.openOtherwise = openOtherwise
    }

    /// Whether the name is that of a media file on a server.
    static func isProbable(_ url: String) -> Bool {
        guard let reference = URIReference(url), let scheme = reference.scheme?.lowercased(),
            scheme == "http" || scheme == "https",
            let name = reference.path.split(separator: "/").last, let dot = name.lastIndex(of: ".")
        else { return false }
        return endings.contains(name[name.index(after: dot)...].lowercased())
    }

    func setTask(_ task: any TransportTask) {
        let (isOver, isCancelled) = state.withLock { state in
            if !state.isOver { state.task = task }
            return (state.isOver, state.isCancelled)
        }
        if isCancelled, !isOver { task.cancel() }
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

    /// Takes an event of the request for the first bytes.
    func take(_ event: TransportEvent) {
        guard !state.withLock({ $0.isCancelled || $0.isOver }) else { return }
        switch event {
        case .response(let response): state.withLock { $0.response = response }
        case .data(let bytes): state.withLock { $0.head += bytes }
        case .finished: decide()
        case .failed(let error, _):
            // A file that is shorter than what was asked for.
            if error.code == .badRange || error.status == 416 { goOn() } else { handler(event) }
        }
    }

    private func decide() {
        let (response, head) = state.withLock { ($0.response, $0.head) }
        let container = ContainerProbe.identify(head[...], isComplete: false)
        guard let response, response.status == 206, FileAccess(response).byteCount != nil else { return goOn() }
        switch container {
        case .mp4?, .transportStream?, .packedAudio?: break
        case .webVTT?, .unknown?, nil: return goOn()
        }
        guard let container else { return goOn() }
        state.withLock { $0.isOver = true }
        let description = describe(container, response)
        let isCancelled = state.withLock { state in
            state.description = description
            return state.isCancelled
        }
        if isCancelled { description.cancel() }
    }

    private func goOn() {
        state.withLock { $0.isOver = true }
        let takesRanges = state.withLock { state in state.response.map { $0.status == 206 } }
        let task = openOtherwise(takesRanges)
        let isCancelled = state.withLock { state in
            state.task = task
            return state.isCancelled
        }
        if isCancelled { task.cancel() }
    }
}
