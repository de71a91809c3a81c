/// Reads bits from bytes, the most significant bit first.
///
/// Reading past the end returns zeros and sets ``isExhausted``, so that a parser needs only one check, after its last
/// field.
package struct BitReader {
    private let bytes: [UInt8]
    /// The number of bits read, which is at most one more than available.
    package private(set) var position = 0

    package init(_ bytes: [UInt8]) { self.bytes = bytes }

    package var isExhausted: Bool { position > bytes.count * 8 }

    package mutating func bits(_ count: Int) -> Int {
        precondition((0...32).contains(count), "up to 32 bits at a time")
        guard position + count <= bytes.count * 8 else {
            position = bytes.count * 8 + 1
            return 0
        }
        var value = 0
        var left = count
        while left > 0 {
            let inByte = 8 - position & 7
            let taken = min(inByte, left)
            let chunk = Int(bytes[position >> 3]) >> (inByte - taken) & ((1 << taken) - 1)
            value = value << taken | chunk
            position += taken
            left -= taken
        }
        return value
    }

    package mutating func flag() -> Bool { bits(1) == 1 }

    package mutating func skip(_ count: Int) {
        let end = bytes.count * 8
        position = count <= end - position ? position + max(count, 0) : end + 1
    }

    package mutating func alignToByte() { position = min((position + 7) & ~7, bytes.count * 8 + 1) }

    /// Reads ue(v), ISO/IEC 14496-10 §9.1: 0 to 2³² − 2. Malformed data returns 0 and exhausts the reader.
    package mutating func unsignedExpGolomb() -> Int {
        var zeros = 0
        while !flag() {
            zeros += 1
            if isExhausted || zeros > 31 {
                position = bytes.count * 8 + 1
                return 0
            }
        }
        return (1 << zeros) - 1 + bits(zeros)
    }

    /// se(v), ISO/IEC 14496-10 §9.1.1.
    package mutating func signedExpGolomb() -> Int {
        let code = unsignedExpGolomb()
        return code & 1 == 1 ? (code + 1) / 2 : -(code / 2)
    }
}
