import HLSMedia

/// Bytes of text files whose encoding nobody told.
enum TextDecoding {
    /// UTF-16 by its mark or by the zero bytes of its first characters, else UTF-8, else Windows-1252.
    ///
    /// `isGuessed` where it was none of the encodings that formats allow.
    static func text(of bytes: [UInt8]) -> (text: String, isGuessed: Bool) {
        if bytes.starts(with: [0xff, 0xfe]) { return (UTF16Text.decode(bytes[2...], isLittleEndian: true), false) }
        if bytes.starts(with: [0xfe, 0xff]) { return (UTF16Text.decode(bytes[2...], isLittleEndian: false), false) }
        if bytes.count >= 4, bytes[0] != 0, bytes[1] == 0, bytes[2] != 0, bytes[3] == 0 {
            return (UTF16Text.decode(bytes[...], isLittleEndian: true), false)
        }
        if bytes.count >= 4, bytes[0] == 0, bytes[1] != 0, bytes[2] == 0, bytes[3] != 0 {
            return (UTF16Text.decode(bytes[...], isLittleEndian: false), false)
        }
        let body = bytes.starts(with: [0xef, 0xbb, 0xbf]) ? bytes[3...] : bytes[...]
        if let text = String(validating: body, as: UTF8.self) { return (text, false) }
        var scalars = String.UnicodeScalarView()
        for byte in body {
            scalars.append(
                (0x80...0x9f).contains(byte) ? windows[Int(byte) - 0x80] : Unicode.Scalar(byte))
        }
        return (String(scalars), true)
    }

    /// 0x80 to 0x9f of Windows-1252; the five bytes without a meaning are U+FFFD.
    private static let windows: [Unicode.Scalar] = [
        "\u{20ac}", "\u{fffd}", "\u{201a}", "\u{0192}", "\u{201e}", "\u{2026}", "\u{2020}", "\u{2021}",
        "\u{02c6}", "\u{2030}", "\u{0160}", "\u{2039}", "\u{0152}", "\u{fffd}", "\u{017d}", "\u{fffd}",
        "\u{fffd}", "\u{2018}", "\u{2019}", "\u{201c}", "\u{201d}", "\u{2022}", "\u{2013}", "\u{2014}",
        "\u{02dc}", "\u{2122}", "\u{0161}", "\u{203a}", "\u{0153}", "\u{fffd}", "\u{017e}", "\u{0178}",
    ]

    /// The lines of a text, ended by line feed, carriage return or both.
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
