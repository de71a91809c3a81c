/// The characters of CEA-608 and their codes.
///
/// Source: ANSI/CTA-608-E, tables 50 (standard), 49 (special) and 5 to 10 (extended characters).
enum CEA608Characters {
    /// The code of one character: a byte, or two bytes of channel 1.
    enum Code: Hashable {
        case standard(UInt8)
        case special(UInt8)
        /// Replaces the character before it, which older decoders show: `substitute`.
        case extended(UInt8, UInt8, substitute: UInt8)
    }

    /// The codes that differ from ASCII. 0x7F is a solid block.
    private static let replaced: [UInt8: Unicode.Scalar] = [
        0x2a: "\u{e1}", 0x5c: "\u{e9}", 0x5e: "\u{ed}", 0x5f: "\u{f3}", 0x60: "\u{fa}", 0x7b: "\u{e7}",
        0x7c: "\u{f7}", 0x7d: "\u{d1}", 0x7e: "\u{f1}", 0x7f: "\u{2588}",
    ]

    static func standard(_ byte: UInt8) -> Unicode.Scalar? {
        guard (0x20...0x7f).contains(byte) else { return nil }
        return replaced[byte] ?? Unicode.Scalar(byte)
    }

    /// 0x11 0x30 to 0x3F. The tenth is a transparent space.
    private static let special: [Unicode.Scalar] = [
        "\u{ae}", "\u{b0}", "\u{bd}", "\u{bf}", "\u{2122}", "\u{a2}", "\u{a3}", "\u{266a}",
        "\u{e0}", "\u{a0}", "\u{e8}", "\u{e2}", "\u{ea}", "\u{ee}", "\u{f4}", "\u{fb}",
    ]

    static func special(_ byte: UInt8) -> Unicode.Scalar? {
        (0x30...0x3f).contains(byte) ? special[Int(byte) - 0x30] : nil
    }

    /// 0x12 and 0x13, 0x20 to 0x3F, each with the substitute that older receivers show.
    private static let extended: [[(scalar: Unicode.Scalar, substitute: Unicode.Scalar)]] = [
        [
            ("\u{c1}", "A"), ("\u{c9}", "E"), ("\u{d3}", "O"), ("\u{da}", "U"), ("\u{dc}", "U"), ("\u{fc}", "u"),
            ("\u{2018}", "'"), ("\u{a1}", "!"), ("*", "x"), ("\u{2019}", "'"), ("\u{2014}", "-"), ("\u{a9}", "c"),
            ("\u{2120}", "s"), ("\u{2022}", "."), ("\u{201c}", "\""), ("\u{201d}", "\""), ("\u{c0}", "A"),
            ("\u{c2}", "A"), ("\u{c7}", "C"), ("\u{c8}", "E"), ("\u{ca}", "E"), ("\u{cb}", "E"), ("\u{eb}", "e"),
            ("\u{ce}", "I"), ("\u{cf}", "I"), ("\u{ef}", "i"), ("\u{d4}", "O"), ("\u{d9}", "U"), ("\u{f9}", "u"),
            ("\u{db}", "U"), ("\u{ab}", "\""), ("\u{bb}", "\""),
        ],
        [
            ("\u{c3}", "A"), ("\u{e3}", "a"), ("\u{cd}", "I"), ("\u{cc}", "I"), ("\u{ec}", "i"), ("\u{d2}", "O"),
            ("\u{f2}", "o"), ("\u{d5}", "O"), ("\u{f5}", "o"), ("{", "("), ("}", ")"), ("\\", "/"), ("^", "-"),
            ("_", "-"), ("|", "!"), ("~", "-"), ("\u{c4}", "A"), ("\u{e4}", "a"), ("\u{d6}", "O"), ("\u{f6}", "o"),
            ("\u{df}", "s"), ("\u{a5}", "Y"), ("\u{a4}", "o"), ("\u{a6}", "!"), ("\u{c5}", "A"), ("\u{e5}", "a"),
            ("\u{d8}", "O"), ("\u{f8}", "o"), ("\u{250c}", "+"), ("\u{2510}", "+"), ("\u{2514}", "+"),
            ("\u{2518}", "+"),
        ],
    ]

    static func extended(_ first: UInt8, _ second: UInt8) -> Unicode.Scalar? {
        guard first == 0x12 || first == 0x13, (0x20...0x3f).contains(second) else { return nil }
        return extended[Int(first) - 0x12][Int(second) - 0x20].scalar
    }

    private static let codes: [Unicode.Scalar: Code] = {
        var codes: [Unicode.Scalar: Code] = [:]
        for (table, list) in extended.enumerated() {
            for (index, entry) in list.enumerated() {
                codes[entry.scalar] = .extended(
                    UInt8(0x12 + table), UInt8(0x20 + index), substitute: UInt8(ascii: entry.substitute))
            }
        }
        for (index, scalar) in special.enumerated() { codes[scalar] = .special(UInt8(0x30 + index)) }
        for byte in UInt8(0x20)...0x7f {
            if let scalar = standard(byte) { codes[scalar] = .standard(byte) }
        }
        return codes
    }()

    static func code(of scalar: Unicode.Scalar) -> Code? { codes[scalar] }

    static func replacement(for scalar: Unicode.Scalar) -> String? {
        if let text = replacements[scalar] { return text }
        if scalar.properties.isWhitespace { return " " }
        if scalar.properties.isDefaultIgnorableCodePoint || scalar.properties.generalCategory == .nonspacingMark {
            return ""
        }
        return nil
    }

    private static let replacements: [Unicode.Scalar: String] = [
        "\u{2026}": "...", "\u{2013}": "-", "\u{2015}": "\u{2014}", "\u{2010}": "-", "\u{2011}": "-", "\u{2212}": "-",
        "\u{201a}": "'", "\u{201e}": "\"", "\u{2039}": "'", "\u{203a}": "'", "\u{266b}": "\u{266a}",
        "\u{266c}": "\u{266a}", "\u{266d}": "b", "\u{266f}": "#", "`": "'", "\u{b4}": "'", "\u{bc}": "1/4",
        "\u{be}": "3/4", "\u{d7}": "x", "\u{152}": "OE", "\u{153}": "oe", "\u{c6}": "AE", "\u{e6}": "ae",
        "\u{178}": "Y", "\u{ff}": "y", "\u{160}": "S", "\u{161}": "s", "\u{17d}": "Z", "\u{17e}": "z",
        "\u{20ac}": "EUR", "\u{141}": "L", "\u{142}": "l", "\u{105}": "a", "\u{119}": "e", "\u{107}": "c",
        "\u{144}": "n", "\u{15b}": "s", "\u{17a}": "z", "\u{17c}": "z", "\u{10d}": "c", "\u{159}": "r",
        "\u{11b}": "e", "\u{16f}": "u", "\u{fd}": "y", "\u{dd}": "Y", "\u{f0}": "d", "\u{fe}": "th", "\u{2122}": "TM",
        "\u{ba}": "\u{b0}", "\u{aa}": "a", "\u{2192}": "->", "\u{2190}": "<-", "\u{25a0}": "\u{2588}",
        "\u{2502}": "|", "\u{b7}": ".", "\u{3000}": " ",
    ]
}

/// The colours of CEA-608 in the order of their codes.
enum CEA608Color {
    static let foreground: [CaptionColor] = [
        .white, CaptionColor(rgb: 0x00ff00), .blue, .cyan, .red, .yellow, .magenta,
    ]
    static let background: [CaptionColor] =
        foreground + [.black, CaptionColor(red: 0, green: 0, blue: 0, alpha: 0)]
    static let transparentBackground: UInt8 = 8
}
