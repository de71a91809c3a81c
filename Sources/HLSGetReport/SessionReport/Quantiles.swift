/// The distribution of a quantity in a fixed amount of memory. It counts in buckets that grow by a factor of 1.1, so
/// quantiles are exact to five percent.
struct Quantiles: Sendable, Equatable {
    /// Smaller values are treated as 0.
    private static let floor = 0.0001
    private static let growth = 1.1
    private static let bucketCount = 192

    private var counts: [Int: Int] = [:]
    private(set) var count = 0
    /// The actual limits of the values, which quantiles never exceed.
    private var (least, greatest) = (Double.infinity, 0.0)

    init() {}

    /// - Parameter value: The value to add; negative and non-finite values are ignored.
    mutating func add(_ value: Double) {
        guard value.isFinite, value >= 0 else { return }
        var (limit, bucket) = (Self.floor, 0)
        while value > limit, bucket < Self.bucketCount {
            limit *= Self.growth
            bucket += 1
        }
        counts[bucket, default: 0] += 1
        count += 1
        (least, greatest) = (min(least, value), max(greatest, value))
    }

    /// The value that the fraction `share` (0…1) of all values does not exceed, or `nil` if there are no values.
    func value(at share: Double) -> Double? {
        guard count > 0 else { return nil }
        let wanted = max(1, Int((Double(count) * min(max(share, 0), 1)).rounded(.up)))
        var (limit, seen) = (Self.floor, 0)
        for bucket in 0...Self.bucketCount {
            seen += counts[bucket] ?? 0
            if seen >= wanted { return bucket == 0 ? 0 : min(max(limit * 0.95, least), greatest) }
            limit *= Self.growth
        }
        return greatest
    }
}
