import HLSKitTime

/// A JSON document. Objects keep the order of their members, because people read them too.
package enum JSONValue: Sendable, Equatable {
    case null
    case bool(Bool)
    case integer(Int)
    /// Written with at most six decimals, or as null if not finite.
    case number(Double)
    /// JSON text, such as a number in another format.
    case literal(String)
    case string(String)
    case array([JSONValue])
    case object([Member])

    package struct Member: Sendable, Equatable {
        package var name: String
        package var value: JSONValue

        package init(name: String, value: JSONValue) {
            self.name = name
            self.value = value
        }
    }

    package static func object(_ members: KeyValuePairs<String, JSONValue>) -> JSONValue {
        .object(members.map { Member(name: $0.key, value: $0.value) })
    }

    /// The document in one line, safe for terminals.
    package var text: String { text(.terminal) }

    package func text(_ escaping: Escaping) -> String {
        var text = ""
        write(escaping, to: &text)
        return text
    }

    private func write(_ escaping: Escaping, to text: inout String) {
        switch self {
        case .null: text += "null"
        case .bool(let value): text += value ? "true" : "false"
        case .integer(let value): text += String(value)
        case .number(let value): text += Self.decimal(value)
        case .literal(let value): text += value
        case .string(let value): Self.write(value, escaping, to: &text)
        case .array(let elements):
            text += "["
            for (index, element) in elements.enumerated() {
                if index > 0 { text += "," }
                element.write(escaping, to: &text)
            }
            text += "]"
        case .object(let members):
            text += "{"
            for (index, member) in members.enumerated() {
                if index > 0 { text += "," }
                Self.write(member.name, escaping, to: &text)
                text += ":"
                member.value.write(escaping, to: &text)
            }
            text += "}"
        }
    }

    private static func decimal(_ value: Double) -> String {
        guard value.isFinite else { return "null" }
        // Larger values of a `Double` have no decimals to round.
        guard abs(value) < 1e15 else { return String(value) }
        let millionths = (value * 1e6).rounded()
        let rounded = millionths / 1e6
        if rounded == rounded.rounded() { return String(Int(rounded)) }
        // A `Double` with at most 6 decimals prints without an exponent from 1e-4 on.
        guard abs(rounded) < 1e-4 else { return String(rounded) }
        return (rounded < 0 ? "-0." : "0.") + Int(abs(millionths)).digits(6)
    }

    private static func write(_ string: String, _ escaping: Escaping, to text: inout String) {
        text += "\""
        if string.utf8.allSatisfy({ (0x20...0x7E).contains($0) && $0 != 0x22 && $0 != 0x5C }) {
            text += string
        } else {
            for scalar in string.unicodeScalars { write(scalar, escaping, to: &text) }
        }
        text += "\""
    }

    private static func write(_ scalar: Unicode.Scalar, _ escaping: Escaping, to text: inout String) {
        switch scalar {
        case "\"", "\\": text += "\\\(scalar)"
        case "\n" where escaping == .terminal: text += "\\n"
        case "\r" where escaping == .terminal: text += "\\r"
        case "\t" where escaping == .terminal: text += "\\t"
        case _ where escaping.includes(scalar):
            for unit in UTF16.encode(scalar) ?? .init() { text += "\\u" + unit.hexadecimal(4) }
        default: text.unicodeScalars.append(scalar)
        }
    }
}

extension JSONValue {
    /// The characters that are escaped in addition to quotation marks and backslashes.
    package enum Escaping {
        /// Control characters.
        case controls
        /// Everything that could confuse a terminal (R64), with short forms of line breaks and tabs.
        case terminal
        /// Everything invisible.
        case log

        fileprivate func includes(_ scalar: Unicode.Scalar) -> Bool {
            switch self {
            case .controls: scalar.value < 0x20 || scalar.value == 0x7F
            case .terminal: scalar.isUnsafe
            case .log: scalar.isInvisible || scalar.value == 0xA0
            }
        }
    }
}

extension Unicode.Scalar {
    /// Whether this is a control or format character, or a line separator.
    fileprivate var isInvisible: Bool {
        guard !(0x20...0x7E).contains(value) else { return false }
        return switch properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate: true
        default: false
        }
    }

    /// Whether the character could move the cursor of a terminal, change its display or hide something. The two joiners
    /// (U+200C, U+200D) are safe, because words of living scripts need them.
    package var isUnsafe: Bool { isInvisible && value != 0x200C && value != 0x200D }
}

extension JSONValue: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral, ExpressibleByBooleanLiteral,
    ExpressibleByNilLiteral, ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral
{
    package init(stringLiteral value: String) { self = .string(value) }
    package init(integerLiteral value: Int) { self = .integer(value) }
    package init(booleanLiteral value: Bool) { self = .bool(value) }
    package init(nilLiteral: ()) { self = .null }
    package init(arrayLiteral elements: JSONValue...) { self = .array(elements) }
    package init(dictionaryLiteral elements: (String, JSONValue)...) {
        self = .object(elements.map { Member(name: $0.0, value: $0.1) })
    }

    package init(_ value: Double?) { self = value.map(JSONValue.number) ?? .null }
    package init(_ value: Int?) { self = value.map(JSONValue.integer) ?? .null }
    package init(_ value: String?) { self = value.map(JSONValue.string) ?? .null }
}
