/// Byte rates as users type them for curl: `200000`, `200k`, `1.5M`, `1G`, in steps of 1024.
enum ByteRateArgument {
    static let maximum = Double(1 << 40)

    /// Parses a rate in bytes per second, at least 1.
    static func parse(_ text: String) throws(ArgumentValueError) -> Int {
        guard let value = SuffixedNumber.parse(text, step: 1024), value >= 1, value <= maximum else {
            throw ArgumentValueError("not a rate; write bytes per second, as in 200000, 200k or 1.5M")
        }
        return Int(value)
    }
}
