package import HLSKitCodec
public import HLSKitLoading
package import HLSKitMedia
package import HLSKitSelection
public import HLSKitTime
import Synchronization

/// An output that delivers an item's frames as composed by a ``FrameComposition``.
///
/// ```swift
/// let composition = FrameComposition(
///     sourceSampleDataTrackIDs: [258],
///     instructions: [.init(requiredSourceSampleDataTrackIDs: [258])]
/// ) { request in
///     try draw(request.sourceTimedMetadata(byTrackID: 258), over: request.sourceFrame)
/// }
/// let output = CompositionOutput(composition)
/// try item.add(output)
/// for await frame in output.frames() { show(frame) }
/// ```
///
/// Each frame is delivered when the timebase reaches it. Frames are composed in the task that reads ``frames()``, one
/// after the other. Without pacing, decoding waits for the reader. With pacing, a slow compositor delays only its
/// reader. A reader that falls behind by four frames loses the oldest before they are composed, which
/// ``numberOfLostFrames`` counts.
///
/// The output does not know metadata that was read before the output was added, or that precedes a seek target, until
/// it is delivered again.
public final class CompositionOutput: PlayerItemOutput {
    /// A frame that could not be composed.
    public struct Failure: Sendable {
        /// The item time of the frame.
        public let compositionTime: MediaTime
        /// The compositor's error, or ``HLSError/Code/timedOut`` if it exceeded its deadline.
        ///
        /// An error that is not an ``HLSError`` is in ``HLSError/underlyingError``.
        public let error: HLSError
    }

    struct Source: Sendable {
        var frame: VideoFrame
        var metadata: [Int: TimedMetadataGroup]
    }

    package static let maximumFailureCount = 16

    /// The composition that composes the frames.
    public let composition: FrameComposition
    private let metadata = Mutex(CompositionMetadata())
    private let failed = Mutex<[Failure]>([])
    private let converter: Mutex<FrameConverter>
    private let call: AppCall
    private let sequence = MediaReaders<Source>(limit: 4)
    public let binding = OutputBinding()

    /// Creates an output.
    ///
    /// - Parameters:
    ///   - composition: The composition that composes the frames.
    ///   - clock: The clock for the compositor's deadline. The default is `ContinuousClock`.
    public init(_ composition: FrameComposition, clock: any Clock<Duration> = ContinuousClock()) {
        self.composition = composition
        call = AppCall(clock: clock)
        let compositor = composition.compositor
        converter = Mutex(
            FrameConverter(
                to: compositor.sourcePixelFormat,
                convertsToRec709: !compositor.supportsWideColorSourceFrames && compositor.workingColorSpace == .rec709))
    }

    /// Returns a sequence of the composed frames.
    ///
    /// The sequence ends when the output is removed from its item, when the item fails and when it is no longer played.
    public func frames() -> ComposedFrames { ComposedFrames(output: self, sources: binding.subscribe(to: sequence)) }

    /// The number of frames that readers of ``frames()`` have lost because they are slower than playback.
    ///
    /// Without pacing, the number is 0.
    public var numberOfLostFrames: Int { sequence.lostCount }

    /// The frames that were dropped because the compositor failed, at most 16, the oldest first.
    public var failures: [Failure] { failed.withLock { $0 } }

    func composed(_ source: Source) async -> VideoFrame? {
        guard let time = source.frame.itemTime, let instruction = composition.instruction(at: time) else {
            return source.frame
        }
        let compositor = composition.compositor
        do {
            let frame = try converter.withLock { converter throws(CodecError) in try converter.convert(source.frame) }
            let ids = composition.trackIDs(for: instruction)
            let request = FrameCompositionRequest(
                compositionTime: time, instruction: instruction, sourceFrame: frame, sourceSampleDataTrackIDs: ids,
                metadata: source.metadata.filter { ids.contains($0.key) })
            let answer = try await call.value(of: "the compositor", url: "", within: compositor.deadline) {
                await Self.answer(of: compositor, to: request)
            }
            return try answer.get().placed(at: time)
        } catch {
            failed.withLock { failed in
                failed.append(Failure(compositionTime: time, error: Self.failure(error)))
                if failed.count > Self.maximumFailureCount { failed.removeFirst() }
            }
            return nil
        }
    }

    private static func failure(_ error: any Error) -> HLSError {
        switch error {
        case let error as HLSError: error
        case let error as LoadingError: HLSError(transport: error)
        case let error as CodecError: HLSError(error)
        default:
            HLSError(
                code: .application, urlString: nil, cause: "the compositor failed", detail: "\(error)",
                underlyingError: error)
        }
    }

    private static func answer(
        of compositor: any FrameCompositor, to request: FrameCompositionRequest
    ) async -> Result<VideoFrame, any Error> {
        do { return .success(try await compositor.compose(request)) } catch { return .failure(error) }
    }
}

extension CompositionOutput: IntakeOutput, SelectiveOutput {
    var intake: any OutputReceiver { Intake(output: self) }

    var takesCues: Bool { false }
    var takesMetadata: Bool { !composition.sourceSampleDataTrackIDs.isEmpty }
    package var limits: OutputLimits {
        OutputLimits(needsStandardRange: !composition.compositor.supportsWideColorSourceFrames)
    }

    package func receive(_ group: TimedMetadataGroup) {
        guard let id = group.trackID, composition.sourceSampleDataTrackIDs.contains(id) else { return }
        metadata.withLock { $0.add(group, of: id) }
    }

    package func receive(_ frame: VideoFrame, at clock: OutputClock) {
        guard let time = frame.itemTime?.duration else { return }
        let current = metadata.withLock { $0.groups(at: time, generation: clock.generation) }
        guard let current, sequence.hasReaders else { return }
        sequence.send(Source(frame: frame, metadata: current))
    }

    package func flush(generation: Int) {
        metadata.withLock { $0.flush(generation: generation) }
        sequence.flush(generation: generation)
    }

    package func finish(_ type: MediaKind, at clock: OutputClock) {}

    package func end() {
        metadata.withLock { $0 = CompositionMetadata() }
        sequence.finish()
    }
}

extension CompositionOutput {
    private final class Intake: FrameReceiver, MetadataReceiver, LimitedOutput, ReadOutput {
        let output: CompositionOutput
        var binding: OutputBinding { output.binding }

        init(output: CompositionOutput) { self.output = output }

        var limits: OutputLimits { output.limits }
        var lostCount: Int { output.sequence.lostCount }
        func waitForRoom(generation: Int) async { await output.sequence.waitForRoom(generation: generation) }
        func receive(_ frame: VideoFrame, at clock: OutputClock) { output.receive(frame, at: clock) }
        func receive(_ group: TimedMetadataGroup) { output.receive(group) }
        func flush(generation: Int) { output.flush(generation: generation) }
        func finish(_ type: MediaKind, at clock: OutputClock) { output.finish(type, at: clock) }
        func end() { output.end() }
    }
}
