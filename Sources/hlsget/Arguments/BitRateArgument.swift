/// Bit rates as people type them: `800000`, `800k`, `2.5M`, `1G`, in steps of 1000.
enum BitRateArgument {
    /// The largest rate that is accepted, in bits per second: 1 Tbit/s.
    static let maximum = 1e12

    /// Bits per second.
    static func parse(_ text: String) throws(ArgumentValueError) -> Double {
        guard let value = parseOptional(text) else {
            throw ArgumentValueError("not a bit rate; write bits per second, as in 800000, 800k or 2.5M")
        }
        return value
    }

    static func parseOptional(_ text: String) -> Double? {
        var digits = text[...]
        var factor = 1.0
        switch digits.last {
        case "k", "K": factor = 1e3
        case "m", "M": factor = 1e6
        case "g", "G": factor = 1e9
        default: break
        }
        if factor > 1 { digits = digits.dropLast() }
        guard digits.first?.isNumber == true, digits.allSatisfy({ $0.isASCII && ($0.isNumber || $0 == ".") }),
            let value = Double(digits), value * factor <= maximum
        else { return nil }
        return value * factor
    }
}
