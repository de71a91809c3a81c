package import HLSKitCore

package struct JSONObject {
    package private(set) var members: [JSONValue.Member] = []

    package init() {}
    package var value: JSONValue { .object(members) }

    package mutating func add(_ name: String, _ value: JSONValue?) {
        if let value { members.append(.init(name: name, value: value)) }
    }
    package mutating func add(_ name: String, _ value: String?) {
        if let value, !value.isEmpty { add(name, JSONValue.string(value)) }
    }
    package mutating func add(_ name: String, _ value: Int?) { add(name, value.map(JSONValue.integer)) }
    package mutating func add(_ name: String, _ value: Bool) { if value { add(name, JSONValue.bool(true)) } }
    package mutating func add(_ name: String, _ value: Duration?) {
        guard let value else { return }
        let (seconds, attoseconds) = value.components
        add(name, attoseconds == 0 ? .integer(Int(seconds)) : .number(Double(seconds) + Double(attoseconds) / 1e18))
    }
    package mutating func add(_ name: String, _ values: [JSONValue]) {
        if !values.isEmpty { add(name, JSONValue.array(values)) }
    }
    /// With milliseconds, because readers of the format expect three decimals.
    package mutating func add(_ name: String, _ date: PlaylistDate?) {
        guard let date else { return }
        let milliseconds = PlaylistDate(
            seconds: date.seconds,
            attoseconds: (date.attoseconds + 500_000_000_000_000) / 1_000_000_000_000_000
                * 1_000_000_000_000_000)
        add(name, JSONValue.string(milliseconds.description))
    }
}
