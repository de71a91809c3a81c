/// Durations as users type them: `90`, `1.5`, `1:30`, `1:02:03.5`, `1m30s`, `2h`, `250ms`.
package enum DurationArgument {
    /// The longest accepted duration: 10 000 hours, so that sums cannot overflow.
    static let maximum = Duration.seconds(36_000_000)

    package static func parse(_ text: String) throws(ArgumentValueError) -> Duration {
        guard let value = parseOptional(text) else {
            throw ArgumentValueError("not a time; write seconds (90), 1:30, 1:02:03.5 or 1m30s")
        }
        return value
    }

    package static func parseOptional(_ text: String) -> Duration? {
        let value = text.contains(":") ? clock(text) : units(text)
        guard let value, value <= maximum else { return nil }
        return value
    }

    /// Parses `m:ss` and `h:mm:ss`, with optional decimals.
    private static func clock(_ text: String) -> Duration? {
        let fields = text.split(separator: ":", omittingEmptySubsequences: false)
        guard fields.count <= 3, let last = fields.last else { return nil }
        var total = Duration.zero
        for field in fields.dropLast() {
            guard let number = Decimal(field), number.isInteger, field == fields.first || number.whole < 60 else {
                return nil
            }
            total = (total + number.seconds) * 60
        }
        guard let seconds = Decimal(last), seconds.whole < 60 else { return nil }
        return total + seconds.seconds
    }

    /// Parses a bare number as seconds, or numbers with units. Each unit occurs at most once, larger units first.
    private static func units(_ text: String) -> Duration? {
        if let seconds = Decimal(text[...]) { return seconds.seconds }
        var rest = text[...]
        var total = Duration.zero
        var units: [(name: String, factor: Int, divisor: Int)] = [
            ("h", 3600, 1), ("m", 60, 1), ("s", 1, 1), ("ms", 1, 1000),
        ]
        while !rest.isEmpty {
            let digits = rest.prefix { $0.isASCII && ($0.isNumber || $0 == ".") }
            rest = rest[digits.endIndex...]
            let name = rest.prefix { $0.isLetter }
            rest = rest[name.endIndex...]
            guard let number = Decimal(digits), let unit = units.firstIndex(where: { $0.name == name }) else {
                return nil
            }
            total += number.seconds * units[unit].factor / units[unit].divisor
            units.removeSubrange(...unit)
        }
        return text.isEmpty ? nil : total
    }

    /// An unsigned decimal number of seconds, exact to the nanosecond.
    private struct Decimal {
        var whole: Int
        var nanoseconds: Int

        var isInteger: Bool { nanoseconds == 0 }
        var seconds: Duration { .seconds(whole) + .nanoseconds(nanoseconds) }

        init?(_ text: Substring) {
            let parts = text.split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
            let fraction = parts.count == 2 ? parts[1].prefix(9) : "0"
            guard
                parts.allSatisfy({ part in !part.isEmpty && part.allSatisfy { $0.isASCII && $0.isNumber } }),
                let first = parts.first, first.count <= 9, let whole = Int(first),
                let digits = Int(fraction + String(repeating: "0", count: 9 - fraction.count))
            else { return nil }
            self.whole = whole
            nanoseconds = digits
        }
    }
}
