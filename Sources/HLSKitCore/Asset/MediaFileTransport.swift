import HLSMedia
import HLSPlaylist
import HLSTime
import Synchronization

/// Lets a bare media file be played like a stream: answers the request for the item's playlist, where it turns out to be
/// media, with a playlist of one segment, the file.
///
/// What is a playlist passes through untouched. Source: CONTRACTS §3 ("a bare media file URL behaves as a one-segment
/// VOD playlist").
final class MediaFileTransport: Transport {
    private let base: any Transport
    private let url: String
    private let options: AssetOptions
    private let isMedia = Mutex(false)

    /// - Parameter url: the item's URL; other resources pass through.
    init(_ base: any Transport, url: String, options: AssetOptions) {
        self.base = base
        self.url = url
        self.options = options
    }

    func start(
        _ request: TransportRequest, handler: @escaping @Sendable (TransportEvent) -> Void
    ) -> any TransportTask {
        guard request.url == url else { return base.start(request, handler: handler) }
        switch request.resourceClass {
        case .multivariantPlaylist: return open(request, handler)
        case .segment, .initializationSection:
            var request = request
            // A file is read while it is played, and may be of any size (RELIABILITY R28).
            if isMedia.withLock({ $0 }) { request.maximumByteCount = .max }
            return base.start(request, handler: handler)
        case .mediaPlaylist, .key, .sessionData: return base.start(request, handler: handler)
        }
    }

    private func open(
        _ request: TransportRequest, _ handler: @escaping @Sendable (TransportEvent) -> Void
    ) -> any TransportTask {
        let probe = OpeningProbe(limit: request.maximumByteCount, handler: handler) { [self] in
            describe(request, handler)
        }
        var unlimited = request
        unlimited.maximumByteCount = .max
        // The probe gives the task on to itself, to end it when it has seen enough.
        let task = base.start(unlimited) { event in probe.take(event) }
        probe.setTask(task)
        return probe
    }

    /// Reads the ends of the file, then answers with its playlist.
    private func describe(
        _ request: TransportRequest, _ handler: @escaping @Sendable (TransportEvent) -> Void
    ) -> Task<Void, Never> {
        isMedia.withLock { $0 = true }
        var options = options
        options.transport = base
        options.fields = request.fields
        options.timeouts = request.timeouts
        let (url, settings) = (url, options)
        return Task {
            let text: String
            do {
                text = try await AssetInspector(url: url, options: settings).mediaFilePlaylist()
            } catch let error as AssetError where error.code == .badMedia {
                // What is wrong with the media is said best by whoever plays it.
                text = Self.playlist(of: url, duration: .seconds(1), movieRange: nil)
            } catch is CancellationError {
                return
            } catch {
                handler(.failed(LoadingError(code: .transport, url: url, text: "\(error)"), TransferMetrics()))
                return
            }
            let bytes = Array(text.utf8)
            handler(
                .response(
                    TransportResponse(
                        status: 200, url: url, contentType: "application/vnd.apple.mpegurl",
                        contentLength: bytes.count)))
            handler(.data(bytes))
            handler(.finished(TransferMetrics()))
        }
    }

    /// The playlist of a media file.
    ///
    /// - Parameter movieRange: where the header is, when it lies behind the media: what is before it is the segment.
    static func playlist(of url: String, duration: Duration, movieRange: Range<Int>?) -> String {
        var segment = MediaSegment(uri: url, duration: duration)
        if let movieRange {
            let quoted = url.split(separator: "\"", omittingEmptySubsequences: false).joined(separator: "%22")
            segment.map = MediaInitializationSection(
                uri: quoted, byteRange: ByteRange(offset: movieRange.lowerBound, length: movieRange.count))
            segment.byteRange = ByteRange(offset: 0, length: movieRange.lowerBound)
        }
        var playlist = MediaPlaylist(
            url: url, targetDuration: .seconds(duration.components.seconds + 1), segments: [segment])
        playlist.version = 7
        playlist.playlistType = .vod
        playlist.hasEndList = true
        return String(decoding: playlist.text, as: UTF8.self)
    }
}

/// Looks at the first bytes of a resource: passes a playlist on, and ends the transfer of anything that is media.
private final class OpeningProbe: TransportTask {
    private enum Mode {
        case undecided
        case passing(byteCount: Int)
        case ended
    }

    private struct State {
        var mode = Mode.undecided
        var head: [UInt8] = []
        var response: TransportResponse?
        var task: (any TransportTask)?
        var description: Task<Void, Never>?
        var isCancelled = false
    }

    private let state = Mutex(State())
    private let limit: Int
    private let handler: @Sendable (TransportEvent) -> Void
    private let describe: @Sendable () -> Task<Void, Never>

    init(
        limit: Int, handler: @escaping @Sendable (TransportEvent) -> Void,
        describe: @escaping @Sendable () -> Task<Void, Never>
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
        let found = state.withLock { state -> (any TransportTask)?? in
            guard case .ended = state.mode, state.description == nil, state.response != nil, !state.isCancelled else {
                return nil
            }
            state.response = nil
            return .some(state.task)
        }
        guard let found else { return }
        found?.cancel()
        let description = describe()
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
        case (.passing(let count), .data(let bytes)): return pass(bytes, after: count, &state, limit: limit)
        case (.passing, _): return [event]
        }
    }

    private static func decide(_ state: inout State, isEnd: Bool, limit: Int) -> [TransportEvent] {
        let head = state.head
        let text = head.starts(with: [0xEF, 0xBB, 0xBF]) ? head.dropFirst(3) : head[...]
        if !text.starts(with: "#EXTM3U".utf8) {
            switch ContainerProbe.identify(head[...], isComplete: isEnd) {
            case nil: return []
            case .mp4, .transportStream, .packedAudio:
                state.mode = .ended
                state.head = []
                return []
            // Whoever plays it says what it is.
            case .unknown(let name) where ContainerProbe.isUnsupportedContainer(name):
                state.mode = .ended
                state.head = []
                return []
            case .webVTT, .unknown: break
            }
        }
        state.mode = .passing(byteCount: 0)
        let response = state.response.map { [TransportEvent.response($0)] } ?? []
        state.response = nil
        state.head = []
        return response + (head.isEmpty ? [] : pass(head, after: 0, &state, limit: limit))
    }

    private static func pass(_ bytes: [UInt8], after count: Int, _ state: inout State, limit: Int) -> [TransportEvent] {
        let total = count + bytes.count
        state.mode = .passing(byteCount: total)
        guard total > limit else { return [.data(bytes)] }
        state.mode = .ended
        state.task?.cancel()
        return [
            .failed(
                LoadingError(code: .tooLarge, url: state.response?.url ?? "", text: "more than \(limit) bytes"),
                TransferMetrics())
        ]
    }
}

extension AssetInspector {
    /// The playlist of one segment that stands for a media file.
    func mediaFilePlaylist() async throws -> String {
        guard case .file(let file) = try await opened() else {
            throw AssetError(code: .badPlaylist, url: url, cause: "the resource has changed while it was read")
        }
        let time = try await duration()
        // The media tells how long it is when it has been read. Until then more is safe, and less would end it early.
        var length = time.duration ?? .seconds(86_399)
        // Of one picture nobody knows how long it is shown, and an item without a duration has nothing to show.
        if length == .zero { length = .milliseconds(40) }
        if time.hasBeenRounded { length = min(length + length / 10 + .seconds(1), .seconds(86_399)) }
        return MediaFileTransport.playlist(
            of: url, duration: length, movieRange: file.isHeaderBehindMedia ? file.movieRange : nil)
    }
}
