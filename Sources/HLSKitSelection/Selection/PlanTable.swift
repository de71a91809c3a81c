import Glibc

/// The value of a buffer: for each variant in use and each level of the buffer the best that the segments to come can
/// bring, if the throughput stays what it is assumed to be.
///
/// Counted in segments of the top variant: a segment brings its bit rate over the top one, a second of stall costs 1, a
/// change of variant costs the difference of the bit rates. Solved backwards over the segments to come on a grid of
/// buffer levels, with straight lines in between. As the cost of a change adds up along the ladder, the best change is found
/// by two sweeps over the variants instead of looking at all pairs.
struct PlanTable: Sendable {
    /// One problem to be solved.
    struct Problem {
        /// Declared bit rate of each variant over that of the top one, ascending.
        var qualities: [Double]
        /// Bits of each segment to come, row by row, one column per variant; the last row stands for all that follow.
        var sizes: [Double]
        /// Segments that are planned.
        var segmentCount: Int
        /// More segments follow.
        var goesOn: Bool
        /// Seconds.
        var segmentDuration: Double
        var capacity: Double
        var latency: Double
        /// Bits per second of the top variant.
        var topRate: Double
    }

    /// Levels of the buffer that are distinguished.
    static let levelCount = 61
    /// After the plan a buffer is worth something up to about this many seconds.
    private static let finalReach = 12.0

    private var values: [Double] = []
    private var work: [Double] = []
    private var variantCount = 0
    private var step = 1.0

    /// Solves `problem` for a throughput in bits per second.
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
        for level in 0..<levels {
            let value = problem.goesOn ? top * (1 - exp(-Double(level) * step / Self.finalReach)) : 0
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

    /// The value of loading one segment in `time` at every level of the buffer.
    @inline(__always)
    private static func look(
        ahead old: UnsafeBufferPointer<Double>, into new: UnsafeMutableBufferPointer<Double>, time: Double,
        quality: Double, step: Double, segmentDuration: Double
    ) {
        let last = levelCount - 1
        // In steps of the grid. More than the whole grid is never left over.
        let gain = segmentDuration / step
        let loss = min(time / step, Double(2 * levelCount))
        let excess = max(0, time / step - loss) * step
        // Where the buffer runs dry, what is left is the segment itself.
        let dryEnd = min(levelCount, Int(loss.rounded(.up)))
        let left = min(gain, Double(last))
        let index = min(Int(left), last - 1)
        let dry = quality - excess + old[index] + (old[index + 1] - old[index]) * (left - Double(index))
        // 32 bits, since processors convert several of those at once.
        for level in 0..<Int32(dryEnd) { new[Int(level)] = dry - (loss - Double(level)) * step }
        // Elsewhere the grid is shifted by the same distance; at its end it is full.
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

    /// Lets every variant be the one in use: the better of staying and changing.
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
            // Written as processors have it, so that several are compared at once: max(_:_:) is not.
            let changed = other[level] - cost
            row[level] = changed > row[level] ? changed : row[level]
        }
    }

    /// The value of a buffer (seconds) with `variant` in use.
    func value(variant: Int, buffer: Double) -> Double {
        let then = min(max(buffer / step, 0), Double(Self.levelCount - 1))
        let index = min(Int(then), Self.levelCount - 2)
        let low = values[variant * Self.levelCount + index]
        return low + (values[variant * Self.levelCount + index + 1] - low) * (then - Double(index))
    }
}
