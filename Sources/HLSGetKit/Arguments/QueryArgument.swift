/// A parameter as `--query` takes it: `name=value`, neither of them encoded.
enum QueryArgument {
    static func encoded(_ text: String) throws(ArgumentValueError) -> String {
        guard let equals = text.firstIndex(of: "="), equals > text.startIndex else {
            throw ArgumentValueError("write a parameter as name=value")
        }
        return "\(percentEncoded(text[..<equals]))=\(percentEncoded(text[text.index(after: equals)...]))"
    }

    /// Encodes all except the unreserved characters of RFC 3986 §2.3.
    private static func percentEncoded(_ text: Substring) -> String {
        var result = ""
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
                UInt8(ascii: "~"):
                result.unicodeScalars.append(Unicode.Scalar(byte))
            default:
                let digits = String(byte, radix: 16, uppercase: true)
                result += "%" + (digits.count == 1 ? "0" : "") + digits
            }
        }
        return result
    }
}
