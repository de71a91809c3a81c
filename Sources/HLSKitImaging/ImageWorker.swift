import HLSKitCodec
import HLSKitLoading
import HLSKitMedia
import HLSKitPlaylist
import HLSKitTime

struct ImageWorker: Sendable {
    let store: FrameStore
    let library: FrameLibrary
    let options: ImageOptions

    /// Requested times whose frames are in the same segment, in time order.
    typealias Job = [RequestedImage]

    // MARK: Planning

    /// Groups the requested times by the segment of their frames, with the first playlist that can be loaded.
    func jobs(for requests: [RequestedImage]) async throws -> [Job] {
        var failure: (any Error)?
        for place in library.places {
            do {
                guard let source = try await library.source(place) else { return [requests] }
                return groups(of: requests, in: source).map(\.requests)
            } catch let error as HLSError where error.code != .network && error.code != .refused {
                failure = failure ?? error
            }
        }
        throw failure ?? HLSError.notAvailable("the stream has no video")
    }

    private func groups(
        of requests: [RequestedImage], in source: FrameSource
    ) -> [(plan: FrameSource.Plan?, requests: [RequestedImage])] {
        var groups: [(plan: FrameSource.Plan?, requests: [RequestedImage])] = []
        for request in requests {
            let plan = source.plan(request.time, options)
            if let last = groups.last, last.plan == plan, plan != nil {
                groups[groups.count - 1].requests.append(request)
            } else {
                groups.append((plan, [request]))
            }
        }
        return groups
    }

    // MARK: Working

    /// Creates the images of a job and delivers each when it is ready, then the failures.
    ///
    /// - Throws: `CancellationError` and the errors of `deliver`.
    func run(_ job: Job, _ deliver: @escaping (RequestedImage, ImageGenerationResult) async throws -> Void) async throws
    {
        var open = job
        var failures: [Int: HLSError] = [:]
        for place in library.places where !open.isEmpty {
            var done: Set<Int> = []
            var here: [Int: HLSError] = [:]
            do {
                try await take(open, from: place, &here) { request, result in
                    guard done.insert(request.index).inserted else { return }
                    try await deliver(request, result)
                }
            } catch let error as HLSError {
                for request in open { here[request.index] = here[request.index] ?? error }
            }
            open.removeAll { done.contains($0.index) }
            // The first failure counts because it is the failure of the best source.
            failures.merge(here) { first, _ in first }
            // The same host would fail again, a forbidden resource remains forbidden, and all sources end at the same
            // time.
            let given = open.filter { request in
                here[request.index].map { $0.code == .network || $0.code == .refused || $0 == Self.outside } == true
            }
            for request in given { try await deliver(request, failed(request, failures)) }
            open.removeAll { given.contains($0) }
        }
        open = try await takeNearest(open, failures, deliver: deliver)
        for request in open { try await deliver(request, failed(request, failures)) }
    }

    private func failed(_ request: RequestedImage, _ failures: [Int: HLSError]) -> ImageGenerationResult {
        .failed(
            requested: request.requested,
            error: failures[request.index] ?? .notAvailable("no frame within the tolerance"))
    }

    private func take(
        _ requests: [RequestedImage], from place: FrameLibrary.Place, _ failures: inout [Int: HLSError],
        _ deliver: @escaping (RequestedImage, ImageGenerationResult) async throws -> Void
    ) async throws {
        if case .file(let file, let end) = place {
            let end = end.duration ?? .zero
            let requests = requests.filter { note(before: end, $0, &failures) }
            try await translating(file.url) {
                try await file.find(requests, options, client: store.client) { request, frame in
                    try await deliver(request, image(of: frame, for: request, end: end))
                }
            }
            return
        }
        guard let source = try await library.source(place) else { return }
        let possible = requests.filter {
            !source.hasExactEnd || note(from: source.start, before: source.end, $0, &failures)
        }
        for (plan, group) in groups(of: possible, in: source) {
            let search = FrameSearch(store: store, source: source, options: options) { request, frame in
                try await deliver(request, image(of: frame, for: request, start: source.start, end: source.end))
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
                for request in group { failures[request.index] = failures[request.index] ?? error }
            }
        }
    }

    private func gapText(_ source: FrameSource) -> String {
        source.segmentCount == 0 ? "the playlist lists no segment" : "the stream has a gap there"
    }

    private func note(
        from start: Duration = .zero, before end: Duration, _ request: RequestedImage, _ failures: inout [Int: HLSError]
    ) -> Bool {
        // The playlist's durations are rounded.
        let slack = Duration.seconds(1)
        let earliest = options.toleranceBefore.map { request.time - $0 } ?? .zero
        let latest = options.toleranceAfter.map { request.time + $0 } ?? start
        if earliest >= end + slack || latest < start {
            failures[request.index] = Self.outside
            return false
        }
        return true
    }

    private static let outside = HLSError.notAvailable("the time is outside the available media")

    func image(
        of frame: Frame, for request: RequestedImage, start: Duration = .zero, end: Duration
    ) -> ImageGenerationResult {
        let isPastEnd = request.time >= max(end, frame.end)
        if isPastEnd || request.time < start, !options.allows(frame.time, for: request.time) {
            return .failed(requested: request.requested, error: Self.outside)
        }
        do throws(CodecError) {
            let image = try StillImage(
                converting: frame.frame, maximumSize: options.maximumSize, apertureMode: options.apertureMode,
                dynamicRangePolicy: options.dynamicRangePolicy, appliesPreferredTransform: options.appliesTransform)
            return .succeeded(requested: request.requested, actual: MediaTime(frame.time), image: image)
        } catch {
            return .failed(requested: request.requested, error: HLSError(error))
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
