import HLSKitTime
import Testing

@testable import HLSKitEngine

@Suite("Small dictionaries")
struct FewEntriesTests {
    @Test("random changes give the same result as a dictionary")
    func reference() {
        var random = SplitMix64(seed: 4)
        var entries = SmallMap<Int, Int>()
        var expected: [Int: Int] = [:]
        for step in 0..<2000 {
            let key = Int(random.next() % 6)
            switch random.next() % 4 {
            case 0:
                entries[key] = step
                expected[key] = step
            case 1:
                entries[key]? += 1
                expected[key]? += 1
            case 2:
                entries[key] = nil
                expected[key] = nil
            default: #expect(entries.removeValue(forKey: key) == expected.removeValue(forKey: key))
            }
            #expect(Set(entries.keys) == Set(expected.keys) && entries.keys.count == expected.count)
            for key in 0..<6 { #expect(entries[key] == expected[key]) }
        }
    }
}
