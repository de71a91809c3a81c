public import HLSKitCodec
public import HLSKitMedia
public import HLSKitSelection
public import HLSKitTime

/// The input of a ``FrameCompositor`` for one frame.
public struct FrameCompositionRequest: Sendable {
    /// The item time of the frame.
    public let compositionTime: MediaTime
    /// The instruction for this time.
    public let instruction: FrameComposition.Instruction
    /// The frame, with its time on the item's timeline.
    public let sourceFrame: VideoFrame
    /// The tracks whose metadata is available: those in both the composition and the instruction.
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

    /// Returns the metadata of a track at ``compositionTime``, or `nil` if there is none.
    ///
    /// It is the last group that has begun, unless the group has ended. The track must be in
    /// ``sourceSampleDataTrackIDs``.
    public func sourceTimedMetadata(byTrackID trackID: Int) -> TimedMetadataGroup? { metadata[trackID] }

    /// Returns the same metadata as raw bytes: an ID3 tag, or the message of an `emsg` box.
    public func sourceSample(byTrackID trackID: Int) -> SampleData? { metadata[trackID]?.sample }
}
