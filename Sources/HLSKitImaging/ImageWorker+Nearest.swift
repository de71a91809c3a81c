import HLSKitLoading
import HLSKitPlaylist

extension ImageWorker {
    private static let maximumLostCount = 4

    /// Creates images of the nearest loadable frames for times whose own segment is missing or damaged in all sources,
    /// within the tolerance. Returns the times without an image.
    func takeNearest(
        _ wishes: [ImageWish], _ failures: [Int: HLSError],
        deliver: @escaping (ImageWish, ImageGenerationResult) async throws -> Void
    ) async throws -> [ImageWish] {
        var open: [ImageWish] = []
        for wish in wishes {
            let isLost = failures[wish.index].map { $0.code == .notFound || $0.code == .badMedia } == true
            guard isLost, !options.isExact, try await takeNearest(wish, deliver) else {
                open.append(wish)
                continue
            }
        }
        return open
    }

    private func takeNearest(
        _ wish: ImageWish, _ deliver: @escaping (ImageWish, ImageGenerationResult) async throws -> Void
    ) async throws -> Bool {
        for place in library.places {
            if case .file = place { continue }
            let source: PictureSource
            do {
                guard let found = try await library.source(place) else { continue }
                source = found
            } catch is HLSError {
                continue
            }
            var lost: Set<Int> = [source.index(at: wish.time)]
            while lost.count <= Self.maximumLostCount,
                case .head(let index)? = source.plan(wish.time, options, lost: lost), lost.insert(index).inserted
            {
                var isDone = false
                let search = PictureSearch(store: store, source: source, options: options) { wish, picture in
                    isDone = true
                    try await deliver(wish, image(of: picture, for: wish, start: source.start, end: source.end))
                }
                do {
                    try await translating(source.playlist.url) { _ = try await search.takeHead(of: index, for: [wish]) }
                } catch let error as HLSError where error.code == .notFound || error.code == .badMedia {}
                if isDone { return true }
            }
        }
        return false
    }
}
