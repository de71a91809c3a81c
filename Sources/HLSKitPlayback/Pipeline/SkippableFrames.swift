/// Tracks which of the frames that a slow decoder may skip it has skipped.
struct SkippableFrames {
    /// The presentation times of frames that may be skipped.
    private var pending: [Int64] = []

    mutating func add(_ pts: Int64) { pending.append(pts) }

    /// Called when a frame is decoded. Returns the number of earlier frames that were skipped.
    mutating func takeSkipped(upTo pts: Int64) -> Int {
        guard !pending.isEmpty else { return 0 }
        let skipped = pending.count { $0 < pts }
        pending.removeAll { $0 <= pts }
        return skipped
    }
}
