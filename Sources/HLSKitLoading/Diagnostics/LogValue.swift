package import HLSKitPlaylist
import HLSKitTime

package enum LogValue: Sendable {
    /// nil stands for an unknown value.
    case string(String?)
    /// A negative number stands for an unknown value.
    case integer(Int64)
    case number(Double, decimals: Int)
    /// The day of a date. `time` is its time of day.
    case date(PlaylistDate?)
    case time(PlaylistDate?)
    case bool(Bool)
    case json(JSONValue)

    package init(_ number: Double?) { self = number.map { .number($0, decimals: 6) } ?? .string(nil) }

    /// Returns a number with at most this many decimals, which is the same on every machine.
    static func text(_ number: Double, decimals: Int) -> String {
        guard number.isFinite, abs(number) < 1e15 else { return number.isFinite ? "\(number)" : "-1" }
        var scale = 1.0
        for _ in 0..<decimals { scale *= 10 }
        guard abs(number) * scale < 9e18 else { return "\(number)" }
        let scaled = Int64((number * scale).rounded())
        let sign = scaled < 0 ? "-" : ""
        let whole = scaled.magnitude / UInt64(scale)
        let rest = scaled.magnitude % UInt64(scale)
        return rest == 0 ? "\(sign)\(whole)" : "\(sign)\(whole).\(rest.decimals(decimals))"
    }
}

extension PlaylistDate {
    /// The date with nanosecond precision. Computed dates have more digits, which are meaningless.
    fileprivate var roundedForLogs: PlaylistDate {
        PlaylistDate(seconds: seconds, attoseconds: attoseconds / 1_000_000_000 * 1_000_000_000)
    }
}

struct ExtendedLogText {
    var columns: [String]
    var rows: [[LogValue]] = []

    var text: String { header + rows.map(Self.line).joined() }
    var header: String { "#Version: 1.0\n#Software: HLSKit\n#Fields: " + columns.joined(separator: " ") + "\n" }

    static func line(_ row: [LogValue]) -> String { row.map(text).joined(separator: " ") + "\n" }

    private static func text(_ value: LogValue) -> String {
        switch value {
        case .string(nil), .date(nil), .time(nil): return "-"
        case .string(let string?): return escaped(string)
        case .integer(let number): return number < 0 ? "-" : String(number)
        case .number(let number, let decimals): return number < 0 ? "-" : LogValue.text(number, decimals: decimals)
        case .date(let date?): return String(date.roundedForLogs.description.prefix { $0 != "T" })
        case .time(let date?):
            return String(
                date.roundedForLogs.description.drop { $0 != "T" }.dropFirst().prefix {
                    $0.isNumber || ":.".contains($0)
                })
        case .bool(let value): return value ? "1" : "0"
        case .json(let value): return escaped(value.text(.log))
        }
    }

    /// Returns a field without characters that would begin another field or control a terminal.
    private static func escaped(_ string: String) -> String {
        guard !string.isEmpty, string != "-" else { return "-" }
        return PercentCoding.encoded(string) { $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: "\"") }
    }
}

package struct JSONLine {
    private var members: [JSONValue.Member]

    init(event: String) { members = [.init(name: "v", value: 1), .init(name: "event", value: .string(event))] }

    mutating func add(_ name: String, _ value: LogValue) { members.append(.init(name: name, value: value.json)) }

    var text: String { JSONValue.object(members).text(.log) }

    package static func object(_ members: [(String, LogValue)]) -> LogValue {
        .json(.object(members.map { .init(name: $0.0, value: $0.1.json) }))
    }
    package static func array(_ elements: [LogValue]) -> LogValue { .json(.array(elements.map(\.json))) }
}

extension LogValue {
    fileprivate var json: JSONValue {
        switch self {
        case .string(let string): JSONValue(string)
        case .integer(let number): .integer(Int(number))
        case .number(let number, let decimals):
            number.isFinite ? .literal(Self.text(number, decimals: decimals)) : .null
        case .date(let date), .time(let date): JSONValue(date?.roundedForLogs.description)
        case .bool(let value): .bool(value)
        case .json(let value): value
        }
    }
}
