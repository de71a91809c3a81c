public import HLSKitCodec
public import HLSKitTime

/// How to compose the frames of an item, and with which of its timed metadata.
///
/// A compositor is given the metadata of a track where both say so: the composition that it may be used at all
/// (``sourceSampleDataTrackIDs``), and the instruction of the time that it is wanted there
/// (``Instruction/requiredSourceSampleDataTrackIDs``). Of other tracks it is given nothing.
public struct FrameComposition: Sendable {
    /// The instruction for a range of the item's time.
    public struct Instruction: Sendable, Hashable {
        /// In item time.
        public var timeRange: MediaTimeRange
        /// The metadata that the compositor is given, by ``TimedMetadataGroup/trackID``.
        public var requiredSourceSampleDataTrackIDs: [Int]

        /// - Parameters:
        ///   - timeRange: default: all of the item.
        ///   - requiredSourceSampleDataTrackIDs: default: none.
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

    /// Draws each frame.
    public var compositor: any FrameCompositor
    /// The metadata that instructions may ask for, by ``TimedMetadataGroup/trackID``.
    public var sourceSampleDataTrackIDs: [Int]
    /// Of several that contain a time the first one holds. Frames of times that none contains come as they are.
    public var instructions: [Instruction]

    /// Makes a composition; by default one instruction for all times and no further sources.
    public init(
        sourceSampleDataTrackIDs: [Int] = [], instructions: [Instruction] = [Instruction()],
        compositor: some FrameCompositor
    ) {
        self.sourceSampleDataTrackIDs = sourceSampleDataTrackIDs
        self.instructions = instructions
        self.compositor = compositor
    }

    /// A composition by a closure, in BT.709 and with a second for each frame.
    public init(
        sourceSampleDataTrackIDs: [Int] = [], instructions: [Instruction] = [Instruction()],
        compose: @escaping @Sendable (FrameCompositionRequest) async throws -> VideoFrame
    ) {
        self.init(
            sourceSampleDataTrackIDs: sourceSampleDataTrackIDs, instructions: instructions,
            compositor: ClosureCompositor(body: compose))
    }

    func instruction(at time: MediaTime) -> Instruction? { instructions.first { $0.contains(time) } }

    /// The tracks that a compositor is told of: each once, in the order of the instruction.
    func trackIDs(for instruction: Instruction) -> [Int] {
        var ids: [Int] = []
        for id in instruction.requiredSourceSampleDataTrackIDs
        where sourceSampleDataTrackIDs.contains(id) && !ids.contains(id) {
            ids.append(id)
        }
        return ids
    }
}
