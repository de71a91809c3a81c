import HLSKitCore

/// A parameter as `--query` takes it: `name=value`, neither of them encoded.
enum QueryArgument {
    static func encoded(_ text: String) throws(ArgumentValueError) -> String {
        guard let equals = text.firstIndex(of: "="), equals > text.startIndex else {
            throw ArgumentValueError("write a parameter as name=value")
        }
        return "\(PercentCoding.encoded(text[..<equals]))=\(PercentCoding.encoded(text[text.index(after: equals)...]))"
    }
}
