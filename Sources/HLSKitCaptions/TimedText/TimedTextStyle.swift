/// The properties of a style or region as written, without the prefix `tts:`.
struct TimedTextProperties {
    /// Other properties are dropped, so that a style is never larger than this list.
    private static let known: Set<String> = [
        "backgroundColor", "color", "display", "displayAlign", "extent", "fontStyle", "fontWeight", "origin",
        "position", "ruby", "rubyPosition", "textAlign", "textDecoration", "visibility", "writingMode",
    ]

    private(set) var values: [String: String] = [:]

    init() {}

    /// Merges the properties of an element: its own, then the named styles, the later ones first.
    init(_ attributes: [XMLScanner.Attribute], styles: [String: TimedTextProperties]) {
        for name in attributes.first(where: { $0.name == "style" })?.value.split(separator: " ").prefix(16) ?? [] {
            if let style = styles[String(name)] { merge(style) }
        }
        for attribute in attributes where attribute.name.hasPrefix("tts:") {
            let name = String(attribute.name.dropFirst(4))
            if Self.known.contains(name), attribute.value.utf8.count <= 256 { values[name] = attribute.value }
        }
    }

    /// The properties for a region. An invisible region has no background, regardless of its text.
    var ofRegion: TimedTextProperties {
        var properties = self
        let color = self["backgroundColor"].flatMap { CaptionColor(parsing: $0[...], fractionalAlpha: false) }
        if color?.alpha == 0 { properties.values["backgroundColor"] = nil }
        return properties
    }

    mutating func merge(_ other: TimedTextProperties) { values.merge(other.values) { _, new in new } }

    subscript(_ name: String) -> String? { values[name] }
}

struct TimedTextStyle {
    enum RubyRole {
        case none, base, text
        /// Contains only bases and texts.
        case container
    }

    var style = CaptionStyle.plain
    var alignment: Caption.TextAlignment?
    /// For clients without ruby support.
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
        if let value = properties["rubyPosition"] { rubyPosition = value == "after" ? .after : .before }
        switch properties["ruby"] {
        case "container", "baseContainer", "textContainer": rubyRole = .container
        case "base": rubyRole = .base
        case "text": rubyRole = .text
        case "delimiter": isHidden = true
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
    ///   - root: The extent of the whole region in pixels, if the file declares it.
    ///   - cells: The columns and rows of the grid that lengths in cells refer to.
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
        if properties["origin"] == nil, let position = properties["position"] {
            place(at: position) { text, isAcross in
                isAcross
                    ? Self.dimension(text, pixels: root?.width, cells: cells.columns, grid: CaptionGrid.columnCount)
                    : Self.dimension(text, pixels: root?.height, cells: cells.rows, grid: CaptionGrid.rowCount)
            }
        }
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

    /// Places the region according to `tts:position`. A percentage applies to the space that the region leaves free. A
    /// length or an edge counts from the left and the top, or from the edge that precedes it.
    ///
    /// Source: TTML2 §10.2.32.
    private mutating func place(at position: String, _ dimension: (Substring, _ isAcross: Bool) -> CaptionDimension) {
        let shares: [Substring: Double] = ["left": 0, "top": 0, "center": 0.5, "right": 1, "bottom": 1]
        let words = position.split(separator: " ")
        let free = (
            across: 100 - (size.width.percentage(cellCount: CaptionGrid.columnCount) ?? 100),
            down: 100 - (size.height.percentage(cellCount: CaptionGrid.rowCount) ?? 100)
        )
        var (x, y): (Double?, Double?)
        var edge: Substring?
        for (index, word) in words.prefix(4).enumerated() {
            let isVertical = word == "top" || word == "bottom" || edge == "top" || edge == "bottom"
            let isHorizontal = word == "left" || word == "right" || edge == "left" || edge == "right"
            let namesColumn = words.dropFirst(index + 1).contains { $0 == "left" || $0 == "right" }
            let isAcross = isHorizontal || !isVertical && x == nil && !namesColumn
            let room = isAcross ? free.across : free.down
            var place: Double?
            if let share = shares[word] {
                place = room * share
            } else if let offset = dimension(word, isAcross).percentage(
                cellCount: isAcross ? CaptionGrid.columnCount : CaptionGrid.rowCount)
            {
                let distance = word.hasSuffix("%") ? room * offset / 100 : offset
                place = edge == "right" || edge == "bottom" ? room - distance : distance
            }
            if isAcross { x = place ?? x } else { y = place ?? y }
            // An offset may follow an edge only if there are more than two words.
            edge = words.count > 2 && (isHorizontal || isVertical) && shares[word] != nil ? word : nil
        }
        origin = CaptionPoint(x: .percent(x ?? free.across / 2), y: .percent(y ?? free.down / 2))
    }

    private static func dimension(_ text: Substring, pixels: Double?, cells: Int, grid: Int) -> CaptionDimension {
        func number(_ suffix: String) -> Double? {
            guard text.hasSuffix(suffix), let value = Double(text.dropLast(suffix.count)), abs(value) <= 100_000 else {
                return nil
            }
            return value
        }
        // Hundredths of the video's width and height (IMSC1.1).
        if let value = number("%") ?? number("rw") ?? number("rh") { return .percent(value) }
        if let value = number("px"), let pixels { return .percent(value * 100 / pixels) }
        if let value = number("c") { return cells == grid ? .cells(value) : .percent(value * 100 / Double(cells)) }
        return .unspecified
    }
}
