import HLSKitTime

/// Generates random UUIDs (RFC 9562 §5.4), and the same ones from the same seed.
package struct SessionIDGenerator: Sendable {
    private var random: SplitMix64?

    package init(seed: UInt64?) {
        // Use other numbers than the jitter of retries does.
        random = seed.map { SplitMix64(seed: $0 ^ 0x5E55_1014_1D00_0000) }
    }

    package mutating func next() -> String {
        var high = number()
        var low = number()
        high = high & 0xFFFF_FFFF_FFFF_0FFF | 0x4000
        low = low & 0x3FFF_FFFF_FFFF_FFFF | 0x8000_0000_0000_0000
        let digits = high.hexadecimal(16, uppercase: true) + low.hexadecimal(16, uppercase: true)
        var text = ""
        for (index, digit) in digits.enumerated() {
            if [8, 12, 16, 20].contains(index) { text += "-" }
            text.append(digit)
        }
        return text
    }

    private mutating func number() -> UInt64 {
        if random != nil { return random?.next() ?? 0 }
        var system = SystemRandomNumberGenerator()
        return system.next()
    }
}
