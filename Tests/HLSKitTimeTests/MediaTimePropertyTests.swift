import Foundation
import HLSKitTime
import Testing

private struct Generator: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var z = state
        z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
        return z ^ (z >> 31)
    }

    /// Returns times of every magnitude, often at the ends of the range.
    mutating func time() -> MediaTime {
        let value =
            Int.random(in: 0..<8, using: &self) == 0
            ? [Int64.min, .max, 0, 1, -1].randomElement(using: &self) ?? 0
            : Int64(bitPattern: next()) >> Int64.random(in: 0..<63, using: &self)
        let scale =
            Int.random(in: 0..<3, using: &self) == 0
            ? [1, 24, 25, 30_000, 44_100, 48_000, 90_000, .max].randomElement(using: &self) ?? 1
            : Int32.random(in: 1 ... .max, using: &self) >> Int32.random(in: 0..<30, using: &self)
        return MediaTime(value: value, timescale: max(1, scale))
    }
}

@Suite struct MediaTimePropertyTests {
    private static let roundCount = 20_000

    /// Returns whether `time` is the fraction in seconds, rounded to the nearest value. The timescale must be the first
    /// of `scale`, half of it, a quarter of it and so on that can hold the value. The rounding flag must be set only
    /// for inexact values.
    private func check(_ time: MediaTime, is numerator: Int128, over denominator: Int128, scale: Int32) -> Bool {
        var expected = scale
        while expected >= 1 {
            let (doubled, overflow) = numerator.multipliedReportingOverflow(by: 2 * Int128(expected))
            guard !overflow else { return true }
            // Rounds halves away from zero.
            let sign: Int128 = doubled < 0 ? -1 : 1
            let nearest = (doubled + sign * denominator) / (2 * denominator)
            if let value = Int64(exactly: nearest) {
                let isExact = nearest * denominator == numerator * Int128(expected)
                return time.timescale == expected && time.value == value && time.hasBeenRounded == !isExact
            }
            expected /= 2
        }
        return time == (numerator < 0 ? .negativeInfinity : .positiveInfinity)
    }

    private func commonScale(_ a: Int32, _ b: Int32) -> Int32 {
        var (x, y) = (Int64(a), Int64(b))
        while y != 0 { (x, y) = (y, x % y) }
        return Int32(clamping: Int64(a) / x * Int64(b))
    }

    @Test("B02: sums and differences are the nearest that their timescale can hold", arguments: [1, 2, 3] as [UInt64])
    func sums(seed: UInt64) {
        var generator = Generator(state: seed)
        for _ in 0..<Self.roundCount {
            let (a, b) = (generator.time(), generator.time())
            let scale = a.timescale == b.timescale ? a.timescale : commonScale(a.timescale, b.timescale)
            let denominator = Int128(a.timescale) * Int128(b.timescale)
            let left = Int128(a.value) * Int128(b.timescale)
            let right = Int128(b.value) * Int128(a.timescale)
            guard check(a + b, is: left + right, over: denominator, scale: scale) else {
                Issue.record("\(a) + \(b) = \(a + b)")
                return
            }
            guard check(a - b, is: left - right, over: denominator, scale: scale) else {
                Issue.record("\(a) - \(b) = \(a - b)")
                return
            }
        }
    }

    @Test(
        "B05: conversions stay within one unit on the side of their rounding",
        arguments: MediaTime.RoundingMethod.allCases)
    func conversions(rounding: MediaTime.RoundingMethod) {
        var generator = Generator(state: 7)
        for _ in 0..<Self.roundCount {
            let time = generator.time()
            let scale = generator.time().timescale
            let result = time.converted(to: scale, rounding: rounding)
            guard result.isNumeric, result.timescale == scale else { continue }
            // The result minus the time, in units of 1 / (scale · timescale).
            let distance = Int128(result.value) * Int128(time.timescale) - Int128(time.value) * Int128(scale)
            let unit = Int128(time.timescale)
            let isAway = time.value < 0 ? distance <= 0 : distance >= 0
            let isOnSide =
                switch rounding {
                case .halfAwayFromZero: 2 * distance.magnitude <= unit.magnitude
                case .towardZero: !isAway || distance == 0
                case .awayFromZero: isAway
                case .towardPositiveInfinity: distance >= 0
                case .towardNegativeInfinity: distance <= 0
                case .quickTime: scale < time.timescale ? !isAway || distance == 0 || result.value == -1 : isAway
                }
            guard distance.magnitude < unit.magnitude, isOnSide, result.hasBeenRounded == (distance != 0) else {
                Issue.record("\(time) to \(scale): \(result)")
                return
            }
        }
    }

    @Test("B01, B03: the order equals the order of the fractions, and equal fractions have equal hashes")
    func order() {
        var generator = Generator(state: 11)
        for _ in 0..<Self.roundCount {
            let (a, b) = (generator.time(), generator.time())
            let left = Int128(a.value) * Int128(b.timescale)
            let right = Int128(b.value) * Int128(a.timescale)
            guard (a < b) == (left < right), (a == b) == (left == right) else {
                Issue.record("\(a) \(b)")
                return
            }
            guard let factor = Int32(exactly: Int64(Int32.max) / Int64(a.timescale)), factor > 1 else { continue }
            let finer = a.converted(to: a.timescale * factor)
            if !finer.hasBeenRounded, finer.timescale == a.timescale * factor {
                guard finer == a, finer.hashValue == a.hashValue else {
                    Issue.record("\(a) \(finer)")
                    return
                }
            }
        }
    }

    @Test("B01: every kind of time survives JSON coding")
    func coding() throws {
        var generator = Generator(state: 13)
        var times: [MediaTime] = [.zero, .invalid, .indefinite, .positiveInfinity, .negativeInfinity]
        times += (0..<100).map { _ in generator.time() }
        times.append(MediaTime(value: 1, timescale: 3, epoch: 4).converted(to: 10))
        let ranges = zip(times, times.reversed()).map { MediaTimeRange(start: $0, duration: $1) }
        let again = try JSONDecoder().decode([MediaTimeRange].self, from: JSONEncoder().encode(ranges))
        #expect(again == ranges)
        #expect(again.map(\.start.flags) == ranges.map(\.start.flags))
    }

    @Test("a mapping and its inverse undo each other, and keep order")
    func mapping() {
        var generator = Generator(state: 17)
        for _ in 0..<2000 {
            func range(_ length: ClosedRange<Int64>) -> MediaTimeRange {
                MediaTimeRange(
                    start: MediaTime(value: Int64.random(in: -1000...1000, using: &generator), timescale: 90_000),
                    duration: MediaTime(value: Int64.random(in: length, using: &generator), timescale: 90_000))
            }
            let mapping = MediaTimeMapping(source: range(1...1_000_000), target: range(1...1_000_000))
            #expect(mapping.map(mapping.source.start) == mapping.target.start)
            #expect(mapping.map(mapping.source.end) == mapping.target.end)
            let fine = mapping.target.duration >= mapping.source.duration
            let time = mapping.source.start + MediaTime(value: 1 << 10, timescale: 90_000)
            let inverse = MediaTimeMapping(source: mapping.target, target: mapping.source)
            let back = inverse.map(mapping.map(time))
            // A coarser target loses up to half a unit.
            let loss = fine ? 1 : 1 + mapping.source.duration.value / mapping.target.duration.value
            #expect(abs(back.seconds - time.seconds) <= Double(loss) / 90_000)
        }
    }
}
