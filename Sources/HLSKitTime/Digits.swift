extension BinaryInteger {
    /// Returns the digits with leading zeros, at least `count` of them.
    @inlinable
    package func digits(_ count: Int, radix: Int = 10, uppercase: Bool = false) -> String {
        let text = String(magnitude, radix: radix, uppercase: uppercase)
        return (self < 0 ? "-" : "") + String(repeating: "0", count: Swift.max(0, count - text.utf8.count)) + text
    }

    /// Returns the digits after a decimal point, if the number is a fraction of `count` digits. Zeros at the end are
    /// omitted, except for the first `minimum` digits.
    @inlinable
    package func decimals(_ count: Int, atLeast minimum: Int = 0) -> String {
        var text = digits(count)
        while text.utf8.count > minimum, text.utf8.last == 0x30 { text.removeLast() }
        return text
    }

    @inlinable
    package func hexadecimal(_ count: Int, uppercase: Bool = false) -> String {
        digits(count, radix: 16, uppercase: uppercase)
    }
}

extension [UInt8] {
    /// Two lower-case digits for each byte.
    package var hexadecimalText: String {
        let digits = Array("0123456789abcdef".utf8)
        return String(decoding: flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
    }
}

extension UInt8 {
    package var hexadecimalValue: UInt8? {
        switch self {
        case 0x30...0x39: self - 0x30
        case 0x41...0x46: self - 0x37
        case 0x61...0x66: self - 0x57
        default: nil
        }
    }
}
