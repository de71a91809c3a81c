import HLSKitCaptions
import HLSKitTime

/// Captions shown at the same time, as an Advanced SubStation Alpha script for an image of a given size.
///
/// By default, text is white on black that is 20 percent transparent, as in WebVTT, and its height is a twentieth of
/// the image. Ruby text follows its base text in brackets. Vertical text is laid out in lines.
struct CaptionScript {
    /// Further captions would not be legible.
    private static let maxCaptionCount = 64
    private static let maxScalarCount = 4096
    /// A fraction of the image height: the default of WebVTT.
    private static let fontHeight = 0.05

    let text: String

    init(_ captions: [Caption], width: Int, height: Int) {
        let size = max(4, Int((Double(height) * Self.fontHeight).rounded()))
        let margin = max(1, height / 20)
        var text = """
            [Script Info]
            ScriptType: v4.00+
            PlayResX: \(width)
            PlayResY: \(height)
            WrapStyle: 0
            ScaledBorderAndShadow: yes

            [V4+ Styles]
            Format: Name, Fontname, Fontsize, PrimaryColour, SecondaryColour, OutlineColour, BackColour, Bold, Italic, \
            Underline, StrikeOut, ScaleX, ScaleY, Spacing, Angle, BorderStyle, Outline, Shadow, Alignment, MarginL, MarginR, \
            MarginV, Encoding
            Style: Default,sans-serif,\(size),&H00FFFFFF,&H00FFFFFF,&H33000000,&H33000000,0,0,0,0,100,100,0,0,3,\
            \(max(1, size / 8)),0,2,\(margin),\(margin),\(margin),1

            [Events]
            Format: Layer, Start, End, Style, Name, MarginL, MarginR, MarginV, Effect, Text

            """
        for caption in captions.prefix(Self.maxCaptionCount) {
            text += Self.line(caption, width: Double(width), height: Double(height)) + "\n"
        }
        self.text = text
    }

    private static func line(_ caption: Caption, width: Double, height: Double) -> String {
        var placement = ""
        var margins = "0,0,0"  // The margins of the style.
        if let region = caption.region, let place = Place(region, alignment: caption.textAlignment, width, height) {
            placement = "{\\an\(place.anchor)\\pos(\(place.x),\(place.y))\(place.isWrapped ? "" : "\\q2")}"
            margins = "1,\(max(1, Int(width) - place.width)),0"
        } else {
            let anchor =
                switch caption.textAlignment {
                case .start, .left: 1
                case .end, .right: 3
                case .center, nil: 2
                }
            placement = "{\\an\(anchor)}"
        }
        var text = ""
        var remaining = maxScalarCount
        var offset = 0
        let scalars = Array(caption.text.unicodeScalars)
        while offset < scalars.count, remaining > 0 {
            let (style, range) = caption.style(at: offset)
            let end = min(max(range.upperBound, offset + 1), scalars.count, offset + remaining)
            text += tags(of: style) + escaped(scalars[offset..<end])
            if let ruby = style.ruby { text += "(" + escaped(Array(ruby.text.unicodeScalars.prefix(256))[...]) + ")" }
            remaining -= end - offset
            offset = end
        }
        return "Dialogue: 0,0:00:00.00,0:00:10.00,Default,,\(margins),,\(placement)\(text)"
    }

    /// `\r` resets the style that the previous piece has set.
    private static func tags(of style: CaptionStyle) -> String {
        var tags = "\\r"
        if let color = style.textColor { tags += color.tags("1") }
        if let color = style.backgroundColor { tags += color.tags("3") }
        if style.fontWeight == .bold { tags += "\\b1" }
        if style.fontStyle == .italic { tags += "\\i1" }
        if style.decoration.contains(.underline) { tags += "\\u1" }
        if style.decoration.contains(.lineThrough) { tags += "\\s1" }
        return "{\(tags)}"
    }

    private static func escaped(_ scalars: ArraySlice<Unicode.Scalar>) -> String {
        var result = String.UnicodeScalarView()
        for scalar in scalars {
            switch scalar {
            case "\n", "\r": result.append(contentsOf: "\\N".unicodeScalars)
            // A joiner keeps the backslash from beginning a command.
            case "\\": result.append(contentsOf: "\\\u{2060}".unicodeScalars)
            case "{": result.append(contentsOf: "\\{".unicodeScalars)
            case "}": result.append(contentsOf: "\\}".unicodeScalars)
            case "\0"..<" ", "\u{7f}": result.append(" ")
            default: result.append(scalar)
            }
        }
        return String(result)
    }

    private struct Place {
        /// The anchor as on a keypad: 1 to 3 are at the bottom, 7 to 9 at the top.
        var anchor: Int
        var x: Int
        var y: Int
        var width: Int
        var isWrapped: Bool

        init?(_ region: CaptionRegion, alignment: Caption.TextAlignment?, _ width: Double, _ height: Double) {
            let box = region.anchored
            guard let top = box.origin.y.percentage(cellCount: CaptionGrid.rowCount) else { return nil }
            let left = Self.clamp(box.origin.x.percentage(cellCount: CaptionGrid.columnCount) ?? 0)
            let boxWidth = Self.clamp(box.size.width.percentage(cellCount: CaptionGrid.columnCount) ?? 100 - left)
            let boxHeight = Self.clamp(box.size.height.percentage(cellCount: CaptionGrid.rowCount) ?? 0)
            let column =
                switch alignment {
                case .start, .left: 0
                case .end, .right: 2
                case .center, nil: 1
                }
            let row =
                switch box.displayAlignment {
                case .before, nil: 0
                case .center: 1
                case .after: 2
                }
            // Without a vertical position, the margin is the same as without a region.
            let bottom = region.origin.y.units == .unspecified ? 95.0 : 100
            anchor = (2 - row) * 3 + column + 1
            x = Int((width * (left + boxWidth * Double(column) / 2) / 100).rounded())
            y = Int((height * min(Self.clamp(top) + boxHeight * Double(row) / 2, bottom) / 100).rounded())
            self.width = Int((width * boxWidth / 100).rounded())
            // Rows of a grid must not be wrapped again.
            isWrapped = region.size.width.units != .cells && boxWidth > 0
        }

        private static func clamp(_ percent: Double) -> Double { percent.isFinite ? min(max(percent, 0), 100) : 0 }
    }
}

extension CaptionColor {
    /// The colour and transparency tags of a part of the text: 1 is the text itself, 3 its background.
    fileprivate func tags(_ part: String) -> String {
        func digits(_ value: UInt8) -> String { value.hexadecimal(2, uppercase: true) }
        return "\\\(part)c&H\(digits(blue))\(digits(green))\(digits(red))&\\\(part)a&H\(digits(255 - alpha))&"
    }
}
