public import HLSKitAsset
public import HLSKitCodec
public import HLSKitLoading
public import HLSKitTime
import Synchronization

/// Creates still images of an asset's video: thumbnails, previews for a scrubbing bar and single frames.
///
/// The generator loads as little as the tolerances allow. It prefers I-frame playlists (`EXT-X-I-FRAME-STREAM-INF`). If
/// none is suitable, it uses the smallest variant that fills ``maximumSize``. With tolerances, it loads only the
/// beginning of a segment. It loads each segment once for all times of a request within it. Encrypted media with
/// identity keys, fMP4, transport streams, byte ranges and plain media files are supported as in a player.
///
/// ```swift
/// let generator = ImageGenerator(asset: asset)
/// generator.maximumSize = PixelSize(width: 200, height: 0)
/// for await result in generator.images(for: times) {
///     if case .succeeded(let requested, let actual, let image) = result { … }
/// }
/// ```
///
/// Changed settings apply to later requests. Every request to a server has the deadlines and retries of the asset's
/// options. In a live stream, times count from the start of the first playlist used for images. Playlists are reloaded
/// when they are used and may have changed, so images exist only for the current window.
public final class ImageGenerator: Sendable {
    private struct State {
        var options = ImageOptions()
        var maximumBytesPerSecond: Int?
        var batches: [ObjectIdentifier: WeakBatch] = [:]
    }

    private struct WeakBatch {
        weak var batch: ImageBatch?
    }

    /// The asset that the images show.
    public let asset: Asset
    private let store: FrameStore
    private let state = Mutex(State())

    /// Creates a generator.
    ///
    /// The initializer makes no request.
    public init(asset: Asset) {
        self.asset = asset
        store = FrameStore(asset.inspector)
    }

    // MARK: Options

    /// The maximum size of the images, in pixels.
    ///
    /// Images are never enlarged. If one side is 0, it follows from the other and the aspect ratio. The size also
    /// determines the variant. The default is zero, which sets no limit.
    public var maximumSize: PixelSize {
        get { state.withLock { $0.options.maximumSize } }
        set { state.withLock { $0.options.maximumSize = newValue } }
    }

    /// The maximum time by which a frame may be earlier than requested.
    ///
    /// If this property and ``requestedTimeToleranceAfter`` are `.zero`, the image is the frame that playback shows at
    /// the time. In that case, all frames that it depends on must be loaded and decoded. The default is positive
    /// infinity.
    public var requestedTimeToleranceBefore: MediaTime {
        get { state.withLock { $0.options.toleranceBefore }.map(MediaTime.init) ?? .positiveInfinity }
        set { state.withLock { $0.options.toleranceBefore = ImageOptions.tolerance(newValue) } }
    }

    /// The maximum time by which a frame may be later than requested.
    ///
    /// The default is positive infinity.
    public var requestedTimeToleranceAfter: MediaTime {
        get { state.withLock { $0.options.toleranceAfter }.map(MediaTime.init) ?? .positiveInfinity }
        set { state.withLock { $0.options.toleranceAfter = ImageOptions.tolerance(newValue) } }
    }

    /// A Boolean value that indicates whether images are rotated as an MP4 file's track header says.
    ///
    /// The default is `false`.
    public var appliesPreferredTrackTransform: Bool {
        get { state.withLock { $0.options.appliesTransform } }
        set { state.withLock { $0.options.appliesTransform = newValue } }
    }

    /// The maximum rate, in bytes per second, of all media requests of this generator together.
    ///
    /// It limits requests for segments, initialization sections and keys, so that a player keeps its bandwidth. The
    /// default, `nil`, sets no limit. A change takes effect immediately.
    public var maximumBytesPerSecond: Int? {
        get { state.withLock(\.maximumBytesPerSecond) }
        set {
            let limit = newValue.map { max(1, $0) }
            state.withLock { $0.maximumBytesPerSecond = limit }
            store.pace.setLimit(bytesPerSecond: limit)
        }
    }

    /// The part of a frame that an image shows, and the shape of its pixels.
    ///
    /// The default is the clean aperture in square pixels.
    public var apertureMode: ImageApertureMode {
        get { state.withLock { $0.options.apertureMode } }
        set { state.withLock { $0.options.apertureMode = newValue } }
    }

    /// The conversion of high dynamic range video to images.
    ///
    /// The default is ``DynamicRangePolicy/forceSDR``.
    public var dynamicRangePolicy: DynamicRangePolicy {
        get { state.withLock { $0.options.dynamicRangePolicy } }
        set { state.withLock { $0.options.dynamicRangePolicy = newValue } }
    }

    // MARK: Images

    /// Loads the time range for which images exist.
    ///
    /// The range begins at zero and ends with the playlist or the media file. In a live stream it is the current
    /// window. The duration is `.indefinite` if a file does not declare it.
    ///
    /// This method needs the playlist that images are taken from.
    ///
    /// - Throws: ``HLSError``.
    public func loadTimeRange() async throws(HLSError) -> MediaTimeRange {
        try await HLSError.typed {
            let library = try await FrameLibrary(store, state.withLock { $0.options })
            return try await library.timeRange()
        }
    }

    /// Returns the image at a time, and the actual presentation time of its frame.
    ///
    /// - Throws: ``HLSError``, with ``HLSError/Code/cancelled`` after ``cancelAllImageGeneration()`` or if the task is
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

    /// Returns a sequence of the images at some times, with exactly one result for each time, in time order.
    ///
    /// The work begins when you request the first result and continues a few images ahead. It ends with the loop, with
    /// ``cancelAllImageGeneration()`` or with the task. Remaining results are then `cancelled`. Each loop over the
    /// sequence creates the images again.
    public func images(for times: [MediaTime]) -> Images {
        Images(generator: self, times: times, options: state.withLock { $0.options })
    }

    /// Ends all requests.
    ///
    /// Every result that has not been delivered is `cancelled`.
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
    /// The results of one request, in time order.
    public struct Images: AsyncSequence, Sendable {
        let generator: ImageGenerator
        let times: [MediaTime]
        let options: ImageOptions

        public func makeAsyncIterator() -> AsyncIterator {
            AsyncIterator(batch: generator.makeBatch(times, options))
        }

        /// An iterator over the results.
        public struct AsyncIterator: AsyncIteratorProtocol {
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
                guard index < batch.requests.count else { return nil }
                let result = await batch.result(index)
                index += 1
                return result
            }
        }
    }
}
