import HLSKitTime

/// A user's expression that selects date ranges: `CLASS=com.example.ad`, `ID~^ad- && DURATION!=0 || SCTE35-OUT~.`.
///
/// ```
/// expression  = alternative *("||" alternative)     one of them has to match
/// alternative = condition *("&&" condition)         all of them have to match
/// condition   = name operator value | class
/// operator    = "=" | "!=" | "~"                    the value, another one or none, a regular expression
/// ```
///
/// The name is an attribute of `EXT-X-DATERANGE`. A value ends at white space, `&&` or `||`, unless it is in `"` or
/// `'`. A class alone is short for `CLASS=class`. An absent attribute matches only `!=`. Unlike a `QualityExpression`,
/// this one has no commas between alternatives because values and regular expressions can contain commas. The same
/// expressions select breaks that markers announce (`EXT-X-CUE-OUT`). The class of such a break is the name of its tag.
package struct DateRangeExpression: Sendable, Hashable, CustomStringConvertible {
    private enum Test: Sendable, Hashable {
        case equal(String), unequal(String), matching(TextPattern)
    }

    private struct Condition: Sendable, Hashable {
        var name: String
        var test: Test
    }

    package let text: String
    private let alternatives: [[Condition]]

    package var description: String { text }

    package init(parsing text: String) throws(ExpressionError) {
        var reader = ExpressionReader(text)
        var alternatives: [[Condition]] = [[]]
        while true {
            alternatives[alternatives.count - 1].append(try Self.condition(&reader))
            if reader.skip("||") {
                alternatives.append([])
            } else if !reader.skip("&&") {
                break
            }
        }
        guard reader.isAtEnd else {
            throw ExpressionError("write && or || before \"\(reader.rest)\", or put a value with blanks in quotes")
        }
        self.text = text
        self.alternatives = alternatives
    }

    package func matches(_ range: DateRange) -> Bool { matches(range.text(of:)) }

    /// Whether the expression selects the break that a marker begins or continues. The class of the break is
    /// `EXT-X-CUE-OUT`, or `EXT-X-SCTE35` if that is the tag. `DURATION`, `ID`, `SCTE35-OUT` and all other attributes
    /// have the values of the marker.
    package func matches(_ marker: SpliceMarker) -> Bool { matches(marker.text(of:)) }

    private func matches(_ text: (String) -> String?) -> Bool {
        alternatives.contains { conditions in
            conditions.allSatisfy { condition in
                let value = text(condition.name)
                return switch condition.test {
                case .equal(let wanted): value == wanted
                case .unequal(let wanted): value != wanted
                case .matching(let pattern): value.map { pattern.matches($0) } ?? false
                }
            }
        }
    }

    private static func condition(_ reader: inout ExpressionReader) throws(ExpressionError) -> Condition {
        let name = reader.name()
        guard !name.isEmpty else { throw ExpressionError("an attribute is missing before \"\(reader.rest)\"") }
        if reader.skip("!=") {
            return Condition(name: name, test: .unequal(try normalized(try reader.value(), name)))
        }
        if reader.skip("=") { return Condition(name: name, test: .equal(try normalized(try reader.value(), name))) }
        if reader.skip("~") { return Condition(name: name, test: .matching(try TextPattern(try reader.value()))) }
        let isAttribute =
            !name.hasPrefix("EXT-")
            && name.utf8.allSatisfy { byte in
                (0x41...0x5A).contains(byte) || (0x30...0x39).contains(byte) || byte == UInt8(ascii: "-")
            }
        if isAttribute { throw ExpressionError("\(name) needs =, != or ~ and a value; \(name)~. means any") }
        return Condition(name: "CLASS", test: .equal(name))
    }

    private static func normalized(_ value: String, _ name: String) throws(ExpressionError) -> String {
        switch name {
        case "DURATION", "PLANNED-DURATION":
            let bytes = Array(value.utf8)
            guard let duration = bytes.span.duration(in: 0..<bytes.count, signed: false) else {
                throw ExpressionError("\"\(value)\" is not a number of seconds")
            }
            return duration.decimalText()
        case "START-DATE", "END-DATE":
            guard let date = PlaylistDate(value) else {
                throw ExpressionError("\"\(value)\" is not a date; write 2026-01-31T22:30:00Z")
            }
            return date.description
        default: return value
        }
    }
}

private struct ExpressionReader {
    private var text: Substring

    init(_ text: String) { self.text = text[...] }

    var rest: String { String(text.prefix(40)) }

    var isAtEnd: Bool { text.allSatisfy(\.isWhitespace) }

    private mutating func skipBlanks() { text = text.drop(while: \.isWhitespace) }

    mutating func skip(_ word: String) -> Bool {
        skipBlanks()
        guard text.hasPrefix(word) else { return false }
        text.removeFirst(word.count)
        return true
    }

    mutating func name() -> String {
        skipBlanks()
        let name = text.prefix { !$0.isWhitespace && !"=!~&|\"'".contains($0) }
        text = text.dropFirst(name.count)
        return String(name)
    }

    mutating func value() throws(ExpressionError) -> String {
        skipBlanks()
        if let quote = text.first, quote == "\"" || quote == "'" {
            text.removeFirst()
            guard let end = text.firstIndex(of: quote) else { throw ExpressionError("\(quote) is not closed") }
            defer { text = text[text.index(after: end)...] }
            return String(text[..<end])
        }
        var value = ""
        while let character = text.first, !character.isWhitespace, !text.hasPrefix("&&"), !text.hasPrefix("||") {
            value.append(character)
            text.removeFirst()
        }
        guard !value.isEmpty else { throw ExpressionError("a value is missing; write \"\" for an empty one") }
        return value
    }
}

extension SpliceMarker {
    fileprivate func text(of name: String) -> String? {
        switch name {
        case "ID": id
        // A break that was joined in the middle has the class of its opening tag.
        case "CLASS": kind == .continued && tag.hasSuffix("-CONT") ? String(tag.dropLast(5)) : tag
        case "DURATION": duration?.decimalText()
        case "SCTE35-OUT": scte35
        default: self[attribute: name]
        }
    }
}

extension DateRange {
    fileprivate func text(of name: String) -> String? {
        switch name {
        case "ID": id
        case "CLASS": self.class
        case "START-DATE": startDate?.description
        case "END-DATE": endDate?.description
        case "DURATION": duration?.decimalText()
        case "PLANNED-DURATION": plannedDuration?.decimalText()
        case "CUE": cue.isEmpty ? nil : cue.map(\.rawValue).joined(separator: ",")
        case "END-ON-NEXT": endsOnNext ? "YES" : nil
        case "SCTE35-CMD": scte35Command
        case "SCTE35-OUT": scte35Out
        case "SCTE35-IN": scte35In
        default: self[attribute: name]
        }
    }
}
