/// LATM frames before the first configuration of the segment, which declares their length.
///
/// Segments are cut where the video allows it, not where a configuration is. A decoder with the configuration of the
/// previous segment can use these frames.
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
