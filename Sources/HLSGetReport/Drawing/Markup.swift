import HLSGetKit
import HLSKitCore

/// Escapes text for HTML and SVG. All text from a log must pass through here before it is written.
enum Markup {
    /// Escapes `text` for the content of an element or a quoted attribute.
    ///
    /// Characters that could hide or reorder text are made visible, as on terminals.
    static func escaped(_ text: String) -> String {
        let text = TerminalText.escaped(text)
        guard text.utf8.contains(where: isSpecial) else { return text }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.utf8.count + 16)
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "&"): bytes += "&amp;".utf8
            case UInt8(ascii: "<"): bytes += "&lt;".utf8
            case UInt8(ascii: ">"): bytes += "&gt;".utf8
            case UInt8(ascii: "\""): bytes += "&quot;".utf8
            case UInt8(ascii: "'"): bytes += "&#39;".utf8
            default: bytes.append(byte)
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Escapes external text and removes the secrets in it.
    static func foreign(_ text: String) -> String { escaped(Redaction.text(text)) }

    /// Escapes an external URL without its secrets, shortened in the middle if it is long.
    static func foreign(url: String) -> String {
        let text = Redaction.url(url)
        return escaped(text.count > 400 ? "\(text.prefix(200))…\(text.suffix(200))" : text)
    }

    private static func isSpecial(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: "&") || byte == UInt8(ascii: "<") || byte == UInt8(ascii: ">")
            || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "'")
    }
}
