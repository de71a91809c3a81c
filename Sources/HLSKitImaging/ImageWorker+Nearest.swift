import HLSKitLoading
import HLSKitPlaylist

extension ImageWorker {
    private static let maximumLostCount = 4

    /// Creates images of the nearest loadable frames, and returns the times without an image.
    ///
    /// It covers times whose own segment is missing or damaged in all sources. The frames are within the tolerance.
    func takeNearest(
        _ requests: [RequestedImage], _ failures: [Int: HLSError],
        deliver: @escaping (RequestedImage, ImageGenerationResult) async throws -> Void
    ) async throws -> [RequestedImage] {
        var open: [RequestedImage] = []
        for request in requests {
            let isLost = failures[request.index].map { $0.code == .notFound || $0.code == .badMedia } == true
            guard isLost, !options.isExact, try await takeNearest(request, deliver) else {
                open.append(request)
                continue
            }
        }
        return open
    }

    private func takeNearest(
        _ request: RequestedImage, _ deliver: @escaping (RequestedImage, ImageGenerationResult) async throws -> Void
    ) async throws -> Bool {
        for place in library.places {
            if case .file = place { continue }
            let source: FrameSource
            do {
                guard let found = try await library.source(place) else { continue }
                source = found
            } catch is HLSError {
                continue
            }
            var lost: Set<Int> = [source.index(at: request.time)]
            while lost.count <= Self.maximumLostCount,
                case .head(let index)? = source.plan(request.time, options, lost: lost), lost.insert(index).inserted
            {
                var isDone = false
                let search = FrameSearch(store: store, source: source, options: options) { request, frame in
                    isDone = true
                    try await deliver(request, image(of: frame, for: request, start: source.start, end: source.end))
                }
                do {
                    try await translating(source.playlist.url) {
                        _ = try await search.takeHead(of: index, for: [request])
                    }
                } catch let error as HLSError where error.code == .notFound || error.code == .badMedia {}
                if isDone { return true }
            }
        }
        return false
    }
}
