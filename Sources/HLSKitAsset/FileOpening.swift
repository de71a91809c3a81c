import HLSKitLoading
import HLSKitMedia
import HLSKitPlaylist
import Synchronization

/// Opens a resource that may be a media file.
///
/// A playlist passes through. If the resource is media, the task ends the transfer and responds with a generated
/// playlist.
///
/// If the name suggests media, the task first requests only the first bytes, because a server may have sent megabytes
/// before a transfer ends. If the resource is not media or the server does not accept ranges, the task then requests
/// all of it.
final class FileOpening: TransportTask {
    static let range = UInt64(0)..<UInt64(64 << 10)

    private static let endings: Set<String> = [
        "mp4", "m4v", "m4a", "mov", "3gp", "ts", "m2ts", "mts", "mp3", "aac", "ac3", "ec3", "eac3",
    ]

    private enum Mode {
        case first
        /// The whole resource is loading, and its kind is not known yet.
        case undecided
        /// The resource passes through. `byteCount` bytes from this URL have been passed on.
        case passing(byteCount: Int, url: String)
        case ended
    }

    private struct State {
        var mode = Mode.first
        var head: [UInt8] = []
        var response: TransportResponse?
        /// Whether the request for the first bytes got a range, or `nil` if it got no response.
        var takesRanges: Bool?
    }

    private struct Outcome {
        var events: [TransportEvent] = []
        var endsTransfer = false
        var media: (container: ContainerProbe.Container, access: FileAccess)?
    }

    private let request: TransportRequest
    private let declared: DeclaredKind?
    private let chain: TransferChain
    private let handler: @Sendable (TransportEvent) -> Void
    private let describe: @Sendable (ContainerProbe.Container, FileAccess) -> SyntheticResponse
    private let state = Mutex(State())

    init(
        _ request: TransportRequest, over base: any ResourceTransport, declared: DeclaredKind? = nil,
        handler: @escaping @Sendable (TransportEvent) -> Void,
        describe: @escaping @Sendable (ContainerProbe.Container, FileAccess) -> SyntheticResponse
    ) {
        self.request = request
        self.declared = declared
        self.handler = handler
        self.describe = describe
        chain = TransferChain(over: base)
    }

    private static func isProbable(_ url: String) -> Bool {
        guard let reference = URIReference(url), let scheme = reference.scheme?.lowercased(),
            scheme == "http" || scheme == "https",
            let name = reference.path.split(separator: "/").last, let dot = name.lastIndex(of: ".")
        else { return false }
        return endings.contains(name[name.index(after: dot)...].lowercased())
    }

    func begin() {
        guard request.byteRange == nil, declared != .playlist, declared != nil || Self.isProbable(request.urlString)
        else {
            return openWhole()
        }
        var first = request
        first.byteRange = Self.range
        chain.start(first) { [self] event in takeFirst(event) }
    }

    func cancel() { chain.cancel() }
    func pause() { chain.pause() }
    func resume() { chain.resume() }

    // MARK: The first bytes

    private func takeFirst(_ event: TransportEvent) {
        guard !chain.isCancelled else { return }
        switch event {
        case .response(let response): state.withLock { $0.response = response }
        case .data(let bytes): state.withLock { $0.head += bytes }
        case .finished:
            let (response, head) = state.withLock { ($0.response, $0.head) }
            guard let response, response.status == 206, FileAccess(response).byteCount != nil else {
                return openWhole()
            }
            switch ContainerProbe.identify(head[...], isComplete: false, declared: declared?.container) {
            case .webVTT?, .unknown?, nil: openWhole()
            case let container?: answer(container, FileAccess(response))
            }
        case .failed(let error, _):
            // The file is shorter than the requested range.
            if error.code == .badRange || error.statusCode == 416 { openWhole() } else { handler(event) }
        }
    }

    // MARK: The whole

    private func openWhole() {
        state.withLock { state in
            state.takesRanges = state.response.map { $0.status == 206 }
            (state.mode, state.head, state.response) = (.undecided, [], nil)
        }
        var whole = request
        whole.maximumByteCount = .max
        chain.start(whole) { [self] event in take(event) }
    }

    /// Handles an event of the transfer. The transport sends one at a time.
    private func take(_ event: TransportEvent) {
        let outcome = state.withLock { Self.next(event, &$0, declared, limit: request.maximumByteCount) }
        for event in outcome.events { handler(event) }
        if outcome.endsTransfer { chain.endCurrent() }
        if let (container, access) = outcome.media { answer(container, access) }
    }

    private func answer(_ container: ContainerProbe.Container, _ access: FileAccess) {
        chain.answer { describe(container, access) }
    }

    private static func next(
        _ event: TransportEvent, _ state: inout State, _ declared: DeclaredKind?, limit: Int
    ) -> Outcome {
        switch (state.mode, event) {
        case (.first, _), (.ended, _): return Outcome()
        case (.undecided, .response(let response)):
            state.response = response
            return Outcome()
        case (.undecided, .data(let bytes)):
            state.head += bytes
            return decide(&state, declared, isEnd: false, limit: limit)
        case (.undecided, .finished):
            var outcome = decide(&state, declared, isEnd: true, limit: limit)
            if !outcome.events.isEmpty, !outcome.endsTransfer { outcome.events.append(event) }
            return outcome
        case (.undecided, .failed):
            state.mode = .ended
            return Outcome(events: takeResponse(&state) + [event])
        case (.passing(let count, let url), .data(let bytes)):
            return pass(bytes, after: count, of: url, &state, limit: limit)
        case (.passing, _): return Outcome(events: [event])
        }
    }

    private static func takeResponse(_ state: inout State) -> [TransportEvent] {
        state.response.take().map { [.response($0)] } ?? []
    }

    private static func decide(
        _ state: inout State, _ declared: DeclaredKind?, isEnd: Bool, limit: Int
    ) -> Outcome {
        let head = state.head
        let text = head.starts(with: [0xEF, 0xBB, 0xBF]) ? head.dropFirst(3) : head[...]
        if declared?.container != nil || declared == nil && !text.starts(with: "#EXTM3U".utf8) {
            let container = ContainerProbe.identify(head[...], isComplete: isEnd, declared: declared?.container)
            switch container {
            case nil: return Outcome()
            case .mp4?, .transportStream?, .packedAudio?: return end(container, &state)
            // Treat it as media, so that the player reports why it cannot play it.
            case .unknown(let name)? where ContainerProbe.isUnsupportedContainer(name): return end(container, &state)
            case .webVTT?, .unknown?: break
            }
        }
        let url = state.response?.urlString ?? ""
        state.mode = .passing(byteCount: 0, url: url)
        state.head = []
        var outcome = Outcome(events: takeResponse(&state))
        guard !head.isEmpty else { return outcome }
        let passed = pass(head, after: 0, of: url, &state, limit: limit)
        outcome.events += passed.events
        outcome.endsTransfer = passed.endsTransfer
        return outcome
    }

    private static func end(_ container: ContainerProbe.Container?, _ state: inout State) -> Outcome {
        state.mode = .ended
        state.head = []
        guard let container, let response = state.response.take() else { return Outcome() }
        return Outcome(
            endsTransfer: true, media: (container, FileAccess(response, takesRanges: state.takesRanges)))
    }

    private static func pass(
        _ bytes: [UInt8], after count: Int, of url: String, _ state: inout State, limit: Int
    ) -> Outcome {
        let total = count + bytes.count
        state.mode = .passing(byteCount: total, url: url)
        guard total > limit else { return Outcome(events: [.data(bytes)]) }
        state.mode = .ended
        let error = LoadingError(code: .tooLarge, url: url, text: "more than \(limit) bytes")
        return Outcome(events: [.failed(error, TransferMetrics())], endsTransfer: true)
    }
}
