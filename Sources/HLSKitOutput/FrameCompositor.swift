public import HLSKitCodec

/// Makes the frames that a ``CompositionOutput`` gives: each out of one of the item and of the metadata that holds at
/// its time.
///
/// A closure will do (``FrameComposition/init(sourceSampleDataTrackIDs:instructions:compose:)``); a type of its own can say
/// in which colours it works.
public protocol FrameCompositor: Sendable {
    /// What pictures are converted to before they are handed over. Default: BT.709.
    var workingColorSpace: VideoOutput.WorkingColorSpace { get }
    /// Pictures are handed over in the colours of their source, be they wide or of high dynamic range. Default: false, they
    /// are converted to ``workingColorSpace``, and variants of high dynamic range are not chosen while there are others.
    var supportsWideColorSourceFrames: Bool { get }
    /// The layout in which pictures are handed over. Default: as decoded.
    var sourcePixelFormat: PixelFormat { get }
    /// How long one picture may take. Default: one second.
    var deadline: Duration { get }

    /// The picture to be shown in place of the request's. Called off all locks, for one picture after the other.
    ///
    /// What throws, or is not done by the ``deadline``, leaves its picture out; see ``CompositionOutput/failures``.
    func compose(_ request: FrameCompositionRequest) async throws -> VideoFrame
}

extension FrameCompositor {
    /// Rec. 709.
    public var workingColorSpace: VideoOutput.WorkingColorSpace { .rec709 }
    /// False.
    public var supportsWideColorSourceFrames: Bool { false }
    /// The decoder's own format.
    public var sourcePixelFormat: PixelFormat { .native }
    /// One second.
    public var deadline: Duration { .seconds(1) }
}

/// A closure as a compositor.
struct ClosureCompositor: FrameCompositor {
    let body: @Sendable (FrameCompositionRequest) async throws -> VideoFrame

    func compose(_ request: FrameCompositionRequest) async throws -> VideoFrame { try await body(request) }
}
