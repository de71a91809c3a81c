/// An item of a structured field, parsed from untrusted bytes (RFC 8941 §4.2).
struct StructuredItem: Sendable, Hashable {
    enum Value: Sendable, Hashable {
        case integer(Int)
        case decimal(Double)
        case string(String)
        case token(String)
        case flag(Bool)
        /// A byte sequence as written.
        case bytes(String)
        case list([StructuredItem])
    }

    var value: Value
    var parameters: [String: Value] = [:]

    /// Parses a dictionary, or returns nil if it is malformed. The last of several members with one name is kept.
    static func dictionary(_ text: String) -> [String: StructuredItem]? {
        var reader = StructuredReader(text)
        return reader.dictionary()
    }

    static func list(_ text: String) -> [StructuredItem]? {
        var reader = StructuredReader(text)
        return reader.list()
    }
}

private struct StructuredReader {
    private let bytes: [UInt8]
    private var index = 0

    init(_ text: String) { bytes = Array(text.utf8) }

    private var next: UInt8? { index < bytes.count ? bytes[index] : nil }

    private mutating func take(_ byte: Unicode.Scalar) -> Bool {
        guard next == UInt8(ascii: byte) else { return false }
        index += 1
        return true
    }

    private mutating func takeWhile(_ isMeant: (UInt8) -> Bool) -> String {
        let start = index
        while let byte = next, isMeant(byte) { index += 1 }
        return String(decoding: bytes[start..<index], as: UTF8.self)
    }

    private mutating func skipSpaces() { _ = takeWhile { $0 == 0x20 || $0 == 0x09 } }

    mutating func dictionary() -> [String: StructuredItem]? {
        var members: [String: StructuredItem] = [:]
        let isWhole = readMembers { reader in
            guard let name = reader.key() else { return false }
            if reader.take("=") {
                guard let item = reader.member() else { return false }
                members[name] = item
            } else {
                guard let parameters = reader.parameters() else { return false }
                members[name] = StructuredItem(value: .flag(true), parameters: parameters)
            }
            return true
        }
        return isWhole ? members : nil
    }

    mutating func list() -> [StructuredItem]? {
        var items: [StructuredItem] = []
        let isWhole = readMembers { reader in
            guard let item = reader.member() else { return false }
            items.append(item)
            return true
        }
        return isWhole ? items : nil
    }

    /// Reads comma-separated members. Returns false if the text is truncated or does not end after a member.
    private mutating func readMembers(_ read: (inout StructuredReader) -> Bool) -> Bool {
        skipSpaces()
        while next != nil {
            guard read(&self) else { return false }
            skipSpaces()
            guard next != nil else { return true }
            guard take(",") else { return false }
            skipSpaces()
            if next == nil { return false }
        }
        return true
    }

    private mutating func key() -> String? {
        guard let first = next, (0x61...0x7A).contains(first) || first == UInt8(ascii: "*") else { return nil }
        return takeWhile {
            (0x61...0x7A).contains($0) || StructuredText.isDigit($0) || "_-.*".utf8.contains($0)
        }
    }

    private mutating func member() -> StructuredItem? {
        guard take("(") else { return item() }
        var items: [StructuredItem] = []
        while true {
            _ = takeWhile { $0 == 0x20 }
            if take(")") { break }
            guard let item = item() else { return nil }
            items.append(item)
            guard let byte = next, byte == 0x20 || byte == UInt8(ascii: ")") else { return nil }
        }
        guard let parameters = parameters() else { return nil }
        return StructuredItem(value: .list(items), parameters: parameters)
    }

    private mutating func item() -> StructuredItem? {
        guard let value = bare(), let parameters = parameters() else { return nil }
        return StructuredItem(value: value, parameters: parameters)
    }

    private mutating func parameters() -> [String: StructuredItem.Value]? {
        var parameters: [String: StructuredItem.Value] = [:]
        while take(";") {
            _ = takeWhile { $0 == 0x20 }
            guard let name = key() else { return nil }
            if take("=") {
                guard let value = bare() else { return nil }
                parameters[name] = value
            } else {
                parameters[name] = .flag(true)
            }
        }
        return parameters
    }

    private mutating func bare() -> StructuredItem.Value? {
        guard let first = next else { return nil }
        if first == UInt8(ascii: "\"") { return string() }
        if first == UInt8(ascii: "?") {
            index += 1
            return take("1") ? .flag(true) : take("0") ? .flag(false) : nil
        }
        if first == UInt8(ascii: ":") {
            index += 1
            let text = takeWhile {
                StructuredText.isLetter($0) || StructuredText.isDigit($0) || "+/=".utf8.contains($0)
            }
            return take(":") ? .bytes(text) : nil
        }
        if first == UInt8(ascii: "-") || StructuredText.isDigit(first) { return number() }
        guard StructuredText.isLetter(first) || first == UInt8(ascii: "*") else { return nil }
        return .token(takeWhile(StructuredText.isOfToken))
    }

    private mutating func number() -> StructuredItem.Value? {
        let sign = take("-") ? "-" : ""
        let whole = takeWhile(StructuredText.isDigit)
        guard !whole.isEmpty else { return nil }
        guard take(".") else { return whole.utf8.count <= 15 ? Int(sign + whole).map { .integer($0) } : nil }
        let part = takeWhile(StructuredText.isDigit)
        guard (1...3).contains(part.utf8.count), whole.utf8.count <= 12 else { return nil }
        return Double("\(sign)\(whole).\(part)").map { .decimal($0) }
    }

    private mutating func string() -> StructuredItem.Value? {
        index += 1
        var text: [UInt8] = []
        while let byte = next {
            index += 1
            switch byte {
            case UInt8(ascii: "\""): return .string(String(decoding: text, as: UTF8.self))
            case UInt8(ascii: "\\"):
                guard let escaped = next, escaped == UInt8(ascii: "\"") || escaped == UInt8(ascii: "\\") else {
                    return nil
                }
                index += 1
                text.append(escaped)
            case 0x20...0x7E: text.append(byte)
            default: return nil
            }
        }
        return nil
    }
}
