import HLSKitCore

/// Makes text from the network safe for terminals, logs and JSON (R64).
package enum TerminalText {
    /// Escapes characters in `text` that could move the cursor, change the display or hide something.
    ///
    /// These are the controls (C0 with line breaks, DEL, C1), the line and paragraph separators, and the invisible
    /// format characters, including those for text direction. The two joiners (U+200C, U+200D) are kept, because words
    /// of living scripts need them. Controls become `\x1b`, others `\u{202e}`.
    package static func escaped(_ text: String) -> String {
        guard text.unicodeScalars.contains(where: \.isUnsafe) else { return text }
        var result = ""
        for scalar in text.unicodeScalars {
            if scalar.isUnsafe {
                result += scalar.value <= 0xFF ? byteEscape(scalar.value) : "\\u{\(String(scalar.value, radix: 16))}"
            } else {
                result.unicodeScalars.append(scalar)
            }
        }
        return result
    }

    /// Breaks a text into lines of at most `columns` characters.
    ///
    /// A line ends after a comma or semicolon in its second half, otherwise at a space, otherwise anywhere.
    package static func wrapped(_ text: String, columns: Int) -> [String] {
        let columns = max(1, columns)
        var lines: [String] = []
        var rest = text[...]
        while let end = rest.index(rest.startIndex, offsetBy: columns, limitedBy: rest.endIndex), end < rest.endIndex {
            let half = rest.index(rest.startIndex, offsetBy: columns / 2)
            let spaces = rest[rest.index(after: rest.startIndex)...end].indices.filter { rest[$0] == " " }
            let phrase = spaces.last { $0 > half && ",;".contains(rest[rest.index(before: $0)]) }
            guard let space = phrase ?? spaces.last else {
                lines.append(String(rest[..<end]))
                rest = rest[end...]
                continue
            }
            lines.append(String(rest[..<space]))
            rest = rest[rest.index(after: space)...]
        }
        return lines + [String(rest)]
    }

    /// Decodes bytes as UTF-8. Invalid bytes become `\xff`.
    static func escaped(bytes: some Sequence<UInt8>) -> String {
        var result = ""
        var pending = Array(bytes)[...]
        while !pending.isEmpty {
            if let length = validPrefixLength(pending) {
                result += escaped(String(decoding: pending.prefix(length), as: UTF8.self))
                pending = pending.dropFirst(length)
            } else if let byte = pending.popFirst() {
                result += byteEscape(UInt32(byte))
            }
        }
        return result
    }

    private static func byteEscape(_ value: UInt32) -> String { "\\x" + value.hexadecimal(2) }

    private static func validPrefixLength(_ bytes: ArraySlice<UInt8>) -> Int? {
        var decoder = UTF8()
        var iterator = bytes.makeIterator()
        var length = 0
        while case .scalarValue(let scalar) = decoder.decode(&iterator) { length += UTF8.width(scalar) }
        return length == 0 ? nil : length
    }
}
