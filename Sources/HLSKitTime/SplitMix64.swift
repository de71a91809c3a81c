/// A small random number generator with a seed. The same seed gives the same numbers on every machine and in every
/// release.
///
/// Source: Steele, Lea, Flood: Fast splittable pseudorandom number generators (2014), with the constants of Vigna's
/// public-domain version.
package struct SplitMix64: RandomNumberGenerator, Sendable, Hashable {
    private var state: UInt64

    package init(seed: UInt64) {
        state = seed
    }

    package mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var z = state
        z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
        return z ^ (z >> 31)
    }

    /// Returns a number in 0 ..< 1 from the upper 53 bits. The standard library's conversion may change between
    /// releases.
    package mutating func nextUnit() -> Double {
        Double(next() >> 11) * 0x1p-53
    }
}
