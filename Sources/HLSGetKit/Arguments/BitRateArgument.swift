/// Bit rates as users type them: `800000`, `800k`, `2.5M`, `1G`, in steps of 1000.
package enum BitRateArgument {
    /// The highest accepted rate, in bits per second: 1 Tbit/s.
    static let maximum = 1e12

    /// Parses a rate in bits per second.
    package static func parse(_ text: String) throws(ArgumentValueError) -> Double {
        guard let value = parseOptional(text) else {
            throw ArgumentValueError("not a bit rate; write bits per second, as in 800000, 800k or 2.5M")
        }
        return value
    }

    static func parseOptional(_ text: String) -> Double? {
        SuffixedNumber.parse(text, step: 1000).flatMap { $0 <= maximum ? $0 : nil }
    }
}
