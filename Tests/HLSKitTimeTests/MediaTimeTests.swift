import HLSKitTime
import Testing

/// Values for edge cases of arithmetic, tested in all combinations.
private let values: [Int64] = [0, 1, -1, 2, 3, -7, 1001, 90_000, 1 << 33, Int64.max, Int64.min, Int64.max - 1]
private let scales: [Int32] = [1, 2, 3, 600, 30_000, 44_100, 48_000, 90_000, Int32.max]
private let specials: [MediaTime] = [.negativeInfinity, .indefinite, .positiveInfinity, .invalid]

private func time(_ value: Int64, _ scale: Int32, _ epoch: Int64 = 0) -> MediaTime {
    MediaTime(value: value, timescale: scale, epoch: epoch)
}

private var everyTime: [MediaTime] {
    specials + values.flatMap { value in scales.map { time(value, $0) } } + [time(5, 1, 1), time(5, 1, 2)]
}

@Suite struct MediaTimeTests {
    struct Sum: Sendable, CustomStringConvertible {
        var left: MediaTime, right: MediaTime, sum: MediaTime, timescale: Int32, rounded: Bool
        var description: String { "\(left) + \(right)" }
    }

    @Test(
        "B02: a sum keeps an equal timescale, otherwise it takes the least common multiple or the largest timescale",
        arguments: [
            Sum(left: time(1, 30), right: time(2, 30), sum: time(3, 30), timescale: 30, rounded: false),
            Sum(left: time(1, 2), right: time(1, 3), sum: time(5, 6), timescale: 6, rounded: false),
            Sum(
                left: time(1, 44_100), right: time(1, 48_000), sum: time(307, 7_056_000), timescale: 7_056_000,
                rounded: false),
            Sum(
                left: time(1, 2_147_483_629), right: time(1, 2_147_483_587), sum: time(2, Int32.max),
                timescale: Int32.max, rounded: true),
            Sum(
                left: time(Int64.max, 4), right: time(Int64.max, 4), sum: time(Int64.max, 2), timescale: 2,
                rounded: false),
        ])
    func sum(_ c: Sum) {
        let sum = c.left + c.right
        #expect(sum.timescale == c.timescale)
        #expect(sum.value == c.sum.value || c.timescale == 2)
        #expect(sum.hasBeenRounded == c.rounded || c.timescale == 2)
        #expect(c.right + c.left == sum)
    }

    @Test("B02, B04: an overflow halves the timescale with rounding, and gives an infinity at 1")
    func overflow() {
        let half = time(Int64.max, 2) + time(Int64.max, 2)
        #expect(half == time(Int64.max, 1))
        #expect(half.timescale == 1)
        let odd = time(Int64.max, 3) + time(1, 3)
        #expect(odd.timescale == 1 && odd.hasBeenRounded)
        #expect(time(Int64.max, 1) + time(1, 1) == .positiveInfinity)
        #expect(time(Int64.min, 1) - time(1, 1) == .negativeInfinity)
        #expect(-time(Int64.min, 1) == .positiveInfinity)
        #expect(time(Int64.max, 1).multiplied(by: 2 as Int32) == .positiveInfinity)
        #expect(time(Int64.max, 1).multiplied(by: (-3, 2)) == .negativeInfinity)
        #expect(MediaTime(seconds: 1e300, preferredTimescale: 90_000) == .positiveInfinity)
        #expect(MediaTime(seconds: -1e300, preferredTimescale: 90_000) == .negativeInfinity)
        let large = MediaTime(seconds: 1e18, preferredTimescale: 90_000)
        #expect(large.timescale < 10 && large.timescale > 0 && large.seconds == 1e18)
    }

    @Test("B02: products are exact if a timescale can hold them, as in CMTime")
    func products() {
        func expect(_ product: MediaTime, _ value: Int64, _ timescale: Int32, rounded: Bool = false) {
            #expect(product.value == value && product.timescale == timescale, "\(product)")
            #expect(product.hasBeenRounded == rounded, "\(product)")
        }
        expect(time(1, 1).multiplied(by: 0.5), 1, 2)
        expect(time(90, 1).multiplied(by: 0.25), 45, 2)
        expect(time(1, 1).multiplied(by: (1, 2)), 1, 2)
        expect(time(10, 1).multiplied(by: (1, 3)), 10, 3)
        expect(time(3, 1).multiplied(by: (1, 3)), 1, 1)
        expect(time(90_000, 90_000).multiplied(by: 0.5), 45_000, 90_000)
        expect(time(-7, 600).multiplied(by: (5, 14)), -5, 1200)
        expect(time(1, 90_000).multiplied(by: 0.3), 0, 90_000, rounded: true)
        // A third has no exact binary fraction. A timescale of 65,536 is fine enough.
        let third = time(1, 1).multiplied(by: 1.0 / 3)
        #expect(third.timescale == 65_536 && third.hasBeenRounded)
        #expect(abs(third.seconds - 1.0 / 3) < 1e-5)
        // No timescale can hold the value, so the largest multiple of the old timescale is used.
        let fine = time(1, 90_000).multiplied(by: (1, 1_000_003))
        #expect(fine.timescale == 90_000 * (Int32.max / 90_000) && fine.hasBeenRounded)
        expect(time(Int64.max, 1).multiplied(by: (1, 2)), Int64.max, 2)
        #expect(time(4, 2).multiplied(by: 2 as Int32).timescale == 2)
    }

    @Test("B02: later results remember rounding, but equality and hash ignore it")
    func rounded() {
        let third = time(1, 3).converted(to: 10)
        #expect(third.value == 3 && third.hasBeenRounded)
        #expect((third + time(1, 10)).hasBeenRounded)
        #expect((third - time(1, 10)).hasBeenRounded)
        #expect(third.multiplied(by: 2 as Int32).hasBeenRounded)
        #expect(third.converted(to: 100).hasBeenRounded)
        #expect(third == time(3, 10) && third.hashValue == time(3, 10).hashValue)
        #expect(MediaTime(seconds: 0.1, preferredTimescale: 3).hasBeenRounded)
        #expect(!MediaTime(seconds: 0.5, preferredTimescale: 2).hasBeenRounded)
    }

    @Test("B02: sums of non-numeric times follow docs/reference/playback.md")
    func specialSums() {
        for other in everyTime {
            #expect(MediaTime.invalid + other == .invalid)
            #expect(other - .invalid == .invalid)
        }
        #expect(MediaTime.positiveInfinity + .positiveInfinity == .positiveInfinity)
        #expect(MediaTime.positiveInfinity - .positiveInfinity == .invalid)
        #expect(MediaTime.positiveInfinity + .negativeInfinity == .invalid)
        #expect(MediaTime.indefinite + time(1, 1) == .indefinite)
        #expect(time(1, 1) - .indefinite == .indefinite)
        #expect(time(1, 1) - .positiveInfinity == .negativeInfinity)
        #expect(time(0, 0) == .invalid && time(0, -1) == .invalid)
        #expect(MediaTime(seconds: .nan, preferredTimescale: 1) == .invalid)
        #expect(MediaTime(seconds: 1, preferredTimescale: 0) == .invalid)
        #expect(MediaTime(seconds: .infinity, preferredTimescale: 1) == .positiveInfinity)
        #expect(MediaTime.invalid.seconds.isNaN && MediaTime.indefinite.seconds.isNaN)
        #expect(MediaTime.negativeInfinity.seconds == -.infinity)
        #expect(time(1, 1).multiplied(by: Double.nan) == .invalid)
        #expect(time(1, 1).multiplied(by: -Double.infinity) == .negativeInfinity)
        #expect(time(0, 1).multiplied(by: Double.infinity) == .invalid)
        #expect(time(1, 1).multiplied(by: (1, 0)) == .invalid)
    }

    @Test("B02: epochs combine with 0 and with themselves only")
    func epochs() {
        #expect(time(1, 1, 1) + time(1, 1, 2) == .invalid)
        #expect((time(1, 1, 3) + time(2, 1)).epoch == 3)
        #expect((time(5, 1, 3) - time(2, 1, 3)) == time(3, 1))
        #expect((time(5, 1, 3) - time(2, 1)).epoch == 3)
        #expect(time(9, 1, 1) < time(1, 1, 2))
    }

    @Test("B03: the order is total: −∞, numbers by epoch and value, indefinite, +∞, invalid")
    func order() {
        let sorted: [MediaTime] = [
            .negativeInfinity, time(Int64.min, 1), time(-1, 3), .zero, time(1, 3), time(1, 2), time(Int64.max, 1),
            time(0, 1, 1), .indefinite, .positiveInfinity, .invalid,
        ]
        for (i, left) in sorted.enumerated() {
            for (j, right) in sorted.enumerated() {
                #expect((left < right) == (i < j))
                #expect((left == right) == (i == j))
            }
        }
        #expect(time(1, 2) == time(2, 4) && time(1, 2).hashValue == time(2, 4).hashValue)
    }

    struct Rounded: Sendable, CustomStringConvertible {
        var rounding: MediaTime.RoundingMethod
        /// The results for 2.5, 2.4, −2.5, −2.6 and −0.2 in whole units.
        var expected: [Int64]
        var description: String { "\(rounding)" }
    }

    @Test(
        "B05: every rounding has its direction",
        arguments: [
            Rounded(rounding: .halfAwayFromZero, expected: [3, 2, -3, -3, 0]),
            Rounded(rounding: .towardZero, expected: [2, 2, -2, -2, 0]),
            Rounded(rounding: .awayFromZero, expected: [3, 3, -3, -3, -1]),
            Rounded(rounding: .towardPositiveInfinity, expected: [3, 3, -2, -2, 0]),
            Rounded(rounding: .towardNegativeInfinity, expected: [2, 2, -3, -3, -1]),
            Rounded(rounding: .quickTime, expected: [2, 2, -2, -2, -1]),
        ])
    func rounding(_ c: Rounded) {
        let results = [25, 24, -25, -26, -2].map { time($0, 10).converted(to: 1, rounding: c.rounding).value }
        #expect(results == c.expected)
    }

    @Test("B05: quickTime rounds away from zero if the timescale gets finer")
    func quickTimeFiner() {
        #expect(time(1, 3).converted(to: 10, rounding: .quickTime).value == 4)
        #expect(time(-1, 3).converted(to: 10, rounding: .quickTime).value == -4)
    }

    @Test("B02: sums commute, differences undo sums, negation is its own inverse: no pair traps")
    func laws() {
        let times = everyTime
        for a in times {
            for b in times {
                let sum = a + b
                #expect(sum == b + a)
                #expect((a < b) == (b > a))
                #expect(!(a < b && b < a))
                if a == b { #expect(a.hashValue == b.hashValue) }
                if sum.isNumeric, !sum.hasBeenRounded, sum.epoch == 0 {
                    let back = sum - b
                    if !back.hasBeenRounded, back.isNumeric { #expect(back == a) }
                }
                for scale in scales where a.isNumeric { _ = a.converted(to: scale).multiplied(by: b.seconds) }
                _ = a.multiplied(by: (b.value, Int64(b.timescale)))
            }
            if a.isNumeric, (-a).isNumeric, !(-a).hasBeenRounded { #expect(-(-a) == a) }
        }
    }

    @Test("a time survives a finer common timescale and back, and coding")
    func exactConversion() {
        for value: Int64 in [0, 1, -1, 1001, 123_456_789] {
            for scale: Int32 in [1, 24, 30_000, 90_000] {
                let fine = time(value, scale).converted(to: scale * 7)
                #expect(!fine.hasBeenRounded && fine == time(value, scale))
                #expect(fine.converted(to: scale).value == value)
            }
        }
    }

    @Test("durations convert exactly if the timescale allows")
    func durations() {
        #expect(MediaTime(.milliseconds(4004), timescale: 90_000) == time(360_360, 90_000))
        #expect(!MediaTime(.milliseconds(4004), timescale: 90_000).hasBeenRounded)
        #expect(MediaTime(.nanoseconds(1), timescale: 90_000).hasBeenRounded)
        #expect(MediaTime(.milliseconds(-500), timescale: 2) == time(-1, 2))
        #expect(time(3003, 1000).duration == .milliseconds(3003))
        #expect(time(-1, 4).duration == .milliseconds(-250))
        #expect(MediaTime.indefinite.duration == nil)
        #expect(MediaTime(.seconds(1), timescale: 0) == .invalid)
        #expect(time(Int64.max, Int32.max).duration != nil)
    }
}
