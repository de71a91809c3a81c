/// Base 64 (RFC 4648 §4), without Foundation.
package enum Base64 {
    private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)

    package static func encoded(_ bytes: [UInt8]) -> String {
        var text: [UInt8] = []
        for start in stride(from: 0, to: bytes.count, by: 3) {
            let group = bytes[start..<Swift.min(start + 3, bytes.count)]
            var bits: UInt32 = 0
            for byte in group { bits = bits << 8 | UInt32(byte) }
            bits <<= UInt32(8 * (3 - group.count))
            for index in 0..<4 {
                text.append(
                    index <= group.count ? alphabet[Int(bits >> UInt32(18 - 6 * index)) & 63] : UInt8(ascii: "="))
            }
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// - Returns: The bytes, or nil for a byte outside the alphabet or an impossible length. Padding may be missing.
    package static func decoded(_ text: [UInt8]) -> [UInt8]? {
        var digits = text[...]
        while digits.last == UInt8(ascii: "="), text.count - digits.count < 2 { digits.removeLast() }
        return digits.count % 4 == 1 ? nil : bytes(of: digits)
    }

    /// Decodes digits without padding and ignores bits after the last whole byte.
    ///
    /// - Returns: The bytes, or `nil` if a byte is not in the alphabet.
    package static func bytes(of digits: some Sequence<UInt8>) -> [UInt8]? {
        var bytes: [UInt8] = []
        var bits: UInt32 = 0
        var bitCount: UInt32 = 0
        for digit in digits {
            guard let value = alphabet.firstIndex(of: digit) else { return nil }
            bits = bits << 6 | UInt32(value)
            bitCount += 6
            if bitCount >= 8 {
                bitCount -= 8
                bytes.append(UInt8(truncatingIfNeeded: bits >> bitCount))
                bits &= (1 << bitCount) - 1
            }
        }
        return bytes
    }
}
