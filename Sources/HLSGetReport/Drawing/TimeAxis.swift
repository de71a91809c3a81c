import HLSGetKit

package struct TimeAxis: Sendable, Equatable {
    /// In seconds.
    let start: Double
    let end: Double

    /// - Parameter end: The end, at least 0.1 s after `start`.
    package init(from start: Double, to end: Double) {
        self.start = start.isFinite ? start : 0
        self.end = max(self.start + 0.1, end.isFinite ? end : 0)
    }

    package var length: Double { end - start }

    /// The position of `time`, from 0 at the start to 1 at the end. Times outside are clamped.
    func share(_ time: Double) -> Double { min(max((time - start) / length, 0), 1) }

    func shows(_ from: Double, _ to: Double) -> Bool { to >= start && from <= end }

    /// At most `limit` round times for labels.
    func ticks(atMost limit: Int = 8) -> [Double] {
        let steps = [
            0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10_800, 21_600, 43_200,
            86_400,
        ]
        let count = Double(max(1, limit))
        let step = steps.first { length / $0 <= count } ?? (length / count)
        var ticks: [Double] = []
        var index = (start / step - 0.001).rounded(.up)
        while index * step <= end * 1.000001, ticks.count <= limit {
            ticks.append(index * step)
            index += 1
        }
        return ticks
    }

    /// The label of a time, with tenths only if the axis is that fine.
    func label(_ time: Double) -> String { length <= 8 ? Decimals.moment(time) : Decimals.clock(time.rounded()) }
}

/// A scale of values along the height of a drawing, starting at 0.
struct ValueScale: Sendable, Equatable {
    let limit: Double
    let top: Double
    let bottom: Double

    init(limit: Double, top: Double, bottom: Double) {
        self.limit = limit.isFinite && limit > 0 ? limit : 1
        self.top = top
        self.bottom = bottom
    }

    /// The vertical position of `value`. Values over the limit are at the top.
    func y(_ value: Double) -> Double { bottom - (bottom - top) * min(max(value / limit, 0), 1) }

    func ticks(atMost count: Int = 4) -> [Double] {
        let wanted = limit / Double(max(1, count))
        var step = 1.0
        while step < wanted, step < 1e18 { step *= 10 }
        while step > wanted * 10, step > 1e-9 { step /= 10 }
        // The smallest sufficient value of 1, 2 or 5 times a power of ten.
        let round = [0.1, 0.2, 0.5, 1].map { $0 * step }.first { $0 >= wanted * 0.999 } ?? step
        return (1...max(1, count)).map { Double($0) * round }.filter { $0 <= limit * 1.001 }
    }

    static func limit(for value: Double, least: Double) -> Double { max(least, value.isFinite ? value * 1.08 : least) }
}
