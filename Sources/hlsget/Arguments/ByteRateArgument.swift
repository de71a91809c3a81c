/// Bytes a second as people type them to curl: `200000`, `200k`, `1.5M`, `1G`, in steps of 1024.
enum ByteRateArgument {
    /// The largest rate that is accepted: 1 TiB/s.
    static let maximum = Double(1 << 40)

    /// Bytes a second, `1...`.
    static func parse(_ text: String) throws(ArgumentValueError) -> Int {
        var digits = text[...]
        var factor = 1.0
        switch digits.last {
        case "k", "K": factor = 1024
        case "m", "M": factor = 1_048_576
        case "g", "G": factor = 1_073_741_824
        default: break
        }
        if factor > 1 { digits = digits.dropLast() }
        guard digits.first?.isNumber == true, digits.allSatisfy({ $0.isASCII && ($0.isNumber || $0 == ".") }),
            let value = Double(digits), value * factor >= 1, value * factor <= maximum
        else { throw ArgumentValueError("not a rate; write bytes a second, as in 200000, 200k or 1.5M") }
        return Int(value * factor)
    }
}
