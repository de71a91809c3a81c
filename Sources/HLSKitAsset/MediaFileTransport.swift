import HLSKitLoading
import HLSKitMedia
import HLSKitPlaylist
import HLSKitTime
import Synchronization

/// Makes a bare media file playable like a stream: responds to the playlist request with a generated playlist.
///
/// If the server accepts byte ranges and the file has an index, the playlist lists segments, which are ranges of the
/// file. Otherwise it lists the file as one segment. A resource that is already a playlist passes through unchanged.
final class MediaFileTransport: ResourceTransport {
    private enum Answer {
        case none
        case whole
        case parts(FilePresentation)
    }

    private let base: any ResourceTransport
    private let url: String
    private let fileURL: String
    private let options: AssetOptions
    private let answer = Mutex(Answer.none)

    /// - Parameter url: The URL of the item. Other resources pass through.
    init(_ base: any ResourceTransport, url: String, options: AssetOptions) {
        self.base = base
        self.url = url
        fileURL = url.firstIndex(of: "#").map { String(url[..<$0]) } ?? url
        self.options = options
    }

    func start(
        _ request: TransportRequest, handler: @escaping @Sendable (TransportEvent) -> Void
    ) -> any TransportTask {
        let answer = answer.withLock { $0 }
        if case .parts(let presentation) = answer, let key = FileKey(request.urlString, of: fileURL) {
            return serve(key, of: presentation, request, handler)
        }
        guard request.urlString == url else { return base.start(request, handler: handler) }
        switch request.resourceClass {
        case .multivariantPlaylist: return open(request, handler)
        case .segment, .initializationSection:
            var request = request
            // A file is read while it is played, so it may have any size.
            if case .whole = answer { request.maximumByteCount = .max }
            return base.start(request, handler: handler)
        case .mediaPlaylist, .key, .sessionData, .report, .steering, .assetList:
            return base.start(request, handler: handler)
        }
    }

    var isMediaFile: Bool {
        switch answer.withLock({ $0 }) {
        case .none: false
        case .whole, .parts: true
        }
    }

    /// The timestamp in the file's media that is the start of the file, or `nil` if unknown.
    var origin: Duration? {
        guard case .parts(let presentation) = answer.withLock({ $0 }) else { return nil }
        return presentation.container?.origin
            ?? presentation.transportStream.flatMap { MediaTime(value: $0.origin, timescale: 90_000).duration }
    }

    // MARK: Parts

    private func serve(
        _ key: FileKey, of presentation: FilePresentation, _ request: TransportRequest,
        _ handler: @escaping @Sendable (TransportEvent) -> Void
    ) -> any TransportTask {
        var own = request
        own.urlString = fileURL
        if case .segment(let index) = key.part, let stream = presentation.transportStream {
            let task = TransportStreamPartTask(
                stream, segment: index, without: presentation.tracks(except: key.trackIDs), of: own,
                named: request.urlString, over: base, on: options.executor, handler: handler)
            task.begin()
            return task
        }
        if case .segment(let index) = key.part, let file = presentation.container {
            return serve(index, of: key.trackIDs, in: file, request, handler)
        }
        let part: FilePart
        if key.part == .playlist {
            part = FilePart(head: Array(presentation.playlist(of: key.trackIDs).utf8), ranges: [])
        } else {
            part = presentation.part(key) ?? FilePart(head: [], ranges: [])
        }
        if part.ranges.isEmpty {
            return SyntheticResponse(part.made(named: request.urlString), on: options.executor, handler: handler)
        }
        let task = FilePartTask(part, of: own, named: request.urlString, over: base, handler: handler)
        task.begin()
        return task
    }

    private func serve(
        _ segment: Int, of trackIDs: [Int], in file: ContainerFile, _ request: TransportRequest,
        _ handler: @escaping @Sendable (TransportEvent) -> Void
    ) -> SyntheticResponse {
        let body = ContainerBody(file, segment, trackIDs)
        let url = request.urlString
        return SyntheticResponse(on: options.executor, handler: handler, producing: { body.next(url) })
    }

    // MARK: Opening

    private func open(
        _ request: TransportRequest, _ handler: @escaping @Sendable (TransportEvent) -> Void
    ) -> any TransportTask {
        if let type = options.unknownMIMEType {
            let error = LoadingError(code: .refused, url: url, text: DeclaredKind.refusal(of: type, url: url).cause)
            return SyntheticResponse([.failed(error, TransferMetrics())], on: options.executor, handler: handler)
        }
        let opening = FileOpening(request, over: base, declared: options.declaredKind, handler: handler) {
            [self] container, access in
            describe(container, access, request, handler)
        }
        opening.begin()
        return opening
    }

    private func describe(
        _ container: ContainerProbe.Container, _ access: FileAccess, _ request: TransportRequest,
        _ handler: @escaping @Sendable (TransportEvent) -> Void
    ) -> SyntheticResponse {
        var options = options
        options.transport = base
        options.fields = request.fields
        options.timeouts = ResourceTimeouts(request.timeouts)
        let settings = options
        return SyntheticResponse(on: options.executor, handler: handler) { [self] in
            let text: String
            do {
                text = try await playlist(container, access, settings)
            } catch let error as HLSError where error.code == .badMedia {
                // The player reports best why the media is invalid.
                answer.withLock { $0 = .whole }
                text = Self.playlist(of: url, duration: .seconds(1), movieRange: nil)
            } catch let error as LoadingError {
                return [.failed(error, TransferMetrics())]
            } catch is CancellationError {
                return []
            } catch {
                return [.failed(LoadingError(code: .transport, url: url, text: "\(error)"), TransferMetrics())]
            }
            let bytes = Array(text.utf8)
            let response = TransportResponse(
                status: 200, urlString: url, contentType: "application/vnd.apple.mpegurl", contentLength: bytes.count)
            return [.response(response), .data(bytes), .finished(TransferMetrics())]
        }
    }

    private func playlist(
        _ container: ContainerProbe.Container, _ access: FileAccess, _ options: AssetOptions
    ) async throws -> String {
        let inspector = AssetInspector(url: url, options: options)
        if case .mp4 = container, let byteCount = access.byteCount,
            try await access.takesRanges(url, client: inspector.client)
        {
            let file = try await MediaFile.open(
                MP4HeaderScanner(), url: url, byteCount: byteCount, client: inspector.client)
            if let presentation = FilePresentation(file, url: fileURL) {
                answer.withLock { $0 = .parts(presentation) }
                return presentation.playlist
            }
        }
        if case .transportStream(let stride) = container, let byteCount = access.byteCount,
            byteCount >= TransportStreamFile.smallestByteCount,
            try await access.takesRanges(url, client: inspector.client),
            let presentation = try await TransportStreamFile.open(
                fileURL, byteCount: byteCount, stride: stride, client: inspector.client)
        {
            answer.withLock { $0 = .parts(presentation) }
            return presentation.playlist
        }
        if case .unknown(let name) = container, let format = ContainerFile.format(named: name, url: url) {
            let presentation: FilePresentation
            do throws(HLSError) {
                let file = try ContainerFile(format, name: name, url: fileURL)
                try file.check()
                presentation = FilePresentation(file)
            } catch {
                // Unlike the player, the reader of the container knows the reason.
                throw LoadingError(code: .badMedia, url: url, text: error.detail ?? error.cause)
            }
            answer.withLock { $0 = .parts(presentation) }
            return presentation.playlist
        }
        answer.withLock { $0 = .whole }
        return try await inspector.mediaFilePlaylist()
    }

    /// Returns the playlist with one segment, the file.
    ///
    /// - Parameter movieRange: The range of the header if it follows the media. The segment is then the data before it.
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

extension AssetInspector {
    func mediaFilePlaylist() async throws -> String {
        guard case .file(let file) = try await opened() else {
            throw HLSError(code: .badPlaylist, urlString: url, cause: "the resource changed while being read")
        }
        let time = try await duration()
        // The media's duration is unknown until the media has been read. Too long is safe, but too short would end it
        // early.
        var length = time.duration ?? .seconds(86_399)
        // A single frame without a duration must also be visible.
        length = max(length, .milliseconds(40))
        if time.hasBeenRounded { length = min(length + length / 10 + .seconds(1), .seconds(86_399)) }
        return MediaFileTransport.playlist(
            of: url, duration: length, movieRange: file.isHeaderAfterMedia ? file.movieRange : nil)
    }
}
