import HLSKitTime

struct AttributeText {
    private(set) var text = ""

    private mutating func append(_ name: String, _ value: String) {
        if !text.isEmpty { text += "," }
        text += name + "=" + value
    }

    /// Writes a value without quotes and without changes.
    mutating func plain(_ name: AttributeName, _ value: (some CustomStringConvertible)?) {
        if let value { append(name.rawValue, Self.oneLine(value.description)) }
    }

    /// Writes a quoted string without any quotes and line ends, which it cannot contain.
    mutating func quoted(_ name: AttributeName, _ value: String?) {
        if let value { append(name.rawValue, "\"" + Self.quotable(value) + "\"") }
    }

    mutating func yes(_ name: AttributeName, _ value: Bool) {
        if value { append(name.rawValue, "YES") }
    }

    mutating func duration(_ name: AttributeName, _ value: Duration?) {
        plain(name, value?.decimalText())
    }

    mutating func other(_ attributes: [PlaylistAttribute]) {
        for attribute in attributes {
            let value = attribute.value
            append(attribute.name, attribute.isQuoted ? "\"" + Self.quotable(value) + "\"" : Self.oneLine(value))
        }
    }

    static func oneLine(_ text: String) -> String {
        guard text.utf8.contains(where: { $0 < 0x20 }) else { return text }
        return String(decoding: text.utf8.filter { $0 >= 0x20 || $0 == 0x09 }, as: UTF8.self)
    }

    private static func quotable(_ text: String) -> String {
        let text = oneLine(text)
        guard text.utf8.contains(0x22) else { return text }
        return String(decoding: text.utf8.filter { $0 != 0x22 }, as: UTF8.self)
    }
}

/// An attribute without a corresponding property, kept so that it can be written again.
public struct PlaylistAttribute: Sendable, Hashable {
    /// The name as written, usually in upper case.
    public var name: String
    /// The value without quotes, with variables replaced.
    public var value: String
    /// A Boolean value that indicates whether the value was read, and is written, in quotes.
    public var isQuoted: Bool

    /// Creates an attribute from its unquoted value.
    public init(name: String, value: String, isQuoted: Bool) {
        self.name = name
        self.value = value
        self.isQuoted = isQuoted
    }
}

extension ReadingContext {
    /// Keeps an attribute that has no property in the tag's type.
    mutating func keep(
        _ attribute: Attribute, _ bytes: borrowing Span<UInt8>
    ) throws(PlaylistError) -> PlaylistAttribute {
        PlaylistAttribute(
            name: bytes.string(attribute.nameRange), value: try text(attribute.value, bytes),
            isQuoted: attribute.isQuoted)
    }
}
