/// Numbers within the limits of their option.
package enum NumberArgument {
    /// Parses a playback rate with an absolute value over 0 and up to 64.
    package static func rate(_ text: String) throws(ArgumentValueError) -> Float {
        let digits = text.hasPrefix("-") ? text.dropFirst() : text[...]
        guard digits.allSatisfy({ $0.isASCII && ($0.isNumber || $0 == ".") }), let rate = Float(text), rate != 0,
            abs(rate) <= 64
        else { throw ArgumentValueError("expected a rate from -64 to 64, other than 0") }
        return rate
    }

    static func retries(_ text: String) throws(ArgumentValueError) -> Int { try integer(text, in: 0...1000) }

    package static func threads(_ text: String) throws(ArgumentValueError) -> Int { try integer(text, in: 1...64) }

    static func connections(_ text: String) throws(ArgumentValueError) -> Int { try integer(text, in: 1...1000) }

    package static func port(_ text: String) throws(ArgumentValueError) -> Int { try integer(text, in: 0...65_535) }

    package static func percent(_ text: String) throws(ArgumentValueError) -> Int { try integer(text, in: 0...100) }

    package static func passes(_ text: String) throws(ArgumentValueError) -> Int {
        try integer(text, in: 1...1_000_000)
    }

    package static func positiveDuration(_ text: String) throws(ArgumentValueError) -> Duration {
        let duration = try DurationArgument.parse(text)
        guard duration > .zero else { throw ArgumentValueError("expected a time above 0") }
        return duration
    }

    private static func integer(_ text: String, in range: ClosedRange<Int>) throws(ArgumentValueError) -> Int {
        guard text.allSatisfy({ $0.isASCII && $0.isNumber }), let value = Int(text), range.contains(value) else {
            throw ArgumentValueError("expected a whole number from \(range.lowerBound) to \(range.upperBound)")
        }
        return value
    }
}

package enum ChoiceArgument {
    package static func parse<Choice>(_ text: String) throws(ArgumentValueError) -> Choice
    where Choice: RawRepresentable<String> & CaseIterable {
        guard let choice = Choice(rawValue: text) else {
            throw ArgumentValueError("expected one of: \(Choice.allCases.map(\.rawValue).joined(separator: ", "))")
        }
        return choice
    }
}
