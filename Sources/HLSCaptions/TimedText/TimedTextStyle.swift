/// The properties of a style or region as written, without the prefix `tts:`.
struct TimedTextProperties {
    /// Others are not kept, so that a style is never larger than this list.
    private static let known: Set<String> = [
        "backgroundColor", "color", "display", "displayAlign", "extent", "fontStyle", "fontWeight", "origin", "ruby",
        "rubyPosition", "textAlign", "textDecoration", "visibility", "writingMode",
    ]

    private(set) var values: [String: String] = [:]

    init() {}

    /// The properties of an element: those of the styles it names, the later ones first, under its own.
    init(_ attributes: [XMLScanner.Attribute], styles: [String: TimedTextProperties]) {
        for name in attributes.first(where: { $0.name == "style" })?.value.split(separator: " ").prefix(16) ?? [] {
            if let style = styles[String(name)] { merge(style) }
        }
        for attribute in attributes where attribute.name.hasPrefix("tts:") {
            let name = String(attribute.name.dropFirst(4))
            if Self.known.contains(name), attribute.value.utf8.count <= 256 { values[name] = attribute.value }
        }
    }

    mutating func merge(_ other: TimedTextProperties) { values.merge(other.values) { _, new in new } }

    subscript(_ name: String) -> String? { values[name] }
}

/// How text looks in an element: what is inherited.
struct TimedTextStyle {
    enum RubyRole { case none, base, text }

    var style = CaptionStyle.plain
    var alignment: Caption.TextAlignment?
    var isHidden = false
    var rubyRole = RubyRole.none
    var rubyPosition = CaptionRuby.Position.before

    mutating func apply(_ properties: TimedTextProperties) {
        if let value = properties["color"] {
            style.textColor = CaptionColor(parsing: value[...], fractionalAlpha: false) ?? style.textColor
        }
        if let value = properties["backgroundColor"] {
            style.backgroundColor = CaptionColor(parsing: value[...], fractionalAlpha: false) ?? style.backgroundColor
        }
        if let value = properties["fontWeight"] { style.fontWeight = value == "bold" ? .bold : .normal }
        if let value = properties["fontStyle"] {
            style.fontStyle = value == "italic" || value == "oblique" ? .italic : .normal
        }
        if let value = properties["textDecoration"] { apply(decoration: value) }
        if let value = properties["textAlign"] { alignment = Self.alignment(value) ?? alignment }
        if properties["display"] == "none" || properties["visibility"] == "hidden" { isHidden = true }
        if properties["visibility"] == "visible" { isHidden = false }
        if let value = properties["rubyPosition"] { rubyPosition = value == "after" ? .after : .before }
        switch properties["ruby"] {
        case "base": rubyRole = .base
        case "text": rubyRole = .text
        default: break
        }
    }

    private mutating func apply(decoration value: String) {
        for word in value.split(separator: " ") {
            switch word {
            case "none": style.decoration = []
            case "underline": style.decoration.insert(.underline)
            case "noUnderline": style.decoration.remove(.underline)
            case "lineThrough": style.decoration.insert(.lineThrough)
            case "noLineThrough": style.decoration.remove(.lineThrough)
            case "overline": style.decoration.insert(.overline)
            case "noOverline": style.decoration.remove(.overline)
            default: break
            }
        }
    }

    static func alignment(_ value: String) -> Caption.TextAlignment? {
        switch value {
        case "start": .start
        case "center": .center
        case "end": .end
        case "left": .left
        case "right": .right
        default: nil
        }
    }
}

extension CaptionRegion {
    /// - Parameters:
    ///   - root: the extent of the whole in pixels, where the file tells it.
    ///   - cells: columns and rows of the grid that lengths in cells mean.
    init(
        identifier: String, properties: TimedTextProperties, root: (width: Double, height: Double)?,
        cells: (columns: Int, rows: Int)
    ) {
        self.init(identifier: identifier)
        func pair(_ name: String) -> (CaptionDimension, CaptionDimension)? {
            let parts = properties[name]?.split(separator: " ") ?? []
            guard parts.count == 2 else { return nil }
            return (
                Self.dimension(parts[0], pixels: root?.width, cells: cells.columns, grid: CaptionGrid.columnCount),
                Self.dimension(parts[1], pixels: root?.height, cells: cells.rows, grid: CaptionGrid.rowCount)
            )
        }
        if let (x, y) = pair("origin") { origin = CaptionPoint(x: x, y: y) }
        if let (width, height) = pair("extent") { size = CaptionSize(width: width, height: height) }
        switch properties["displayAlign"] {
        case "before": displayAlignment = .before
        case "center": displayAlignment = .center
        case "after": displayAlignment = .after
        default: break
        }
        switch properties["writingMode"] {
        case "tbrl", "tb": writingMode = .topToBottomAndRightToLeft
        case "tblr": writingMode = .topToBottomAndLeftToRight
        default: break
        }
    }

    private static func dimension(_ text: Substring, pixels: Double?, cells: Int, grid: Int) -> CaptionDimension {
        func number(_ suffix: String) -> Double? {
            guard text.hasSuffix(suffix), let value = Double(text.dropLast(suffix.count)), abs(value) <= 100_000 else {
                return nil
            }
            return value
        }
        if let value = number("%") { return .percent(value) }
        if let value = number("px"), let pixels { return .percent(value * 100 / pixels) }
        if let value = number("c") { return cells == grid ? .cells(value) : .percent(value * 100 / Double(cells)) }
        return .unspecified
    }
}
