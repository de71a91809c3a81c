/// Keeps tiny samples from costing many times the bytes that they came as: each takes some hundred besides its own.
struct SmallSampleLimit: Sendable {
    /// Samples of fewer bytes are counted; with as many or more there is no segment that costs too much.
    private static let smallByteCount = 64
    /// So many are let through however short the segment is: more than an hour of captions, one for each frame.
    static let freeCount = 1 << 17

    private var smallCount = 0
    private var byteCount = 0
    private(set) var leftOutCount = 0

    /// False for a sample to skip.
    mutating func admits(_ byteCount: Int) -> Bool {
        self.byteCount += byteCount
        guard byteCount < Self.smallByteCount else { return true }
        guard smallCount < Self.freeCount + self.byteCount / Self.smallByteCount else {
            leftOutCount += 1
            return false
        }
        smallCount += 1
        return true
    }

    /// For the log, with the first sample that is left out.
    static let note = "samples of less than \(smallByteCount) bytes are skipped: there are too many of them"
}
