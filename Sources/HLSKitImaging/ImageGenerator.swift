public import HLSKitAsset
public import HLSKitCodec
public import HLSKitLoading
public import HLSKitTime
import Synchronization

/// Makes still images of an asset's video: thumbnails, previews for a scrubbing bar, single pictures.
///
/// It loads as little as the tolerances allow. I-frame playlists (`EXT-X-I-FRAME-STREAM-INF`) come first; where there are
/// none that will do, the smallest variant that fills ``maximumSize``. With tolerances, of a segment only the beginning
/// is loaded. Each segment is loaded once for all times of a request that fall into it. Encrypted media with identity
/// keys, fMP4, transport streams, byte ranges and bare media files are read as a player reads them.
///
/// ```swift
/// let generator = ImageGenerator(asset: asset)
/// generator.maximumSize = PixelSize(width: 200, height: 0)
/// for await result in generator.images(for: times) {
///     if case .succeeded(let requested, let actual, let image) = result { … }
/// }
/// ```
///
/// Settings apply to requests that are made afterwards. Every request to a server has the deadlines and retries of
/// the asset's options. In a live stream times count from the start of the first playlist that images were taken from.
/// Playlists are loaded again where they are used and something new may be listed: there are images of what is in the window
/// by then, and of nothing before it.
///
/// See docs/reference/outputs-and-media.md.
public final class ImageGenerator: Sendable {
    private struct State {
        var options = ImageOptions()
        var maximumBytesPerSecond: Int?
        var batches: [ObjectIdentifier: WeakBatch] = [:]
    }

    private struct WeakBatch {
        weak var batch: ImageBatch?
    }

    /// The asset of which the images are.
    public let asset: Asset
    private let store: PictureStore
    private let state = Mutex(State())

    /// Makes no request.
    public init(asset: Asset) {
        self.asset = asset
        store = PictureStore(asset.inspector)
    }

    // MARK: Options

    /// Images are made to fit into this, in pixels; never enlarged. A side of 0 follows from the other and the shape of the
    /// picture. Default: zero, which sets no limit.
    ///
    /// Decides which variant is used, too.
    public var maximumSize: PixelSize {
        get { state.withLock { $0.options.maximumSize } }
        set { state.withLock { $0.options.maximumSize = newValue } }
    }

    /// How much earlier than asked for a picture may be. Default: positive infinity. With `.zero` here and in
    /// ``requestedTimeToleranceAfter`` the picture is the one that playing shows at the time; that costs the loading and
    /// decoding of all pictures it depends on.
    public var requestedTimeToleranceBefore: MediaTime {
        get { state.withLock { $0.options.toleranceBefore }.map(MediaTime.init) ?? .positiveInfinity }
        set { state.withLock { $0.options.toleranceBefore = ImageOptions.tolerance(newValue) } }
    }

    /// How much later than asked for a picture may be. Default: positive infinity.
    public var requestedTimeToleranceAfter: MediaTime {
        get { state.withLock { $0.options.toleranceAfter }.map(MediaTime.init) ?? .positiveInfinity }
        set { state.withLock { $0.options.toleranceAfter = ImageOptions.tolerance(newValue) } }
    }

    /// Whether pictures are turned as the track header of an MP4 file says. Default: false.
    public var appliesPreferredTrackTransform: Bool {
        get { state.withLock { $0.options.appliesTransform } }
        set { state.withLock { $0.options.appliesTransform = newValue } }
    }

    /// Bytes a second that all requests for segments, initialization sections and keys of this generator receive together,
    /// so that images leave a player its network. nil (the default) sets no limit. Takes effect at once.
    public var maximumBytesPerSecond: Int? {
        get { state.withLock(\.maximumBytesPerSecond) }
        set {
            let limit = newValue.map { max(1, $0) }
            state.withLock { $0.maximumBytesPerSecond = limit }
            store.pace.setLimit(bytesPerSecond: limit)
        }
    }

    /// Which part of a frame an image shows, and with which shape of pixels. Default: its clean aperture in square pixels.
    public var apertureMode: ImageApertureMode {
        get { state.withLock { $0.options.apertureMode } }
        set { state.withLock { $0.options.apertureMode = newValue } }
    }

    /// How high dynamic range is turned into images. Default: ``DynamicRangePolicy/forceSDR``.
    public var dynamicRangePolicy: DynamicRangePolicy {
        get { state.withLock { $0.options.dynamicRangePolicy } }
        set { state.withLock { $0.options.dynamicRangePolicy = newValue } }
    }

    // MARK: Images

    /// The times of which there are pictures: from zero to the end of what the playlist lists, or of the media file; of a
    /// live stream the window as it is now. The duration is `.indefinite` where a file does not say.
    ///
    /// Costs the playlist that images are taken from.
    /// - Throws: ``HLSError``.
    public func loadTimeRange() async throws(HLSError) -> MediaTimeRange {
        try await HLSError.typed {
            let library = try await PictureLibrary(store, state.withLock { $0.options })
            return try await library.timeRange()
        }
    }

    /// The image at a time, and the time at which its picture is really shown.
    ///
    /// - Throws: ``HLSError``; with ``HLSError/Code/cancelled`` after ``cancelAllImageGeneration()`` or when the task is
    ///   cancelled.
    public func image(at time: MediaTime) async throws(HLSError) -> (image: StillImage, actualTime: MediaTime) {
        for await result in images(for: [time]) {
            switch result {
            case .succeeded(_, let actual, let image): return (image, actual)
            case .failed(_, let error): throw error
            case .cancelled: break
            }
        }
        throw HLSError(CancellationError())
    }

    /// The images at some times: exactly one result for each of them, in the order of time.
    ///
    /// The work begins with the first result that is asked for, and goes a few images ahead. It ends with the loop, by
    /// ``cancelAllImageGeneration()`` and with the task; what is left is then `cancelled`. Each loop over the sequence
    /// makes the images again.
    public func images(for times: [MediaTime]) -> Images {
        Images(generator: self, times: times, options: state.withLock { $0.options })
    }

    /// Ends all requests: every result that was not taken yet is `cancelled`.
    public func cancelAllImageGeneration() {
        let batches = state.withLock { state in
            defer { state.batches = [:] }
            return state.batches.values.compactMap(\.batch)
        }
        for batch in batches { batch.cancel() }
    }

    fileprivate func makeBatch(_ times: [MediaTime], _ options: ImageOptions) -> ImageBatch {
        let batch = ImageBatch(times, store: store, options: options)
        state.withLock { state in
            state.batches = state.batches.filter { $0.value.batch != nil }
            state.batches[ObjectIdentifier(batch)] = WeakBatch(batch: batch)
        }
        return batch
    }
}

extension ImageGenerator {
    /// The results of one request, in the order of time.
    public struct Images: AsyncSequence, Sendable {
        let generator: ImageGenerator
        let times: [MediaTime]
        let options: ImageOptions

        public func makeAsyncIterator() -> AsyncIterator {
            AsyncIterator(batch: generator.makeBatch(times, options))
        }

        /// Hands out one result after the other.
        public struct AsyncIterator: AsyncIteratorProtocol {
            /// Ends the work when no one iterates any more.
            private final class Owner {
                let batch: ImageBatch
                init(_ batch: ImageBatch) { self.batch = batch }
                deinit { batch.cancel() }
            }

            private let owner: Owner
            private var index = 0

            init(batch: ImageBatch) { owner = Owner(batch) }

            public mutating func next() async -> ImageGenerationResult? {
                let batch = owner.batch
                guard index < batch.wishes.count else { return nil }
                let result = await batch.result(index)
                index += 1
                return result
            }
        }
    }
}
