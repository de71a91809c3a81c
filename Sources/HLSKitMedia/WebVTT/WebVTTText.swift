/// The payload of cues as plain text.
package enum WebVTTText {
    /// Returns `payload` without tags and with decoded character references.
    ///
    /// An unclosed tag extends to the end. Text that only looks like a reference does not change.
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

    /// Longer than every known reference, including its ampersand and semicolon.
    private static let maxReferenceLength = 12

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
        // HTML §13.2.5.80: numbers of C1 control characters are interpreted as Windows-1252.
        return (0x80...0x9f).contains(value) ? Windows1252.scalar(UInt8(value)) : Unicode.Scalar(value)
    }
}
