/// The text styles in the `STYLE` blocks of a WebVTT file.
///
/// The supported selectors are `::cue`, `::cue(NAME)`, `::cue(.CLASS)`, `::cue(NAME.CLASS)` and `::cue(#ID)`. The
/// supported properties are colours, weight, slant and lines. Other content is skipped, as the specification allows
/// (WebVTT §8.2).
struct CueStyleSheet: Sendable {
    static let classColors: [String: CaptionColor] = [
        "white": .white, "lime": .lime, "cyan": .cyan, "red": .red, "yellow": .yellow, "magenta": .magenta,
        "blue": .blue, "black": .black,
    ]

    /// Further rules are ignored.
    private static let maxRuleCount = 1024

    private struct Rule {
        var textColor: CaptionColor?
        var backgroundColor: CaptionColor?
        var fontWeight: CaptionStyle.FontWeight?
        var fontStyle: CaptionStyle.FontStyle?
        var decoration: CaptionStyle.Decoration?
    }

    private var rules: [String: Rule] = [:]

    func apply(_ selector: String, to style: inout CaptionStyle) {
        guard !rules.isEmpty, let rule = rules[selector] else { return }
        if let color = rule.textColor { style.textColor = color }
        if let color = rule.backgroundColor { style.backgroundColor = color }
        if let weight = rule.fontWeight { style.fontWeight = weight }
        if let fontStyle = rule.fontStyle { style.fontStyle = fontStyle }
        if let decoration = rule.decoration { style.decoration.formUnion(decoration) }
    }

    mutating func add(_ text: String) {
        var rest = Self.withoutComments(text)[...]
        while let open = rest.firstIndex(of: "{") {
            let body = rest[rest.index(after: open)...]
            let end = body.firstIndex(of: "}") ?? body.endIndex
            for selector in rest[..<open].split(separator: ",") {
                let selector = selector.filter { !$0.isWhitespace }.replacing("\\", with: "")
                guard selector.hasPrefix("::cue"), rules.count < Self.maxRuleCount else { continue }
                var rule = rules[selector] ?? Rule()
                for declaration in body[..<end].split(separator: ";") { Self.take(declaration, &rule) }
                rules[selector] = rule
            }
            rest = end == body.endIndex ? body[end...] : body[body.index(after: end)...]
        }
    }

    private static func withoutComments(_ text: String) -> String {
        guard text.contains("/*") else { return text }
        var result = ""
        var rest = text[...]
        while let start = rest.firstRange(of: "/*") {
            result += rest[..<start.lowerBound]
            guard let end = rest[start.upperBound...].firstRange(of: "*/") else { return result }
            rest = rest[end.upperBound...]
        }
        return result + rest
    }

    private static func take(_ declaration: Substring, _ rule: inout Rule) {
        guard let colon = declaration.firstIndex(of: ":") else { return }
        let name = declaration[..<colon].filter { !$0.isWhitespace }.lowercased()
        let value = declaration[declaration.index(after: colon)...]
        let word = value.filter { !$0.isWhitespace }.lowercased()
        switch name {
        case "color": rule.textColor = CaptionColor(parsing: value, fractionalAlpha: true) ?? rule.textColor
        case "background-color", "background":
            rule.backgroundColor = CaptionColor(parsing: value, fractionalAlpha: true) ?? rule.backgroundColor
        case "font-weight":
            rule.fontWeight = word == "bold" || word == "bolder" || (Int(word) ?? 400) >= 600 ? .bold : .normal
        case "font-style": rule.fontStyle = word == "italic" || word == "oblique" ? .italic : .normal
        case "text-decoration", "text-decoration-line":
            var decoration = CaptionStyle.Decoration()
            if word.contains("underline") { decoration.insert(.underline) }
            if word.contains("line-through") { decoration.insert(.lineThrough) }
            if word.contains("overline") { decoration.insert(.overline) }
            rule.decoration = decoration
        default: break
        }
    }
}
