import HLSKitTime

/// A parsed JSON text, such as the data that `EXT-X-SESSION-DATA` refers to.
///
/// Source: RFC 8259.
public enum JSONDocument: Sendable, Hashable {
    case null
    case bool(Bool)
    case number(Double)
    case string(String)
    case array([JSONDocument])
    /// An object. If several members have the same name, the last one wins.
    case object([String: JSONDocument])

    package static let maximumDepth = 64

    /// Parses a JSON text in UTF-8, optionally with a byte order mark.
    ///
    /// The result is `nil` if the text is not valid. Time and memory grow linearly with the size of the text.
    public init?(parsing bytes: some Collection<UInt8>) {
        var bytes = Array(bytes)
        if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { bytes.removeFirst(3) }
        var reader = JSONReader(bytes: bytes)
        guard let document = reader.readDocument() else { return nil }
        self = document
    }

    /// The member of an object, or `nil` if there is none or the value is not an object.
    public subscript(name: String) -> JSONDocument? {
        if case .object(let members) = self { members[name] } else { nil }
    }

    /// The value of a string, or `nil` for any other value.
    public var string: String? { if case .string(let value) = self { value } else { nil } }
    /// The value of a number, or `nil` for any other value.
    public var number: Double? { if case .number(let value) = self { value } else { nil } }
    /// The elements of an array, or `nil` for any other value.
    public var array: [JSONDocument]? { if case .array(let value) = self { value } else { nil } }
}

/// Reads one text. Every method leaves `index` after the text that it has read.
private struct JSONReader {
    let bytes: [UInt8]
    var index = 0

    init(bytes: [UInt8]) { self.bytes = bytes }

    private var current: UInt8? { index < bytes.count ? bytes[index] : nil }

    private mutating func skipSpace() {
        while let byte = current, [0x20, 0x09, 0x0A, 0x0D].contains(byte) { index += 1 }
    }

    private mutating func skip(_ byte: Character) -> Bool {
        guard current == byte.asciiValue else { return false }
        index += 1
        return true
    }

    private mutating func skip(word: String) -> Bool {
        guard bytes[index...].starts(with: word.utf8) else { return false }
        index += word.utf8.count
        return true
    }

    mutating func readDocument() -> JSONDocument? {
        guard let value = readValue(depth: 0) else { return nil }
        skipSpace()
        return index == bytes.count ? value : nil
    }

    private mutating func readValue(depth: Int) -> JSONDocument? {
        guard depth < JSONDocument.maximumDepth else { return nil }
        skipSpace()
        switch current {
        case UInt8(ascii: "{"): return readObject(depth: depth)
        case UInt8(ascii: "["): return readArray(depth: depth)
        case UInt8(ascii: "\""): return readString().map(JSONDocument.string)
        case UInt8(ascii: "t"): return skip(word: "true") ? .bool(true) : nil
        case UInt8(ascii: "f"): return skip(word: "false") ? .bool(false) : nil
        case UInt8(ascii: "n"): return skip(word: "null") ? .null : nil
        default: return readNumber().map(JSONDocument.number)
        }
    }

    private mutating func readArray(depth: Int) -> JSONDocument? {
        index += 1
        var elements: [JSONDocument] = []
        skipSpace()
        if skip("]") { return .array([]) }
        while let element = readValue(depth: depth + 1) {
            elements.append(element)
            skipSpace()
            if skip("]") { return .array(elements) }
            guard skip(",") else { return nil }
        }
        return nil
    }

    private mutating func readObject(depth: Int) -> JSONDocument? {
        index += 1
        var members: [String: JSONDocument] = [:]
        skipSpace()
        if skip("}") { return .object([:]) }
        while true {
            skipSpace()
            guard let name = readString() else { return nil }
            skipSpace()
            guard skip(":"), let value = readValue(depth: depth + 1) else { return nil }
            members[name] = value
            skipSpace()
            if skip("}") { return .object(members) }
            guard skip(",") else { return nil }
        }
    }

    private mutating func readNumber() -> Double? {
        let start = index
        _ = skip("-")
        let isZero = skip("0")
        guard isZero || skipDigits() else { return nil }
        if skip("."), !skipDigits() { return nil }
        if skip("e") || skip("E") {
            if !skip("+") { _ = skip("-") }
            guard skipDigits() else { return nil }
        }
        let value = Double(String(decoding: bytes[start..<index], as: UTF8.self))
        return value.flatMap { $0.isFinite ? $0 : nil }
    }

    private mutating func skipDigits() -> Bool {
        let start = index
        while let byte = current, (0x30...0x39).contains(byte) { index += 1 }
        return index > start
    }

    private mutating func readString() -> String? {
        guard skip("\"") else { return nil }
        var text: [UInt8] = []
        while let byte = current {
            index += 1
            switch byte {
            case UInt8(ascii: "\""): return String(decoding: text, as: UTF8.self)
            case UInt8(ascii: "\\"):
                guard let scalar = readEscape() else { return nil }
                text.append(contentsOf: String(scalar).utf8)
            case ..<0x20: return nil
            default: text.append(byte)
            }
        }
        return nil
    }

    private mutating func readEscape() -> Unicode.Scalar? {
        guard let byte = current else { return nil }
        index += 1
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): return Unicode.Scalar(byte)
        case UInt8(ascii: "b"): return "\u{8}"
        case UInt8(ascii: "f"): return "\u{C}"
        case UInt8(ascii: "n"): return "\n"
        case UInt8(ascii: "r"): return "\r"
        case UInt8(ascii: "t"): return "\t"
        case UInt8(ascii: "u"): return readUnicodeEscape()
        default: return nil
        }
    }

    /// Reads four digits, or two groups of four for a character outside the first plane. A lone surrogate becomes
    /// U+FFFD.
    private mutating func readUnicodeEscape() -> Unicode.Scalar? {
        guard let first = readHexadecimal() else { return nil }
        if let scalar = Unicode.Scalar(first) { return scalar }
        let start = index
        if first < 0xDC00, skip(word: "\\u"), let second = readHexadecimal(), (0xDC00..<0xE000).contains(second) {
            return Unicode.Scalar(0x10000 + (first - 0xD800) << 10 + (second - 0xDC00))
        }
        index = start
        return "\u{FFFD}"
    }

    private mutating func readHexadecimal() -> UInt32? {
        let digits = bytes[index...].prefix(4)
        let values = digits.compactMap(\.hexadecimalValue)
        guard values.count == 4 else { return nil }
        index += 4
        return values.reduce(0) { $0 << 4 | UInt32($1) }
    }
}
