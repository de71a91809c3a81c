/// A number followed by `k`, `M` or `G`.
enum SuffixedNumber {
    /// - Parameter step: The value of `k`; `M` and `G` are its powers.
    /// - Returns: The number, or `nil` if the text is invalid.
    static func parse(_ text: String, step: Double) -> Double? {
        var digits = text[...]
        var factor = 1.0
        switch digits.last {
        case "k", "K": factor = step
        case "m", "M": factor = step * step
        case "g", "G": factor = step * step * step
        default: break
        }
        if factor > 1 { digits = digits.dropLast() }
        guard digits.first?.isNumber == true, digits.allSatisfy({ $0.isASCII && ($0.isNumber || $0 == ".") }) else {
            return nil
        }
        return Double(digits).map { $0 * factor }
    }
}
