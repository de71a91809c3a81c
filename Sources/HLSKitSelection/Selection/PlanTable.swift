import Glibc

/// The value of each buffer level with each current variant.
///
/// It is the best result that the next segments can bring at an assumed throughput.
///
/// Values are counted in segments of the top variant. A segment is worth its bit rate divided by the top one. A second
/// of stall costs 1, and a change of variant costs the difference of the bit rates. The table is solved backwards over
/// the next segments on a grid of buffer levels with linear interpolation. Because costs of changes add up along the
/// ladder, two sweeps over the variants find the best change without comparing all pairs.
struct PlanTable: Sendable {
    struct Problem {
        /// The declared bit rates of the variants divided by the top one, ascending.
        var qualities: [Double]
        /// The bits of each upcoming segment, one row per segment and one column per variant. The last row stands for
        /// all that follow.
        var sizes: [Double]
        var segmentCount: Int
        var continues: Bool
        /// In seconds, as are the next two.
        var segmentDuration: Double
        var capacity: Double
        var latency: Double
        /// The bit rate of the top variant, in bits per second.
        var topRate: Double

        /// Returns the quality of a segment of a variant, minus the cost of the change from `last`.
        func gain(of variant: Int, after last: Int?) -> Double {
            qualities[variant] - (last.map { abs(qualities[variant] - qualities[$0]) } ?? 0)
        }
    }

    static let levelCount = 61
    /// The buffer level in seconds up to which the buffer left after the plan has value.
    private static let finalReach = 12.0

    private var values: [Double] = []
    private var work: [Double] = []
    private var variantCount = 0
    private var step = 1.0

    mutating func solve(_ problem: borrowing Problem, throughput: Double) {
        let levels = Self.levelCount
        variantCount = problem.qualities.count
        let cellCount = variantCount * levels
        if values.count != cellCount {
            values = [Double](repeating: 0, count: cellCount)
            work = values
        }
        let room = max(problem.capacity - problem.segmentDuration, 0.1)
        step = room / Double(levels - 1)
        let top = min(throughput / problem.topRate, 1) * Self.finalReach / problem.segmentDuration
        // e^(−buffer / reach), level by level.
        let decay = exp(-step / Self.finalReach)
        var rest = 1.0
        for level in 0..<levels {
            let value = problem.continues ? top * (1 - rest) : 0
            rest *= decay
            for variant in 0..<variantCount { values[variant * levels + level] = value }
        }
        let lastRow = problem.sizes.count / variantCount - 1
        for position in (0..<problem.segmentCount).reversed() {
            let row = min(position, lastRow) * variantCount
            values.withUnsafeMutableBufferPointer { old in
                work.withUnsafeMutableBufferPointer { new in
                    for variant in 0..<variantCount {
                        let time = problem.sizes[row + variant] / throughput + problem.latency
                        Self.look(
                            ahead: UnsafeBufferPointer(rebasing: old[(variant * levels)..<((variant + 1) * levels)]),
                            into: UnsafeMutableBufferPointer(
                                rebasing: new[(variant * levels)..<((variant + 1) * levels)]),
                            time: time, quality: problem.qualities[variant], step: step,
                            segmentDuration: problem.segmentDuration)
                    }
                    Self.change(new, qualities: problem.qualities)
                }
            }
            swap(&values, &work)
        }
    }

    /// Computes the value of loading one segment in `time` at every buffer level.
    @inline(__always)
    private static func look(
        ahead old: UnsafeBufferPointer<Double>, into new: UnsafeMutableBufferPointer<Double>, time: Double,
        quality: Double, step: Double, segmentDuration: Double
    ) {
        let last = levelCount - 1
        // In steps of the grid. The buffer never exceeds the grid.
        let gain = segmentDuration / step
        let loss = min(time / step, Double(2 * levelCount))
        let excess = max(0, time / step - loss) * step
        // If the buffer runs dry, only the segment itself remains.
        let dryEnd = min(levelCount, Int(loss.rounded(.up)))
        let left = min(gain, Double(last))
        let index = min(Int(left), last - 1)
        let dry = quality - excess + old[index] + (old[index + 1] - old[index]) * (left - Double(index))
        // Use 32 bits, because processors convert several of those at once.
        for level in 0..<Int32(dryEnd) { new[Int(level)] = dry - (loss - Double(level)) * step }
        // At other levels the grid is shifted by a constant distance, and at its end it is full.
        let shift = gain - loss
        let whole = Int(shift.rounded(.down))
        let part = shift - Double(whole)
        let fullStart = max(dryEnd, min(levelCount, last - whole))
        for level in dryEnd..<fullStart {
            let low = old[level + whole]
            new[level] = quality + low + (old[level + whole + 1] - low) * part
        }
        for level in fullStart..<levelCount { new[level] = quality + old[last] }
    }

    /// Updates every variant with the better result of keeping it or changing to another one.
    @inline(__always)
    private static func change(_ values: UnsafeMutableBufferPointer<Double>, qualities: [Double]) {
        func row(_ variant: Int) -> UnsafeMutableBufferPointer<Double> {
            UnsafeMutableBufferPointer(rebasing: values[(variant * levelCount)..<((variant + 1) * levelCount)])
        }
        for variant in qualities.indices.dropFirst() {
            improve(row(variant), by: row(variant - 1), cost: qualities[variant] - qualities[variant - 1])
        }
        for variant in qualities.indices.dropLast().reversed() {
            improve(row(variant), by: row(variant + 1), cost: qualities[variant + 1] - qualities[variant])
        }
    }

    @inline(__always)
    private static func improve(
        _ row: UnsafeMutableBufferPointer<Double>, by other: UnsafeMutableBufferPointer<Double>, cost: Double
    ) {
        for level in 0..<levelCount {
            // The compiler vectorizes this form, but not max(_:_:).
            let changed = other[level] - cost
            row[level] = changed > row[level] ? changed : row[level]
        }
    }

    func value(variant: Int, buffer: Double) -> Double {
        let then = min(max(buffer / step, 0), Double(Self.levelCount - 1))
        let index = min(Int(then), Self.levelCount - 2)
        let low = values[variant * Self.levelCount + index]
        return low + (values[variant * Self.levelCount + index + 1] - low) * (then - Double(index))
    }
}
