import HLSKitCore

extension TransportField {
    /// Parses a field as `-H` takes it: `Name: value`.
    init(argument text: String) throws(ArgumentValueError) {
        guard let colon = text.firstIndex(of: ":") else {
            throw ArgumentValueError("write a header field as 'Name: value'")
        }
        let name = text[..<colon]
        guard !name.isEmpty, name.utf8.allSatisfy(Self.isTokenByte) else {
            throw ArgumentValueError("the name before the colon is not a valid field name (RFC 9110 §5.6.2)")
        }
        let value = text[text.index(after: colon)...].drop { $0 == " " || $0 == "\t" }
        guard value.unicodeScalars.allSatisfy({ $0 == "\t" || ($0.value >= 0x20 && $0.value != 0x7F) }) else {
            throw ArgumentValueError("the value contains control characters")
        }
        self.init(name: String(name), value: String(value))
    }

    private static func isTokenByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "a")...UInt8(ascii: "z"):
            true
        default: "!#$%&'*+-.^_`|~".utf8.contains(byte)
        }
    }
}
