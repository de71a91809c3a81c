/// The encoding of Western European text that is not Unicode.
package enum Windows1252 {
    package static func scalar(_ byte: UInt8) -> Unicode.Scalar {
        (0x80...0x9f).contains(byte) ? high[Int(byte) - 0x80] : Unicode.Scalar(byte)
    }

    /// 0x80 to 0x9f. The five undefined bytes are U+FFFD.
    private static let high: [Unicode.Scalar] = [
        "\u{20ac}", "\u{fffd}", "\u{201a}", "\u{0192}", "\u{201e}", "\u{2026}", "\u{2020}", "\u{2021}",
        "\u{02c6}", "\u{2030}", "\u{0160}", "\u{2039}", "\u{0152}", "\u{fffd}", "\u{017d}", "\u{fffd}",
        "\u{fffd}", "\u{2018}", "\u{2019}", "\u{201c}", "\u{201d}", "\u{2022}", "\u{2013}", "\u{2014}",
        "\u{02dc}", "\u{2122}", "\u{0161}", "\u{203a}", "\u{0153}", "\u{fffd}", "\u{017e}", "\u{0178}",
    ]
}
