public import HLSKitCodec
public import HLSKitLoading
package import HLSKitMedia
package import HLSKitSelection
public import HLSKitTime
import Synchronization

/// An output that delivers an item's frames, on request (for a display link) or as a sequence.
///
/// ```swift
/// let output = VideoOutput(displaySize: PixelSize(width: 640, height: 360), scale: 2, pixelFormat: .bgra)
/// try item.add(output)
/// for await frame in output.frames() { show(frame, in: output.videoRect(for: frame.presentationSize)) }
/// ```
///
/// The output keeps at most 8 frames for requests and drops the oldest. Frames are in presentation order.
///
/// A reader of ``frames()`` reads at its own pace. Without pacing (`PlayerConfiguration.pacing`), decoding waits for
/// the reader, which receives every frame. With pacing, time does not wait. A reader that falls behind by four frames
/// loses the oldest, which ``numberOfLostFrames`` counts.
///
/// The display size of an item's largest output limits which variants are loaded. See ``displaySize``.
public final class VideoOutput: PlayerItemOutput {
    /// The colours of frames.
    public enum ColorPolicy: Sendable, Hashable {
        /// The source's colours, which may be wide colour or HDR. See ``VideoFrame/colorTags``.
        case preserve
        /// The given colour space, with standard dynamic range.
        ///
        /// Variants in `PQ` and `HLG` are selected only if there are no others. Their bright frames are then
        /// tone-mapped. Without libavfilter, only the matrix and range are converted, and HDR remains. See
        /// ``VideoFrame/colorTags``.
        case convert(to: WorkingColorSpace)
    }

    /// A colour space to which frames are converted.
    public enum WorkingColorSpace: String, Sendable, Hashable, Codable, CaseIterable {
        /// ITU-R BT.709, limited range.
        case rec709
    }

    package static let maximumFrameCount = 8

    private struct State {
        var displaySize: PixelSize?
        var scale: Double
        var gravity: VideoGravity
        var generation = 0
        /// The frames in presentation order that were not requested yet.
        var frames: [(time: MediaTime, frame: VideoFrame)] = []
        var lastTaken: MediaTime?
        var lastPresentationSize: PixelSize?
        var isReadyForDisplay = false
        var isReverse = false

        func hasBegun(_ frame: MediaTime, at time: MediaTime) -> Bool {
            isReverse ? frame >= time : frame <= time
        }
    }

    /// The colours of frames.
    public let colorPolicy: ColorPolicy
    /// The pixel format of frames.
    public let pixelFormat: PixelFormat
    private let state: Mutex<State>
    private let converter: Mutex<FrameConverter>
    private let sequence = MediaReaders<VideoFrame>(limit: 4)
    private let flushNotices = Broadcast<Void>(.bufferingNewest(4))
    public let binding = OutputBinding()

    /// Creates an output.
    ///
    /// - Parameters:
    ///   - displaySize: The size of the display, in points. With the default, `nil`, frames are shown at any size.
    ///   - scale: The pixels per point. The default is 1.
    ///   - gravity: The way frames are fitted to the display. With the default, the whole frame is visible.
    ///   - colorPolicy: The colours of frames. The default is the source's colours.
    ///   - pixelFormat: The pixel format of frames. The default is the decoder's format.
    public init(
        displaySize: PixelSize? = nil, scale: Double = 1, gravity: VideoGravity = .resizeAspect,
        colorPolicy: ColorPolicy = .preserve, pixelFormat: PixelFormat = .native
    ) {
        self.colorPolicy = colorPolicy
        self.pixelFormat = pixelFormat
        state = Mutex(State(displaySize: displaySize, scale: scale, gravity: gravity))
        converter = Mutex(FrameConverter(to: pixelFormat, convertsToRec709: colorPolicy == .convert(to: .rec709)))
    }

    // MARK: Display

    /// The size of the display, in points, or `nil` to show frames at any size.
    ///
    /// Multiplied by ``scale``, it is the size in pixels that the output needs. The player finds the smallest variant
    /// that meets the needs of the item's largest output, and does not load larger ones. It reads the size at each
    /// selection, so a change takes effect with the next segment.
    public var displaySize: PixelSize? {
        get { state.withLock(\.displaySize) }
        set {
            state.withLock { $0.displaySize = newValue }
            binding.noteChange()
        }
    }

    /// The pixels per point.
    ///
    /// A value that is not above zero has the effect of 1.
    public var scale: Double {
        get { state.withLock(\.scale) }
        set {
            state.withLock { $0.scale = newValue }
            binding.noteChange()
        }
    }

    /// The way frames are fitted to the display.
    public var gravity: VideoGravity {
        get { state.withLock(\.gravity) }
        set {
            state.withLock { $0.gravity = newValue }
            binding.noteChange()
        }
    }

    /// Returns the rectangle for a frame of this size (``VideoFrame/presentationSize``), in display pixels.
    ///
    /// Without a ``displaySize``, the display has the size of the frame.
    public func videoRect(for frame: PixelSize) -> PixelRect {
        let (display, gravity) = state.withLock { (Self.pixels($0), $0.gravity) }
        return gravity.rect(of: frame, in: display ?? frame)
    }

    /// The rectangle of the last frame, or zero before the first frame.
    public var videoRect: PixelRect {
        state.withLock(\.lastPresentationSize).map { videoRect(for: $0) } ?? .zero
    }

    /// A Boolean value that indicates whether a frame has arrived.
    ///
    /// It becomes `false` when playback of the item ends.
    public var isReadyForDisplay: Bool { state.withLock(\.isReadyForDisplay) }

    // MARK: Pictures

    /// Returns whether there is a frame for `itemTime` that was not taken yet.
    public func hasNewFrame(for itemTime: MediaTime) -> Bool {
        guard itemTime.isNumeric else { return false }
        return state.withLock { state in state.frames.first.map { state.hasBegun($0.time, at: itemTime) } ?? false }
    }

    /// Takes the frame to show at `itemTime`, with its start time.
    ///
    /// The result is `nil` if the frame was already taken or there is none. Earlier frames are dropped. `itemTime` may
    /// be a little ahead. If you requested another pixel format or colour, the frame is converted on the calling
    /// thread.
    /// - Throws: An error if the frame cannot be converted.
    public func copyFrame(for itemTime: MediaTime) throws(HLSError) -> (frame: VideoFrame, displayTime: MediaTime)? {
        guard itemTime.isNumeric else { return nil }
        let taken = state.withLock { state -> (time: MediaTime, frame: VideoFrame)? in
            guard let index = state.frames.lastIndex(where: { state.hasBegun($0.time, at: itemTime) }) else {
                return nil
            }
            let taken = state.frames[index]
            state.frames.removeFirst(index + 1)
            state.lastTaken = taken.time
            return taken
        }
        guard let taken else { return nil }
        let frame = try HLSError.converting { () throws(CodecError) in try converted(taken.frame) }
        return (frame, taken.time)
    }

    /// Returns a sequence of the frames from now on, each delivered when the timebase reaches it.
    ///
    /// Without pacing, a frame is delivered as soon as it is decoded and there is space for it. If a frame cannot be
    /// converted, it is delivered unchanged. The sequence ends when the output is removed from its item, when the item
    /// fails and when it is no longer played.
    public func frames() -> AsyncStream<VideoFrame> { binding.subscribe(to: sequence) }

    /// The number of frames that readers of ``frames()`` have lost because they are slower than playback.
    ///
    /// A frame that two readers lose counts twice. Without pacing, the number is 0, because decoding waits for readers.
    public var numberOfLostFrames: Int { sequence.lostCount }

    /// Returns a sequence with an element for each time jump.
    ///
    /// When an element arrives, discard all earlier frames. The sequence ends when the sequence of ``frames()`` does.
    public func flushes() -> AsyncStream<Void> { binding.subscribe(to: flushNotices) }

    private func converted(_ frame: VideoFrame) throws(CodecError) -> VideoFrame {
        try converter.withLock { converter throws(CodecError) in try converter.convert(frame) }
    }

    private static func pixels(_ state: State) -> PixelSize? {
        guard let size = state.displaySize, size.width > 0, size.height > 0 else { return nil }
        let scale = state.scale.isFinite && state.scale > 0 ? state.scale : 1
        // A larger size excludes no variant.
        func pixels(_ points: Int) -> Int { Int(min(Double(points) * scale, 1e6).rounded(.up)) }
        return PixelSize(width: pixels(size.width), height: pixels(size.height))
    }
}

extension VideoOutput: IntakeOutput {
    var intake: any OutputReceiver { Intake(output: self) }

    package var limits: OutputLimits {
        let display = state.withLock { state in
            Self.pixels(state).map { DisplayArea(size: $0, gravity: state.gravity) }
        }
        return OutputLimits(display: display, needsStandardRange: colorPolicy != .preserve)
    }

    package func prepare(_ frame: VideoFrame, at clock: OutputClock) {
        state.withLock { Self.take(frame, clock, &$0) }
    }

    package func receive(_ frame: VideoFrame, at clock: OutputClock) {
        let isCurrent = state.withLock { state in
            // Outputs that were added late have not seen it before.
            Self.take(frame, clock, &state)
            return clock.generation >= state.generation
        }
        guard isCurrent, sequence.hasReaders else { return }
        sequence.send((try? converted(frame)) ?? frame)
    }

    private static func take(_ frame: VideoFrame, _ clock: OutputClock, _ state: inout State) {
        guard clock.generation >= state.generation, let time = frame.itemTime else { return }
        state.isReadyForDisplay = true
        state.lastPresentationSize = frame.presentationSize
        state.isReverse = clock.isReverse
        if let last = state.frames.last?.time ?? state.lastTaken, state.hasBegun(time, at: last) { return }
        state.frames.append((time, frame))
        if state.frames.count > maximumFrameCount { state.frames.removeFirst() }
    }

    package func flush(generation: Int) {
        let isNews = state.withLock { state in
            defer {
                state.generation = generation
                state.frames = []
                state.lastTaken = nil
            }
            return generation > state.generation && state.isReadyForDisplay
        }
        sequence.flush(generation: generation)
        if isNews { flushNotices.send(()) }
    }

    package func finish(_ type: MediaKind, at clock: OutputClock) {}

    package func end() {
        state.withLock { state in
            state.frames = []
            state.lastTaken = nil
            state.lastPresentationSize = nil
            state.isReadyForDisplay = false
            state.generation = 0
        }
        sequence.finish()
        flushNotices.finish()
    }
}

extension VideoOutput {
    private final class Intake: EarlyFrameReceiver, LimitedOutput, ReadOutput {
        let output: VideoOutput
        var binding: OutputBinding { output.binding }

        init(output: VideoOutput) { self.output = output }

        var limits: OutputLimits { output.limits }
        var lostCount: Int { output.sequence.lostCount }
        func waitForRoom(generation: Int) async { await output.sequence.waitForRoom(generation: generation) }
        func prepare(_ frame: VideoFrame, at clock: OutputClock) { output.prepare(frame, at: clock) }
        func receive(_ frame: VideoFrame, at clock: OutputClock) { output.receive(frame, at: clock) }
        func flush(generation: Int) { output.flush(generation: generation) }
        func finish(_ type: MediaKind, at clock: OutputClock) { output.finish(type, at: clock) }
        func end() { output.end() }
    }
}
