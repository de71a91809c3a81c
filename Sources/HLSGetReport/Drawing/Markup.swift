import HLSGetKit
import HLSKitCore

/// Text inside of HTML and SVG. All that comes from a log passes through here before it is written.
enum Markup {
    /// `text` as the content of an element or as the value of a quoted attribute: no character of it can end either.
    ///
    /// What could hide or reorder text is escaped visibly, as on terminals.
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

    /// The same of a text from elsewhere, without the secrets in it.
    static func foreign(_ text: String) -> String { escaped(Redaction.text(text)) }

    /// The same of a URL from elsewhere; of a long one without its middle.
    static func foreign(url: String) -> String {
        let text = Redaction.url(url)
        return escaped(text.count > 400 ? "\(text.prefix(200))…\(text.suffix(200))" : text)
    }

    private static func isSpecial(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: "&") || byte == UInt8(ascii: "<") || byte == UInt8(ascii: ">")
            || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "'")
    }
}
