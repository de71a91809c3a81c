import HLSKitTime
import Testing

private func seconds(_ value: Int64) -> MediaTime { MediaTime(value: value, timescale: 1) }
private func range(_ start: Int64, _ end: Int64) -> MediaTimeRange {
    MediaTimeRange(start: seconds(start), end: seconds(end))
}

@Suite struct MediaTimeRangeTests {
    @Test("B06: a range contains its start but not its end")
    func contains() {
        #expect(range(1, 3).contains(seconds(1)))
        #expect(range(1, 3).contains(MediaTime(value: 5, timescale: 2)))
        #expect(!range(1, 3).contains(seconds(3)))
        #expect(!range(1, 3).contains(MediaTime.invalid) && !range(1, 3).contains(.indefinite))
        #expect(!range(1, 1).contains(seconds(1)))
        #expect(range(1, 3).contains(range(2, 3)) && !range(1, 3).contains(range(2, 4)))
    }

    @Test("B06: union and intersection are commutative, and bounded by both ranges")
    func algebra() {
        for a in 0..<4 as Range<Int64> {
            for b in a..<5 {
                for c in 0..<4 as Range<Int64> {
                    for d in c..<5 {
                        let (left, right) = (range(a, b), range(c, d))
                        #expect(left.union(right) == right.union(left))
                        #expect(left.intersection(right) == right.intersection(left))
                        #expect(left.union(right).contains(left))
                        let common = left.intersection(right)
                        #expect(common == .zero || (left.contains(common) && right.contains(common)))
                        for t in 0..<5 as Range<Int64> {
                            let both = left.contains(seconds(t)) && right.contains(seconds(t))
                            #expect(common.contains(seconds(t)) == both)
                        }
                    }
                }
            }
        }
    }

    @Test("B06: a range with a negative or epoch-bound duration is invalid and harmless")
    func invalid() {
        #expect(!range(3, 1).isValid)
        #expect(!MediaTimeRange(start: .zero, duration: MediaTime(value: 1, timescale: 1, epoch: 1)).isValid)
        #expect(!MediaTimeRange.invalid.isValid && !MediaTimeRange.invalid.isEmpty)
        #expect(MediaTimeRange.invalid.union(range(1, 2)) == range(1, 2))
        #expect(range(1, 2).union(.invalid) == range(1, 2))
        #expect(!range(1, 2).intersection(.invalid).isValid)
        #expect(MediaTimeRange(start: .zero, duration: .indefinite).isValid)
        #expect(MediaTimeRange(start: .zero, duration: .positiveInfinity).contains(seconds(1 << 40)))
    }

    @Test("B06: a mapping scales, and continues outside its source")
    func mapping() {
        let double = MediaTimeMapping(source: range(10, 20), target: range(100, 120))
        #expect(double.map(seconds(10)) == seconds(100))
        #expect(double.map(seconds(15)) == seconds(110))
        #expect(double.map(seconds(25)) == seconds(130))
        let half = MediaTimeMapping(source: double.target, target: double.source)
        #expect(half.map(seconds(110)) == seconds(15))
        let mixed = MediaTimeMapping(
            source: MediaTimeRange(start: .zero, duration: MediaTime(value: 3, timescale: 2)),
            target: MediaTimeRange(start: .zero, duration: seconds(3)))
        #expect(mixed.map(MediaTime(value: 1, timescale: 2)) == seconds(1))
        #expect(MediaTimeMapping(source: .invalid, target: .zero).map(.zero) == .invalid)
        #expect(MediaTimeMapping(source: range(5, 5), target: range(7, 7)).map(seconds(6)) == seconds(8))
        #expect(double.map(.indefinite) == .indefinite)
    }

    @Test("B06: a mapping is exact even if source and target share no timescale")
    func exactMapping() {
        func length(_ value: Int64, _ scale: Int32) -> MediaTimeRange {
            MediaTimeRange(start: .zero, duration: MediaTime(value: value, timescale: scale))
        }
        let pull = MediaTimeMapping(source: length(1001, 30_000), target: length(1, 24))
        let mapped = pull.map(MediaTime(value: 2002, timescale: 30_000))
        #expect(mapped == MediaTime(value: 1, timescale: 12) && !mapped.hasBeenRounded, "\(mapped.debugDescription)")
        let back = MediaTimeMapping(source: pull.target, target: pull.source).map(mapped)
        #expect(back == MediaTime(value: 2002, timescale: 30_000) && !back.hasBeenRounded, "\(back.debugDescription)")
        // Unrepresentable values are rounded and do not trap.
        let odd = MediaTimeMapping(source: length(Int64.max, Int32.max), target: length(Int64.max - 1, Int32.max - 2))
        #expect(abs(odd.map(.seconds(1000)).seconds - 1000) < 0.001)
    }
}
