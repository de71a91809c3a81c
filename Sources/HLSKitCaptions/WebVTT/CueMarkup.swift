import HLSKitMedia

/// Parses the payload of a WebVTT cue into pieces of styled text.
///
/// Source: WebVTT §6.4 (cue text parsing rules). Unclosed tags end with the cue. Timestamps in the text are skipped.
struct CueMarkup {
    /// Deeper tags are ignored.
    private static let maxDepth = 64

    private struct Element {
        var name: String
        var style: CaptionStyle
    }

    private let sheet: CueStyleSheet
    private var open: [Element]
    /// The number of start tags beyond the maximum depth, which must be closed first.
    private var ignoredCount = 0
    private var pieces: [StyledText] = []
    /// The index in `pieces` at which the open `ruby` begins, and the text of its `rt`.
    private var rubyStart: Int?
    private var rubyText = String.UnicodeScalarView()

    static func pieces(of payload: String, sheet: CueStyleSheet, identifier: String) -> [StyledText] {
        var markup = CueMarkup(sheet: sheet, identifier: identifier)
        markup.parse(payload)
        return markup.pieces
    }

    private init(sheet: CueStyleSheet, identifier: String) {
        self.sheet = sheet
        var style = CaptionStyle.plain
        sheet.apply("::cue", to: &style)
        if !identifier.isEmpty { sheet.apply("::cue(#\(identifier))", to: &style) }
        open = [Element(name: "", style: style)]
    }

    private var style: CaptionStyle { open.last?.style ?? .plain }
    private var isInRubyText: Bool { open.contains { $0.name == "rt" } }

    private mutating func parse(_ payload: String) {
        var rest = payload.unicodeScalars[...]
        var run = String.UnicodeScalarView()
        func isMark(_ scalar: Unicode.Scalar) -> Bool { scalar == "<" || scalar == "&" }
        while let scalar = rest.first {
            if scalar == "<" {
                add(run)
                run = .init()
                let end = rest.firstIndex(of: ">") ?? rest.endIndex
                takeTag(Substring(rest[rest.index(after: rest.startIndex)..<end]))
                rest = end == rest.endIndex ? rest[end...] : rest[rest.index(after: end)...]
            } else if scalar == "&" {
                if let (decoded, length) = WebVTTText.reference(rest) {
                    run.append(decoded)
                    rest = rest.dropFirst(length)
                } else {
                    run.append(scalar)
                    rest = rest.dropFirst()
                }
            } else {
                let end = rest.firstIndex(where: isMark) ?? rest.endIndex
                run.append(contentsOf: rest[..<end])
                rest = rest[end...]
            }
        }
        add(run)
        endRuby()
    }

    private mutating func add(_ run: String.UnicodeScalarView) {
        guard !run.isEmpty else { return }
        if isInRubyText {
            rubyText.append(contentsOf: run)
        } else {
            pieces.append(StyledText(text: String(run), style: style))
        }
    }

    private mutating func takeTag(_ tag: Substring) {
        if tag.hasPrefix("/") { return close(String(tag.dropFirst())) }
        let nameEnd = tag.unicodeScalars.firstIndex { $0 == "." || $0.properties.isWhitespace } ?? tag.endIndex
        let name = String(tag[..<nameEnd])
        guard ["b", "i", "u", "c", "v", "lang", "ruby", "rt"].contains(name) else { return }
        guard open.count < Self.maxDepth else {
            ignoredCount += 1
            return
        }
        let rest = tag[nameEnd...].unicodeScalars
        let classEnd = rest.firstIndex { $0.properties.isWhitespace } ?? rest.endIndex
        let classes = rest[..<classEnd].split(separator: ".").prefix(16).map { String($0) }
        let annotation = String(rest[classEnd...].drop { $0.properties.isWhitespace })
        var style = style
        switch name {
        case "b": style.fontWeight = .bold
        case "i": style.fontStyle = .italic
        case "u": style.decoration.insert(.underline)
        case "v" where !annotation.isEmpty: style.voice = WebVTTText.plain(annotation)
        case "ruby":
            endRuby()
            rubyStart = pieces.count
        default: break
        }
        sheet.apply("::cue(\(name))", to: &style)
        for name in classes { Self.apply(className: name, to: &style) }
        for className in classes {
            sheet.apply("::cue(.\(className))", to: &style)
            sheet.apply("::cue(\(name).\(className))", to: &style)
        }
        open.append(Element(name: name, style: style))
    }

    private mutating func close(_ name: String) {
        if ignoredCount > 0 {
            ignoredCount -= 1
            return
        }
        guard open.count > 1 else { return }
        // A ruby may be closed while its text is still open.
        if name == "ruby", open.last?.name == "rt" { close("rt") }
        guard let last = open.last, last.name == name, open.count > 1 else { return }
        open.removeLast()
        if name == "rt" { giveRuby() }
        if name == "ruby" { endRuby() }
    }

    /// Adds the ruby text to the pieces since the last ruby text or the start of the element.
    private mutating func giveRuby() {
        guard let start = rubyStart else { return }
        if !rubyText.isEmpty {
            for index in pieces[start...].indices {
                pieces[index].style.ruby = CaptionRuby(text: String(rubyText))
            }
        }
        rubyText = .init()
        rubyStart = pieces.count
    }

    private mutating func endRuby() {
        giveRuby()
        rubyStart = nil
    }

    /// Source: WebVTT §5.1 (default text colors) and §5.2 (default text background colors).
    private static func apply(className: String, to style: inout CaptionStyle) {
        if let color = CueStyleSheet.classColors[className] {
            style.textColor = color
        } else if className.hasPrefix("bg_"), let color = CueStyleSheet.classColors[String(className.dropFirst(3))] {
            style.backgroundColor = color
        }
    }
}
