public import HLSKitCodec
public import HLSKitTime

/// The rules for composing an item's frames, optionally with its timed metadata.
///
/// A compositor receives the metadata of a track only if both the composition (``sourceSampleDataTrackIDs``) and the
/// instruction at that time (``Instruction/requiredSourceSampleDataTrackIDs``) contain the track.
public struct FrameComposition: Sendable {
    /// An instruction for a time range of the item.
    public struct Instruction: Sendable, Hashable {
        /// The time range in item time.
        public var timeRange: MediaTimeRange
        /// The tracks whose metadata the compositor receives, by ``TimedMetadataGroup/trackID``.
        public var requiredSourceSampleDataTrackIDs: [Int]

        /// Creates an instruction.
        ///
        /// - Parameters:
        ///   - timeRange: The time range. The default is the whole item.
        ///   - requiredSourceSampleDataTrackIDs: The tracks whose metadata the compositor receives. Empty by default.
        public init(
            timeRange: MediaTimeRange = MediaTimeRange(start: .zero, duration: .indefinite),
            requiredSourceSampleDataTrackIDs: [Int] = []
        ) {
            self.timeRange = timeRange
            self.requiredSourceSampleDataTrackIDs = requiredSourceSampleDataTrackIDs
        }

        func contains(_ time: MediaTime) -> Bool {
            timeRange.duration.isNumeric ? timeRange.contains(time) : time >= timeRange.start
        }
    }

    /// The compositor that draws each frame.
    public var compositor: any FrameCompositor
    /// The tracks whose metadata instructions may use, by ``TimedMetadataGroup/trackID``.
    public var sourceSampleDataTrackIDs: [Int]
    /// The instructions for the time ranges of the item.
    ///
    /// If several instructions contain a time, the first one applies. Frames at times without an instruction are
    /// delivered unchanged.
    public var instructions: [Instruction]

    /// Creates a composition.
    ///
    /// The default is one instruction for the whole item, without metadata.
    public init(
        sourceSampleDataTrackIDs: [Int] = [], instructions: [Instruction] = [Instruction()],
        compositor: some FrameCompositor
    ) {
        self.sourceSampleDataTrackIDs = sourceSampleDataTrackIDs
        self.instructions = instructions
        self.compositor = compositor
    }

    /// Creates a composition from a closure, with BT.709 colours and one second for each frame.
    public init(
        sourceSampleDataTrackIDs: [Int] = [], instructions: [Instruction] = [Instruction()],
        compose: @escaping @Sendable (FrameCompositionRequest) async throws -> VideoFrame
    ) {
        self.init(
            sourceSampleDataTrackIDs: sourceSampleDataTrackIDs, instructions: instructions,
            compositor: ClosureCompositor(body: compose))
    }

    func instruction(at time: MediaTime) -> Instruction? { instructions.first { $0.contains(time) } }

    /// Returns the tracks whose metadata the compositor receives: each once, in the order of the instruction.
    func trackIDs(for instruction: Instruction) -> [Int] {
        var ids: [Int] = []
        for id in instruction.requiredSourceSampleDataTrackIDs
        where sourceSampleDataTrackIDs.contains(id) && !ids.contains(id) {
            ids.append(id)
        }
        return ids
    }
}
