/// Hashes that are the same in each process and on each machine.
package enum StableHash {
    package static func fnv1a(_ text: String) -> UInt64 {
        text.utf8.reduce(0xCBF2_9CE4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
    }

    /// Returns the FNV-1a hash with a final mixing step. Without it, the lowest bits depend only on the last letters.
    package static func value(of text: String) -> UInt64 {
        var hash = fnv1a(text)
        hash = (hash ^ hash >> 33) &* 0xFF51_AFD7_ED55_8CCD
        return hash ^ hash >> 33
    }
}
