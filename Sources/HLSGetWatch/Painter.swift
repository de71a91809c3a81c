import HLSKitCore
import Synchronization

/// Draws text to images beside the window's thread: finding the fonts of a system takes its time.
///
/// Each place has one text. A new one takes the place of one that was not drawn yet.
final class Painter: Sendable {
    enum Place: Hashable, Sendable, CaseIterable {
        case captions
        /// Those that come next.
        case upcoming
        case status, pointer
    }

    /// A text and how it is drawn.
    struct Work: Hashable, Sendable {
        var captions: [Caption]
        /// Of the image; letters are a twentieth of its height.
        var size: PixelSize
        /// Rows from below that are kept; nil keeps all.
        var rowCount: Int?
    }

    private struct State {
        var wanted: [Place: Work] = [:]
        var drawn: [Place: (work: Work, image: StillImage?)] = [:]
        var error: HLSError?
    }

    private let state = Mutex(State())
    private let (requests, request) = AsyncStream.makeStream(of: Place.self, bufferingPolicy: .bufferingNewest(16))

    /// Begins to work; ends with ``close()``.
    init() {
        // Fonts are looked for before the first caption comes.
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

    /// Why nothing is drawn; nil while all is well.
    var error: HLSError? { state.withLock(\.error) }

    /// Asks for a text, unless it is there or on its way.
    func want(_ work: Work, at place: Place) {
        let isNew = state.withLock { state in
            guard state.wanted[place] != work else { return false }
            state.wanted[place] = work
            return true
        }
        if isNew { request.yield(place) }
    }

    /// The image of what was asked for last, or before it while that is being drawn.
    func image(at place: Place) -> (work: Work, image: StillImage)? {
        state.withLock { state in state.drawn[place].flatMap { drawn in drawn.image.map { (drawn.work, $0) } } }
    }

    /// The image of a text, wherever it was asked for; nil while it is being drawn.
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

    /// Some lines as a caption of any time.
    static func line(_ text: String, alignment: Caption.TextAlignment = .left) -> Caption {
        Caption(
            text, timeRange: MediaTimeRange(start: .zero, duration: .seconds(1)), textAlignment: alignment)
    }
}
