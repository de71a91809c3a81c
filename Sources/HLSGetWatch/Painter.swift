import HLSKitCore
import Synchronization

/// Draws text to images outside the window's thread, because finding the system's fonts takes time.
///
/// Each place has one text. A new one replaces an undrawn one.
final class Painter: Sendable {
    enum Place: Hashable, Sendable, CaseIterable {
        case captions
        /// The captions that follow.
        case upcoming
        case status, pointer
    }

    struct Work: Hashable, Sendable {
        var captions: [Caption]
        /// The size of the image; letters have a twentieth of its height.
        var size: PixelSize
        /// The number of rows to keep, counted from the bottom, or `nil` to keep all.
        var rowCount: Int?
    }

    private struct State {
        var wanted: [Place: Work] = [:]
        var drawn: [Place: (work: Work, image: StillImage?)] = [:]
        var error: HLSError?
    }

    private let state = Mutex(State())
    private let (requests, request) = AsyncStream.makeStream(of: Place.self, bufferingPolicy: .bufferingNewest(16))

    /// Starts the worker, which ends with ``close()``.
    init() {
        // Load the fonts before the first caption arrives.
        want(Work(captions: [Self.line(" ")], size: PixelSize(width: 64, height: 64)), at: .pointer)
        let requests = requests
        Task.detached(priority: .userInitiated) { [weak self] in
            let renderer = CaptionRenderer(size: PixelSize(width: 1, height: 1))
            for await place in requests {
                guard let self else { return }
                self.draw(place, renderer)
            }
        }
    }

    func close() { request.finish() }

    var error: HLSError? { state.withLock(\.error) }

    /// Requests a text, unless it is drawn or queued.
    func want(_ work: Work, at place: Place) {
        let isNew = state.withLock { state in
            guard state.wanted[place] != work else { return false }
            state.wanted[place] = work
            return true
        }
        if isNew { request.yield(place) }
    }

    /// The latest image of a place, which may show the previous text while a new one is drawn.
    func image(at place: Place) -> (work: Work, image: StillImage)? {
        state.withLock { state in state.drawn[place].flatMap { drawn in drawn.image.map { (drawn.work, $0) } } }
    }

    func image(of work: Work) -> StillImage? {
        state.withLock { state in state.drawn.values.first { $0.work == work }.flatMap(\.image) }
    }

    private func draw(_ place: Place, _ renderer: CaptionRenderer) {
        guard let work = state.withLock({ $0.wanted[place] }) else { return }
        renderer.size = work.size
        renderer.captions = work.captions
        do {
            let image = Self.lowerRows(of: try renderer.render(at: .zero), work.rowCount)
            state.withLock { $0.drawn[place] = (work, image) }
        } catch {
            state.withLock { state in
                state.error = error
                state.drawn[place] = (work, nil)
            }
        }
    }

    private static func lowerRows(of image: StillImage, _ count: Int?) -> StillImage? {
        guard let count, count < image.height else { return image }
        let pixels = image.pixels.suffix(count * image.width * 4)
        return StillImage(width: image.width, height: count, pixels: Array(pixels))
    }

    static func line(_ text: String, alignment: Caption.TextAlignment = .left) -> Caption {
        Caption(
            text, timeRange: MediaTimeRange(start: .zero, duration: .seconds(1)), textAlignment: alignment)
    }
}
