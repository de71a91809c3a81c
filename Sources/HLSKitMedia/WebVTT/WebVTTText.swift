/// The payload of cues as plain text.
package enum WebVTTText {
    /// `payload` without tags, its character references decoded.
    ///
    /// A tag that is not closed reaches to the end. What looks like a reference and is none stays as it is.
    package static func plain(_ payload: String) -> String {
        guard payload.utf8.contains(where: { $0 == UInt8(ascii: "<") || $0 == UInt8(ascii: "&") }) else {
            return payload
        }
        var result = String.UnicodeScalarView()
        var rest = payload.unicodeScalars[...]
        while let scalar = rest.first {
            switch scalar {
            case "<":
                guard let end = rest.firstIndex(of: ">") else { return String(result) }
                rest = rest[rest.index(after: end)...]
            case "&":
                if let (decoded, length) = reference(rest) {
                    result.append(decoded)
                    rest = rest.dropFirst(length)
                } else {
                    result.append(scalar)
                    rest = rest.dropFirst()
                }
            default:
                result.append(scalar)
                rest = rest.dropFirst()
            }
        }
        return String(result)
    }

    /// Longer than every reference that is known, with its ampersand and semicolon.
    private static let maxReferenceLength = 12

    /// The character that a reference at the start of `text` stands for, and the reference's length.
    package static func reference(_ text: Substring.UnicodeScalarView) -> (Unicode.Scalar, length: Int)? {
        let head = text.prefix(maxReferenceLength)
        guard let end = head.firstIndex(of: ";") else { return nil }
        let name = String(head[head.index(after: head.startIndex)..<end])
        guard let scalar = CharacterReferences.named[name] ?? numbered(name) else { return nil }
        return (scalar, name.unicodeScalars.count + 2)
    }

    private static func numbered(_ name: String) -> Unicode.Scalar? {
        guard name.hasPrefix("#") else { return nil }
        let isHexadecimal = name.hasPrefix("#x") || name.hasPrefix("#X")
        let digits = name.dropFirst(isHexadecimal ? 2 : 1)
        guard digits.first?.isHexDigit == true, let value = UInt32(digits, radix: isHexadecimal ? 16 : 10), value > 0
        else { return nil }
        // HTML §13.2.5.80: what would be control characters was meant in the encoding of Windows.
        return (0x80...0x9f).contains(value) ? Windows1252.scalar(UInt8(value)) : Unicode.Scalar(value)
    }
}
