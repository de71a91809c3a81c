public import HLSKitCodec
public import HLSKitLoading
package import HLSKitMedia
package import HLSKitSelection
public import HLSKitTime
import Synchronization

/// Gives the frames of an item: to a loop that asks for the one of now (a display link), or as a sequence that the
/// timebase drives.
///
/// ```swift
/// let output = VideoOutput(displaySize: PixelSize(width: 640, height: 360), scale: 2, pixelFormat: .bgra)
/// try item.add(output)
/// for await frame in output.frames() { show(frame, in: output.videoRect(for: frame.presentationSize)) }
/// ```
///
/// At most 8 frames wait for being asked for; the oldest are dropped. Frames come in presentation order.
///
/// A reader of ``frames()`` reads at its own pace. Without pacing (`PlayerConfiguration.pacing`) decoding waits for it, and it
/// gets every frame. With pacing time does not wait: a reader that falls behind by four frames loses the oldest, which
/// ``numberOfLostFrames`` counts.
///
/// The display size of the largest output of an item limits which variants are loaded: see ``displaySize``.
public final class VideoOutput: PlayerItemOutput {
    /// The colours that frames have.
    public enum ColorPolicy: Sendable, Hashable {
        /// The colour of the source, which may be wide or of high dynamic range: see ``VideoFrame/colorTags``.
        case preserve
        /// Standard dynamic range in the colours of a space. Variants in `PQ` and `HLG` are not chosen while there are
        /// others; if there are none, bright frames are mapped. Without libavfilter only matrix and range are
        /// converted, and high dynamic range comes as it is: see ``VideoFrame/colorTags``.
        case convert(to: WorkingColorSpace)
    }

    /// The colours that frames are converted to.
    public enum WorkingColorSpace: String, Sendable, Hashable, Codable, CaseIterable {
        /// ITU-R BT.709, limited range.
        case rec709
    }

    /// The frames that are held for ``copyFrame(for:)``.
    package static let maximumFrameCount = 8

    private struct State {
        var displaySize: PixelSize?
        var scale: Double
        var gravity: VideoGravity
        var generation = 0
        /// In the order of presentation, not asked for yet.
        var frames: [(time: MediaTime, frame: VideoFrame)] = []
        var lastTaken: MediaTime?
        var lastPresentationSize: PixelSize?
        var isReadyForDisplay = false
        /// Time runs backwards, and pictures come in that order.
        var isReverse = false

        /// Whether a picture is to be seen at a time, or was before.
        func hasBegun(_ picture: MediaTime, at time: MediaTime) -> Bool {
            isReverse ? picture >= time : picture <= time
        }
    }

    /// Which colours frames have.
    public let colorPolicy: ColorPolicy
    /// Which format frames have.
    public let pixelFormat: PixelFormat
    private let state: Mutex<State>
    private let converter: Mutex<FrameConverter>
    private let sequence = MediaReaders<VideoFrame>(limit: 4)
    private let flushNotices = Broadcast<Void>(.bufferingNewest(4))
    public let binding = OutputBinding()

    /// - Parameters:
    ///   - displaySize: where frames are shown, in points; nil (the default) shows them in any size.
    ///   - scale: pixels in a point. Default 1.
    ///   - gravity: how frames are fitted to the display. Default: all of the frame is seen.
    ///   - colorPolicy: default: the colour of the source.
    ///   - pixelFormat: default: as decoded.
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

    /// The size of the display, in points; nil shows frames in any size.
    ///
    /// Times ``scale`` it is the need in pixels: of the variants, those that are larger than the smallest one that meets
    /// the need of the item's largest output are not loaded. Read at each choice, so that a change takes effect at the
    /// next segment. See docs/behaviour/selection.md.
    public var displaySize: PixelSize? {
        get { state.withLock(\.displaySize) }
        set {
            state.withLock { $0.displaySize = newValue }
            binding.noteChange()
        }
    }

    /// Pixels in a point. A number that is not above zero counts as 1.
    public var scale: Double {
        get { state.withLock(\.scale) }
        set {
            state.withLock { $0.scale = newValue }
            binding.noteChange()
        }
    }

    /// How frames are fitted to the display.
    public var gravity: VideoGravity {
        get { state.withLock(\.gravity) }
        set {
            state.withLock { $0.gravity = newValue }
            binding.noteChange()
        }
    }

    /// The rectangle of a frame of this size (``VideoFrame/presentationSize``), in the pixels of the display. Without a
    /// ``displaySize`` it fills a display of its own size.
    public func videoRect(for picture: PixelSize) -> PixelRect {
        let (display, gravity) = state.withLock { (Self.pixels($0), $0.gravity) }
        return gravity.rect(of: picture, in: display ?? picture)
    }

    /// The rectangle of the last frame; zero before the first.
    public var videoRect: PixelRect {
        state.withLock(\.lastPresentationSize).map { videoRect(for: $0) } ?? .zero
    }

    /// A frame has come. Goes back to false when the item is played no longer.
    public var isReadyForDisplay: Bool { state.withLock(\.isReadyForDisplay) }

    // MARK: Pictures

    /// There is a frame for `itemTime` that was not taken yet.
    public func hasNewFrame(for itemTime: MediaTime) -> Bool {
        guard itemTime.isNumeric else { return false }
        return state.withLock { state in state.frames.first.map { state.hasBegun($0.time, at: itemTime) } ?? false }
    }

    /// Takes the frame to show at `itemTime`, with the time at which it begins; nil if it was taken
    /// before or there is none. Earlier frames are dropped. May be asked for a time that is a little ahead.
    ///
    /// Converts in the calling thread where another pixel format or colour was asked for.
    /// - Throws: if the frame cannot be converted.
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

    /// The frames from now on, each when the timebase reaches it; without pacing, each as soon as it is decoded and there is
    /// room for it. Ends when the output is taken from its item, and when the item
    /// fails or is played no longer. A frame that cannot be converted comes as it is.
    public func frames() -> AsyncStream<VideoFrame> { binding.subscribe(to: sequence) }

    /// Frames that readers of ``frames()`` have lost so far, because they read more slowly than time passes. One that two
    /// readers have lost counts twice. 0 without pacing: there decoding waits for readers.
    public var numberOfLostFrames: Int { sequence.lostCount }

    /// Tells that time has jumped: frames that were taken before are of the past. Ends as ``frames()``.
    public func flushes() -> AsyncStream<Void> { binding.subscribe(to: flushNotices) }

    private func converted(_ frame: VideoFrame) throws(CodecError) -> VideoFrame {
        try converter.withLock { converter throws(CodecError) in try converter.convert(frame) }
    }

    private static func pixels(_ state: State) -> PixelSize? {
        guard let size = state.displaySize, size.width > 0, size.height > 0 else { return nil }
        let scale = state.scale.isFinite && state.scale > 0 ? state.scale : 1
        // Beyond this nothing is excluded anyway.
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
            // Outputs that came late have not seen it before.
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

    /// Nothing to do: a seek may bring more.
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
    /// What the player calls.
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
