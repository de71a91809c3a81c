import HLSKitTime
import Testing

@Suite("Seeded generator")
struct SplitMix64Tests {
    @Test("a seed gives the published sequence")
    func publishedSequence() {
        var generator = SplitMix64(seed: 1_234_567)
        let numbers = (0..<5).map { _ in generator.next() }
        let published: [UInt64] = [
            6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423, 4_593_380_528_125_082_431,
            16_408_922_859_458_223_821,
        ]
        #expect(numbers == published)
    }

    @Test("units are at least 0 and below 1")
    func units() {
        var generator = SplitMix64(seed: 0)
        let units = (0..<10_000).map { _ in generator.nextUnit() }
        #expect(units.allSatisfy { $0 >= 0 && $0 < 1 })
        let mean = units.reduce(0, +) / Double(units.count)
        #expect(abs(mean - 0.5) < 0.02)
    }
}
