public import HLSKitCodec

/// A type that draws the frames of a ``CompositionOutput``.
///
/// It creates each frame from a frame of the item and the metadata at its time. A closure is often enough
/// (``FrameComposition/init(sourceSampleDataTrackIDs:instructions:compose:)``). A type can also choose the colours.
public protocol FrameCompositor: Sendable {
    /// The colour space to which frames are converted before they are passed on. The default is BT.709.
    var workingColorSpace: VideoOutput.WorkingColorSpace { get }
    /// A Boolean value that indicates whether the compositor accepts the source's colours, including wide colour and
    /// HDR.
    ///
    /// If the value is `false` (the default), frames are converted to ``workingColorSpace``. HDR variants are then
    /// selected only if there are no others.
    var supportsWideColorSourceFrames: Bool { get }
    /// The pixel format of the frames that are passed on. The default is the decoder's format.
    var sourcePixelFormat: PixelFormat { get }
    /// The maximum time for one frame. The default is one second.
    var deadline: Duration { get }

    /// Returns the frame to show instead of the request's frame.
    ///
    /// The method is called for one frame at a time, without any lock held. If it throws or exceeds the ``deadline``,
    /// the frame is dropped. See ``CompositionOutput/failures``.
    func compose(_ request: FrameCompositionRequest) async throws -> VideoFrame
}

extension FrameCompositor {
    /// The default colour space, BT.709.
    public var workingColorSpace: VideoOutput.WorkingColorSpace { .rec709 }
    /// A Boolean value that indicates whether the compositor accepts the source's colours, by default `false`.
    public var supportsWideColorSourceFrames: Bool { false }
    /// The default pixel format, the decoder's own.
    public var sourcePixelFormat: PixelFormat { .native }
    /// The default deadline, one second.
    public var deadline: Duration { .seconds(1) }
}

struct ClosureCompositor: FrameCompositor {
    let body: @Sendable (FrameCompositionRequest) async throws -> VideoFrame

    func compose(_ request: FrameCompositionRequest) async throws -> VideoFrame { try await body(request) }
}
