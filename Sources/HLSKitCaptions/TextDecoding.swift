import HLSKitMedia

enum TextDecoding {
    /// Returns the text of bytes in UTF-16, UTF-8 or Windows-1252.
    ///
    /// The encoding is UTF-16 if its mark or the zero bytes of its first characters indicate it. Otherwise it is UTF-8,
    /// or Windows-1252 if the bytes are not UTF-8. `note` is set if the encoding is not one that the formats allow.
    static func text(of bytes: [UInt8]) -> (text: String, note: String?) {
        if bytes.starts(with: [0xff, 0xfe]) { return (UTF16Text.decode(bytes[2...], isLittleEndian: true), nil) }
        if bytes.starts(with: [0xfe, 0xff]) { return (UTF16Text.decode(bytes[2...], isLittleEndian: false), nil) }
        if bytes.count >= 4, bytes[0] != 0, bytes[1] == 0, bytes[2] != 0, bytes[3] == 0 {
            return (UTF16Text.decode(bytes[...], isLittleEndian: true), nil)
        }
        if bytes.count >= 4, bytes[0] == 0, bytes[1] != 0, bytes[2] == 0, bytes[3] != 0 {
            return (UTF16Text.decode(bytes[...], isLittleEndian: false), nil)
        }
        let body = bytes.starts(with: [0xef, 0xbb, 0xbf]) ? bytes[3...] : bytes[...]
        if let text = String(validating: body, as: UTF8.self) { return (text, nil) }
        // Damaged UTF-8 has more valid characters than invalid ones. Other encodings have hardly any valid ones by
        // chance.
        let repaired = String(decoding: body, as: UTF8.self)
        let broken = repaired.unicodeScalars.count { $0 == "\u{fffd}" }
        if repaired.unicodeScalars.count(where: { !$0.isASCII }) > 2 * broken {
            return (repaired, "damaged UTF-8; \(broken) characters were replaced")
        }
        var scalars = String.UnicodeScalarView()
        for byte in body { scalars.append(Windows1252.scalar(byte)) }
        return (String(scalars), "neither UTF-8 nor UTF-16; read as Windows-1252")
    }

    /// Splits a text at line feeds, carriage returns or both.
    static func lines(of text: String) -> [Substring.UnicodeScalarView] {
        var lines: [Substring.UnicodeScalarView] = []
        var rest = text.unicodeScalars[...]
        while let end = rest.firstIndex(where: { $0 == "\n" || $0 == "\r" }) {
            lines.append(rest[..<end])
            let isReturn = rest[end] == "\r"
            rest = rest[rest.index(after: end)...]
            if isReturn, rest.first == "\n" { rest = rest.dropFirst() }
        }
        if !rest.isEmpty { lines.append(rest) }
        return lines
    }
}
