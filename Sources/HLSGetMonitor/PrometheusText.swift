import HLSGetKit

/// Builds a response to `GET /metrics` in the Prometheus text format, version 0.0.4.
///
/// Families appear in the order of their first sample, each with its samples together, as the format requires.
struct PrometheusText: Sendable {
    enum Kind: String, Sendable { case counter, gauge }

    typealias Label = (name: String, value: String)

    private struct Family: Sendable {
        var kind: Kind
        var help: String
        var samples = ""
    }

    static let contentType = "text/plain; version=0.0.4; charset=utf-8"

    private var names: [String] = []
    private var families: [String: Family] = [:]

    /// Adds a sample, unless its value is not finite.
    ///
    /// - Parameters:
    ///   - name: The name with its unit, such as `_seconds` or `_bytes`; a counter ends in `_total`.
    ///   - value: The value in base units.
    mutating func add(
        _ name: String, _ kind: Kind, _ help: @autoclosure () -> String, _ labels: [Label] = [], _ value: Double
    ) {
        guard value.isFinite else { return }
        if families[name] == nil {
            names.append(name)
            families[name] = Family(kind: kind, help: help())
        }
        let text = labels.map { "\($0.name)=\"\(Self.escaped($0.value))\"" }.joined(separator: ",")
        families[name]?.samples += "\(name)\(text.isEmpty ? "" : "{\(text)}") \(Self.number(value))\n"
    }

    mutating func add(
        _ name: String, _ kind: Kind, _ help: @autoclosure () -> String, _ labels: [Label] = [], _ value: Double?
    ) {
        if let value { add(name, kind, help(), labels, value) }
    }

    mutating func add(
        _ name: String, _ kind: Kind, _ help: @autoclosure () -> String, _ labels: [Label] = [], _ value: Duration?
    ) {
        if let value { add(name, kind, help(), labels, value.inSeconds) }
    }

    mutating func add(
        _ name: String, _ kind: Kind, _ help: @autoclosure () -> String, _ labels: [Label] = [], _ value: Int
    ) {
        add(name, kind, help(), labels, Double(value))
    }

    var text: String {
        names.map { name in
            guard let family = families[name] else { return "" }
            let help = family.help.replacing("\\", with: "\\\\").replacing("\n", with: "\\n")
            return "# HELP \(name) \(help)\n# TYPE \(name) \(family.kind.rawValue)\n\(family.samples)"
        }.joined()
    }

    /// Formats whole numbers without a decimal point, because most values are counts.
    private static func number(_ value: Double) -> String {
        if value == value.rounded(), abs(value) < 1e15 { return String(Int(value)) }
        return String(value)
    }

    /// Escapes backslash, quotation mark and line feed, as the format requires, and drops other control characters.
    static func escaped(_ value: String) -> String {
        var text = ""
        for scalar in value.unicodeScalars {
            switch scalar {
            case "\\": text += "\\\\"
            case "\"": text += "\\\""
            case "\n": text += "\\n"
            default:
                if scalar.value < 0x20 || scalar.value == 0x7F {
                    text += "?"
                } else {
                    text.unicodeScalars.append(scalar)
                }
            }
        }
        return text
    }
}
