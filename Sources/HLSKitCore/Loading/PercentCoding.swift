/// Percent-encoding (RFC 3986 §2.1).
enum PercentCoding {
    /// The bytes that `text` stands for; a `%` without two digits stands for itself.
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
}
