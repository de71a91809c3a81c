public import HLSKitCodec
public import HLSKitMedia
public import HLSKitSelection
public import HLSKitTime

/// The input of a ``FrameCompositor`` for one frame.
public struct FrameCompositionRequest: Sendable {
    /// The item time of the frame.
    public let compositionTime: MediaTime
    /// The instruction that holds at the time.
    public let instruction: FrameComposition.Instruction
    /// The frame, placed on the item's timeline.
    public let sourceFrame: VideoFrame
    /// The tracks of metadata that both composition and instruction name.
    public let sourceSampleDataTrackIDs: [Int]
    private let metadata: [Int: TimedMetadataGroup]

    init(
        compositionTime: MediaTime, instruction: FrameComposition.Instruction, sourceFrame: VideoFrame,
        sourceSampleDataTrackIDs: [Int], metadata: [Int: TimedMetadataGroup]
    ) {
        self.compositionTime = compositionTime
        self.instruction = instruction
        self.sourceFrame = sourceFrame
        self.sourceSampleDataTrackIDs = sourceSampleDataTrackIDs
        self.metadata = metadata
    }

    /// The metadata of a track that holds at ``compositionTime``: the last that has begun, unless it has ended. nil if
    /// there is none, and for tracks that are not among ``sourceSampleDataTrackIDs``.
    public func sourceTimedMetadata(byTrackID trackID: Int) -> TimedMetadataGroup? { metadata[trackID] }

    /// The same as the bytes of the media: an ID3 tag, or the message of an `emsg` box.
    public func sourceSample(byTrackID trackID: Int) -> SampleData? { metadata[trackID]?.sample }
}
