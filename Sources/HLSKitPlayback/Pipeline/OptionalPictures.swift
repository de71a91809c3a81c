/// Pictures that a decoder may skip, because it has fallen behind: which of them it has.
struct OptionalPictures {
    /// By their presentation times.
    private var pending: [Int64] = []

    /// The decoder may skip the sample.
    mutating func add(_ pts: Int64) { pending.append(pts) }

    /// A picture has come out: gives how many of those before it have not, and will not any more.
    mutating func takeSkipped(upTo pts: Int64) -> Int {
        guard !pending.isEmpty else { return 0 }
        let skipped = pending.count { $0 < pts }
        pending.removeAll { $0 <= pts }
        return skipped
    }
}
