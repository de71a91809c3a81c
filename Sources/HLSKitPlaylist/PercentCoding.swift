import HLSKitTime

/// Percent-encoding (RFC 3986 §2.1).
package enum PercentCoding {
    /// Decodes each `%` and two hexadecimal digits into a byte. Any other `%` is not changed.
    package static func decoded(_ text: some StringProtocol) -> [UInt8] {
        var bytes: [UInt8] = []
        var rest = Substring(text).utf8
        while let byte = rest.popFirst() {
            let digits = rest.prefix(2)
            if byte == UInt8(ascii: "%"), digits.count == 2, let high = digits.first?.hexadecimalValue,
                let low = digits.last?.hexadecimalValue
            {
                bytes.append(high << 4 | low)
                rest = rest.dropFirst(2)
            } else {
                bytes.append(byte)
            }
        }
        return bytes
    }

    package static func decodedText(_ text: some StringProtocol) -> String {
        text.utf8.contains(UInt8(ascii: "%")) ? String(decoding: decoded(text), as: UTF8.self) : String(text)
    }

    /// Encodes each byte for which `isKept` returns false.
    ///
    /// - Parameter isKept: By default, the unreserved characters are kept (RFC 3986 §2.3).
    package static func encoded(
        _ text: some StringProtocol, keeping isKept: (UInt8) -> Bool = { $0.isUnreserved }
    ) -> String {
        guard !text.utf8.allSatisfy(isKept) else { return String(text) }
        let digits = Array("0123456789ABCDEF".utf8)
        var bytes: [UInt8] = []
        for byte in text.utf8 {
            if isKept(byte) {
                bytes.append(byte)
            } else {
                bytes += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}

extension UInt8 {
    package var isUnreserved: Bool {
        (0x61...0x7A).contains(self | 0x20) || (0x30...0x39).contains(self) || "-._~".utf8.contains(self)
    }
}
