import HLSKitCore
import HLSKitSimulation

/// One line of client data. It is parsed by the grammar of CTA-5004 §2 and RFC 8941 §4.2, without code of the library.
struct ClientDataLine {
    /// The written values: strings without quotes, lists without parentheses, and flags as empty strings.
    private(set) var values: [String: String] = [:]
    private(set) var keys: [String] = []

    struct Malformed: Error {
        var text: String
    }

    init(_ text: String) throws {
        var rest = Array(text.unicodeScalars)[...]
        guard !rest.isEmpty else { return }
        while true {
            let key = String(String.UnicodeScalarView(rest.prefix { $0 != "=" && $0 != "," }))
            guard !key.isEmpty,
                key.unicodeScalars.allSatisfy({ "abcdefghijklmnopqrstuvwxyz0123456789.-".unicodeScalars.contains($0) })
            else { throw Malformed(text: text) }
            rest = rest.dropFirst(key.unicodeScalars.count)
            var value = ""
            if rest.first == "=" {
                rest = rest.dropFirst()
                var (isQuoted, depth) = (false, 0)
                loop: while let scalar = rest.first {
                    switch scalar {
                    case "\\" where isQuoted:
                        rest = rest.dropFirst()
                        guard let escaped = rest.first else { throw Malformed(text: text) }
                        value.unicodeScalars.append(escaped)
                    case "\"":
                        isQuoted.toggle()
                        if depth > 0 { value.unicodeScalars.append(scalar) }
                    case "(" where !isQuoted: depth += 1
                    case ")" where !isQuoted: depth -= 1
                    case "," where !isQuoted && depth == 0: break loop
                    default:
                        guard (0x20...0x7E).contains(scalar.value) else { throw Malformed(text: text) }
                        value.unicodeScalars.append(scalar)
                    }
                    rest = rest.dropFirst()
                }
                guard !isQuoted, depth == 0, !value.isEmpty else { throw Malformed(text: text) }
            }
            guard keys.last.map({ $0 < key }) ?? true else { throw Malformed(text: "not in order: \(text)") }
            keys.append(key)
            values[key] = value
            guard let comma = rest.first else { return }
            guard comma == "," else { throw Malformed(text: text) }
            rest = rest.dropFirst()
        }
    }

    init(_ request: SimulatedRequest) throws {
        let fields = request.fields.filter { $0.name.hasPrefix("CMCD-") }
        if fields.isEmpty {
            let query = request.sentURLString.split(separator: "?").dropFirst().joined()
            let value = query.split(separator: "&").first { $0.hasPrefix("CMCD=") }?.dropFirst(5) ?? ""
            try self.init(Self.decoded(value))
            return
        }
        try self.init("")
        for field in fields {
            let part = try ClientDataLine(field.value)
            keys += part.keys
            values.merge(part.values) { first, _ in first }
        }
        keys.sort()
    }

    subscript(key: String) -> String? { values[key] }

    /// Returns the number of a key, or the first one in its list.
    func number(_ key: String) -> Double? {
        values[key].flatMap { Double($0.prefix { $0 != ";" && $0 != " " }) }
    }

    private static func decoded(_ text: some StringProtocol) -> String {
        var bytes: [UInt8] = []
        var rest = Array(text.utf8)[...]
        while let byte = rest.popFirst() {
            if byte == UInt8(ascii: "%"), let value = UInt8(String(decoding: rest.prefix(2), as: UTF8.self), radix: 16)
            {
                bytes.append(value)
                rest = rest.dropFirst(2)
            } else {
                bytes.append(byte)
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
