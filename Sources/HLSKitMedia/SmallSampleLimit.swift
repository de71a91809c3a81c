/// Limits tiny samples, because each takes some hundred bytes in addition to its data.
struct SmallSampleLimit: Sendable {
    /// Samples with fewer bytes are counted. Larger ones cannot use too much memory.
    private static let smallByteCount = 64
    /// The number of samples to accept in any segment: more than an hour of captions, one for each frame.
    static let freeCount = 1 << 17

    private var smallCount = 0
    private var byteCount = 0
    private(set) var omittedCount = 0

    mutating func admits(_ byteCount: Int) -> Bool {
        self.byteCount += byteCount
        guard byteCount < Self.smallByteCount else { return true }
        guard smallCount < Self.freeCount + self.byteCount / Self.smallByteCount else {
            omittedCount += 1
            return false
        }
        smallCount += 1
        return true
    }

    static let note = "samples of less than \(smallByteCount) bytes are skipped: there are too many of them"
}
