import HLSKitCodec
import HLSKitLoading
import HLSKitMedia
import HLSKitPlaylist
import HLSKitTime

struct ImageWorker: Sendable {
    let store: PictureStore
    let library: PictureLibrary
    let options: ImageOptions

    /// Requested times whose frames are in the same segment, in time order.
    typealias Job = [ImageWish]

    // MARK: Planning

    /// Groups the requested times by the segment of their frames, with the first playlist that can be loaded.
    func jobs(for wishes: [ImageWish]) async throws -> [Job] {
        var failure: (any Error)?
        for place in library.places {
            do {
                guard let source = try await library.source(place) else { return [wishes] }
                return groups(of: wishes, in: source).map(\.wishes)
            } catch let error as HLSError where error.code != .network && error.code != .refused {
                failure = failure ?? error
            }
        }
        throw failure ?? HLSError.notAvailable("the stream has no video")
    }

    private func groups(
        of wishes: [ImageWish], in source: PictureSource
    ) -> [(plan: PictureSource.Plan?, wishes: [ImageWish])] {
        var groups: [(plan: PictureSource.Plan?, wishes: [ImageWish])] = []
        for wish in wishes {
            let plan = source.plan(wish.time, options)
            if let last = groups.last, last.plan == plan, plan != nil {
                groups[groups.count - 1].wishes.append(wish)
            } else {
                groups.append((plan, [wish]))
            }
        }
        return groups
    }

    // MARK: Working

    /// Creates the images of a job and delivers each when it is ready, then the failures.
    ///
    /// - Throws: `CancellationError` and the errors of `deliver`.
    func run(_ job: Job, _ deliver: @escaping (ImageWish, ImageGenerationResult) async throws -> Void) async throws {
        var open = job
        var failures: [Int: HLSError] = [:]
        for place in library.places where !open.isEmpty {
            var done: Set<Int> = []
            var here: [Int: HLSError] = [:]
            do {
                try await take(open, from: place, &here) { wish, result in
                    guard done.insert(wish.index).inserted else { return }
                    try await deliver(wish, result)
                }
            } catch let error as HLSError {
                for wish in open { here[wish.index] = here[wish.index] ?? error }
            }
            open.removeAll { done.contains($0.index) }
            // The first failure counts because it is the failure of the best source.
            failures.merge(here) { first, _ in first }
            // The same host would fail again, a forbidden resource remains forbidden, and all sources end at the same
            // time.
            let given = open.filter { wish in
                here[wish.index].map { $0.code == .network || $0.code == .refused || $0 == Self.outside } == true
            }
            for wish in given { try await deliver(wish, failed(wish, failures)) }
            open.removeAll { given.contains($0) }
        }
        open = try await takeNearest(open, failures, deliver: deliver)
        for wish in open { try await deliver(wish, failed(wish, failures)) }
    }

    private func failed(_ wish: ImageWish, _ failures: [Int: HLSError]) -> ImageGenerationResult {
        .failed(
            requested: wish.requested,
            error: failures[wish.index] ?? .notAvailable("no frame within the tolerance"))
    }

    private func take(
        _ wishes: [ImageWish], from place: PictureLibrary.Place, _ failures: inout [Int: HLSError],
        _ deliver: @escaping (ImageWish, ImageGenerationResult) async throws -> Void
    ) async throws {
        if case .file(let file, let end) = place {
            let end = end.duration ?? .zero
            let wishes = wishes.filter { note(before: end, $0, &failures) }
            try await translating(file.url) {
                try await file.find(wishes, options, client: store.client) { wish, picture in
                    try await deliver(wish, image(of: picture, for: wish, end: end))
                }
            }
            return
        }
        guard let source = try await library.source(place) else { return }
        let possible = wishes.filter {
            !source.hasExactEnd || note(from: source.start, before: source.end, $0, &failures)
        }
        for (plan, group) in groups(of: possible, in: source) {
            let search = PictureSearch(store: store, source: source, options: options) { wish, picture in
                try await deliver(wish, image(of: picture, for: wish, start: source.start, end: source.end))
            }
            do {
                try await translating(source.playlist.url) {
                    switch plan {
                    case .head(let index):
                        let rest = try await search.takeHead(of: index, for: group)
                        if let first = rest.first {
                            try await search.find(rest, from: source.index(at: first.time))
                        }
                    case .search(let index): try await search.find(group, from: index)
                    case nil:
                        throw HLSError(code: .notAvailable, urlString: source.playlist.url, cause: gapText(source))
                    }
                }
            } catch let error as HLSError {
                // Another source may have a suitable I-frame.
                if plan == nil, source.kind == .iFrames { continue }
                for wish in group { failures[wish.index] = failures[wish.index] ?? error }
            }
        }
    }

    private func gapText(_ source: PictureSource) -> String {
        source.segmentCount == 0 ? "the playlist lists no segment" : "the stream has a gap there"
    }

    private func note(
        from start: Duration = .zero, before end: Duration, _ wish: ImageWish, _ failures: inout [Int: HLSError]
    ) -> Bool {
        // The playlist's durations are rounded.
        let slack = Duration.seconds(1)
        let earliest = options.toleranceBefore.map { wish.time - $0 } ?? .zero
        let latest = options.toleranceAfter.map { wish.time + $0 } ?? start
        if earliest >= end + slack || latest < start {
            failures[wish.index] = Self.outside
            return false
        }
        return true
    }

    private static let outside = HLSError.notAvailable("the time is outside the available media")

    func image(
        of picture: Picture, for wish: ImageWish, start: Duration = .zero, end: Duration
    ) -> ImageGenerationResult {
        let isBehindEnd = wish.time >= max(end, picture.end)
        if isBehindEnd || wish.time < start, !options.allows(picture.time, for: wish.time) {
            return .failed(requested: wish.requested, error: Self.outside)
        }
        do throws(CodecError) {
            let image = try StillImage(
                converting: picture.frame, maximumSize: options.maximumSize, apertureMode: options.apertureMode,
                dynamicRangePolicy: options.dynamicRangePolicy, appliesPreferredTransform: options.appliesTransform)
            return .succeeded(requested: wish.requested, actual: MediaTime(picture.time), image: image)
        } catch {
            return .failed(requested: wish.requested, error: HLSError(error))
        }
    }

    func translating(_ url: String, _ body: () async throws -> Void) async throws {
        do {
            try await body()
        } catch let error as CodecError {
            throw HLSError(error, url: url)
        } catch let error as MediaError {
            throw HLSError(error, url: url)
        }
    }
}
