/// Percent-encoding (RFC 3986 §2.1).
package enum PercentCoding {
    /// Returns the decoded bytes of `text`. A `%` without two hexadecimal digits is not changed.
    static func decoded(_ text: some StringProtocol) -> [UInt8] {
        var bytes: [UInt8] = []
        var rest = text.utf8.makeIterator()
        var ahead: [UInt8] = []
        func value(_ byte: UInt8) -> UInt8? {
            Character(UnicodeScalar(byte)).hexDigitValue.map(UInt8.init(truncatingIfNeeded:))
        }
        while let byte = ahead.isEmpty ? rest.next() : ahead.removeFirst() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte)
                continue
            }
            while ahead.count < 2, let next = rest.next() { ahead.append(next) }
            if ahead.count == 2, let high = value(ahead[0]), let low = value(ahead[1]) {
                bytes.append(high << 4 | low)
                ahead = []
            } else {
                bytes.append(byte)
            }
        }
        return bytes
    }

    /// Returns `text` as a value in a query, with all characters escaped except unreserved ones.
    package static func encodedQueryValue(_ text: String) -> String {
        text.utf8.map { byte in
            let isPlain =
                byte < 0x80 && (UnicodeScalar(byte).properties.isAlphabetic || "0123456789-._~".utf8.contains(byte))
            return isPlain
                ? String(UnicodeScalar(byte)) : "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16, uppercase: true)
        }.joined()
    }
}
