import HLSKitTime

/// The style of a piece of a caption's text.
///
/// Values that are nil, normal or empty mean the format's default.
///
/// Source: the style properties of AVFoundation's `AVCaption`.
public struct CaptionStyle: Sendable, Hashable {
    /// The weight of the letters.
    public enum FontWeight: Sendable, Hashable {
        case normal, bold
    }

    /// The slant of the letters.
    public enum FontStyle: Sendable, Hashable {
        case normal, italic
    }

    /// Lines drawn with the text.
    public struct Decoration: OptionSet, Sendable, Hashable {
        public let rawValue: UInt8
        public init(rawValue: UInt8) { self.rawValue = rawValue }

        /// A line below the text.
        public static let underline = Decoration(rawValue: 1)
        /// A line through the text.
        public static let lineThrough = Decoration(rawValue: 2)
        /// A line above the text.
        public static let overline = Decoration(rawValue: 4)
    }

    /// The colour of the letters.
    ///
    /// `nil` means the default of the format.
    public var textColor: CaptionColor?
    /// The background colour of the letters.
    ///
    /// `nil` means the default of the format.
    public var backgroundColor: CaptionColor?
    /// The weight of the letters.
    ///
    /// The default is normal.
    public var fontWeight: FontWeight
    /// The slant of the letters.
    ///
    /// The default is normal.
    public var fontStyle: FontStyle
    /// The lines drawn with the text.
    ///
    /// By default, there are none.
    public var decoration: Decoration
    /// The ruby text, a small annotation that shows the pronunciation.
    public var ruby: CaptionRuby?
    /// The speaker.
    public var voice: String?

    /// Creates a style.
    ///
    /// Properties with a default are plain.
    public init(
        textColor: CaptionColor? = nil, backgroundColor: CaptionColor? = nil, fontWeight: FontWeight = .normal,
        fontStyle: FontStyle = .normal, decoration: Decoration = [], ruby: CaptionRuby? = nil, voice: String? = nil
    ) {
        self.textColor = textColor
        self.backgroundColor = backgroundColor
        self.fontWeight = fontWeight
        self.fontStyle = fontStyle
        self.decoration = decoration
        self.ruby = ruby
        self.voice = voice
    }

    /// The style in which all values are defaults.
    public static let plain = CaptionStyle()
}

/// Small text next to a piece of text.
///
/// Source: AVFoundation's `AVCaptionRuby`.
public struct CaptionRuby: Sendable, Hashable {
    /// The position of ruby text.
    public enum Position: Sendable, Hashable {
        /// Above horizontal text.
        case before
        /// Below horizontal text.
        case after
    }

    /// The small text.
    public var text: String
    /// The position of the ruby text.
    ///
    /// By default, it is before the base text, which is above horizontal text.
    public var position: Position

    /// Creates ruby text.
    public init(text: String, position: Position = .before) {
        self.text = text
        self.position = position
    }
}

/// A colour in sRGB.
public struct CaptionColor: Sendable, Hashable {
    /// The red component, from 0 to 255.
    public var red: UInt8
    /// The green component, from 0 to 255.
    public var green: UInt8
    /// The blue component, from 0 to 255.
    public var blue: UInt8
    /// The opacity. 255 is opaque.
    public var alpha: UInt8

    /// Creates a colour in sRGB.
    ///
    /// The default is opaque.
    public init(red: UInt8, green: UInt8, blue: UInt8, alpha: UInt8 = 255) {
        self.red = red
        self.green = green
        self.blue = blue
        self.alpha = alpha
    }

    init(rgb: UInt32, alpha: UInt8 = 255) {
        self.init(
            red: UInt8(truncatingIfNeeded: rgb >> 16), green: UInt8(truncatingIfNeeded: rgb >> 8),
            blue: UInt8(truncatingIfNeeded: rgb), alpha: alpha)
    }

    /// `#ffffff`
    public static let white = CaptionColor(rgb: 0xff_ffff)
    /// `#000000`
    public static let black = CaptionColor(rgb: 0x00_0000)
    /// `#ff0000`
    public static let red = CaptionColor(rgb: 0xff_0000)
    /// `#00ff00`
    public static let lime = CaptionColor(rgb: 0x00_ff00)
    /// `#0000ff`
    public static let blue = CaptionColor(rgb: 0x00_00ff)
    /// `#ffff00`
    public static let yellow = CaptionColor(rgb: 0xff_ff00)
    /// `#ff00ff`
    public static let magenta = CaptionColor(rgb: 0xff_00ff)
    /// `#00ffff`
    public static let cyan = CaptionColor(rgb: 0x00_ffff)

    func nearest(of candidates: [CaptionColor]) -> CaptionColor? {
        func distance(_ other: CaptionColor) -> Int {
            func square(_ a: UInt8, _ b: UInt8) -> Int { (Int(a) - Int(b)) * (Int(a) - Int(b)) }
            return square(red, other.red) + square(green, other.green) + square(blue, other.blue)
        }
        return candidates.min { distance($0) < distance($1) }
    }

    /// The colour as `#rrggbb`, with two more digits if it is not opaque.
    var hexadecimal: String {
        "#" + ([red, green, blue] + (alpha == 255 ? [] : [alpha])).hexadecimalText
    }

    static let named: [String: CaptionColor] = [
        "white": .white, "black": .black, "red": .red, "lime": .lime, "blue": .blue, "yellow": .yellow,
        "magenta": .magenta, "fuchsia": .magenta, "cyan": .cyan, "aqua": .cyan, "green": CaptionColor(rgb: 0x00_8000),
        "gray": CaptionColor(rgb: 0x80_8080), "grey": CaptionColor(rgb: 0x80_8080),
        "silver": CaptionColor(rgb: 0xc0_c0c0), "maroon": CaptionColor(rgb: 0x80_0000),
        "purple": CaptionColor(rgb: 0x80_0080), "olive": CaptionColor(rgb: 0x80_8000),
        "navy": CaptionColor(rgb: 0x00_0080), "teal": CaptionColor(rgb: 0x00_8080),
        "orange": CaptionColor(rgb: 0xff_a500), "transparent": CaptionColor(rgb: 0, alpha: 0),
    ]

    /// Reads a name, `#rgb`, `#rrggbb`, `#rrggbbaa`, `rgb(…)` or `rgba(…)`.
    ///
    /// - Parameter fractionalAlpha: Whether the fourth number of `rgba` is 0 to 1 (CSS) instead of 0 to 255 (TTML).
    init?(parsing text: Substring, fractionalAlpha: Bool) {
        let text = text.filter { $0 != " " && $0 != "\t" && $0 != "\n" }.lowercased()
        if let named = Self.named[text] {
            self = named
            return
        }
        if text.hasPrefix("#") {
            let digits = text.utf8.dropFirst()
            guard digits.allSatisfy({ $0 < 0x80 }), let value = UInt32(Substring(digits), radix: 16) else { return nil }
            switch digits.count {
            case 3:
                self.init(
                    red: UInt8(value >> 8 & 15) * 17, green: UInt8(value >> 4 & 15) * 17, blue: UInt8(value & 15) * 17)
            case 6: self.init(rgb: value)
            case 8: self.init(rgb: value >> 8, alpha: UInt8(value & 255))
            default: return nil
            }
            return
        }
        guard text.hasPrefix("rgb"), let open = text.firstIndex(of: "("), text.hasSuffix(")") else { return nil }
        let parts = text[text.index(after: open)...].dropLast().split(separator: ",", omittingEmptySubsequences: false)
        guard parts.count == 3 || parts.count == 4 else { return nil }
        let numbers = parts.compactMap { Double($0) }
        guard numbers.count == parts.count, numbers.allSatisfy({ $0 >= 0 && $0 <= 255 }) else { return nil }
        let alpha = numbers.count < 4 ? 255 : fractionalAlpha ? min(numbers[3], 1) * 255 : numbers[3]
        self.init(
            red: UInt8(numbers[0].rounded()), green: UInt8(numbers[1].rounded()), blue: UInt8(numbers[2].rounded()),
            alpha: UInt8(alpha.rounded()))
    }
}
