/// How a quantity is distributed, in a fixed amount of memory: counts by powers of 1.1, so that quantiles are exact to five
/// percent.
struct Quantiles: Sendable, Equatable {
    /// The smallest value that is told apart from 0.
    private static let floor = 0.0001
    private static let growth = 1.1
    private static let bucketCount = 192

    private var counts: [Int: Int] = [:]
    private(set) var count = 0
    /// The least and the greatest: no share of the values lies beyond them, whatever the buckets say.
    private var (least, greatest) = (Double.infinity, 0.0)

    init() {}

    /// - Parameter value: what is negative or no number is left out.
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

    /// The value that `share` (0…1) of all values do not exceed; nil if there are none.
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
