/// Formats values of structured fields (RFC 8941 §4.1).
enum StructuredText {
    /// Returns a quoted string with `"` and `\` escaped, or nil if a character is not printable ASCII.
    static func string(_ text: String) -> String? {
        var result: [UInt8] = [0x22]
        for byte in text.utf8 {
            guard (0x20...0x7E).contains(byte) else { return nil }
            if byte == 0x22 || byte == 0x5C { result.append(0x5C) }
            result.append(byte)
        }
        result.append(0x22)
        return String(decoding: result, as: UTF8.self)
    }

    static func isToken(_ text: String) -> Bool {
        guard let first = text.utf8.first, isLetter(first) || first == UInt8(ascii: "*") else { return false }
        return text.utf8.allSatisfy(isOfToken)
    }

    /// Returns a decimal with up to three digits after the decimal point, or nil for more than twelve digits before it.
    static func decimal(_ value: Double) -> String? {
        guard value.isFinite, abs(value) < 999_999_999_999 else { return nil }
        let thousandths = Int((abs(value) * 1000).rounded())
        let sign = value < 0 && thousandths > 0 ? "-" : ""
        var rest = String(thousandths % 1000 + 1000).dropFirst()
        while rest.last == "0" { rest.removeLast() }
        return "\(sign)\(thousandths / 1000)" + (rest.isEmpty ? "" : ".\(rest)")
    }

    static func isLetter(_ byte: UInt8) -> Bool {
        (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte)
    }

    static func isDigit(_ byte: UInt8) -> Bool { (0x30...0x39).contains(byte) }

    static func isOfToken(_ byte: UInt8) -> Bool {
        isLetter(byte) || isDigit(byte) || "!#$%&'*+-.^_`|~:/".utf8.contains(byte)
    }
}
