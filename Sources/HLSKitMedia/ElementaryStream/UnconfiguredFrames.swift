/// Frames of LATM before the first configuration of the segment, which declares how long they are.
///
/// Segments are cut where the pictures allow it, not where the configuration comes; a decoder that has it from the
/// segment before can use the frames up to there.
struct UnconfiguredFrames {
    struct Frame {
        var data: SampleData
        var mark: PacketMarks.Mark?
        var isDamaged: Bool
    }

    private(set) var frames: [Frame] = []
    private var byteCount = 0

    /// Encoders repeat the configuration at least every few seconds.
    private static let maxCount = 1024
    private static let maxByteCount = 1 << 20

    /// - Returns: false if no more are kept.
    mutating func append(_ frame: Frame) -> Bool {
        guard frames.count < Self.maxCount, byteCount + frame.data.count <= Self.maxByteCount else { return false }
        frames.append(frame)
        byteCount += frame.data.count
        return true
    }

    mutating func takeAll() -> [Frame] {
        defer { self = UnconfiguredFrames() }
        return frames
    }
}
