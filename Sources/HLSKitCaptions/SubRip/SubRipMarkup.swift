/// The tags in `.srt` files: `<b> <i> <u> <s> <font color=…>`, the same in braces, and `{\an8}` for the position.
///
/// Anything but a known tag is text. There is no escape, so the writer inserts a word joiner into text that looks like
/// markup, and the reader removes it.
enum SubRipMarkup {
    /// The position in `{\anN}`: the corresponding key of a number pad.
    struct Place: Equatable {
        var key: Int
    }

    static let wordJoiner: Unicode.Scalar = "\u{2060}"
    private static let names: Set<String> = ["b", "i", "u", "s", "font"]
    private static let maxDepth = 64
    /// Longer text in brackets is not a tag.
    private static let maxTagLength = 256

    static func pieces(of text: String.UnicodeScalarView) -> (pieces: [StyledText], place: Place?) {
        var pieces: [StyledText] = []
        var place: Place?
        var open: [(name: String, style: CaptionStyle)] = [("", .plain)]
        var run = String.UnicodeScalarView()
        var previous: Unicode.Scalar?
        var rest = text[...]
        func flush() {
            guard !run.isEmpty else { return }
            pieces.append(StyledText(text: String(run), style: open.last?.style ?? .plain))
            run = .init()
        }
        while let scalar = rest.first {
            let isTag = scalar == "<"
            if isTag || scalar == "{", let (body, end) = bracket(rest, until: isTag ? ">" : "}") {
                if !isTag, body.hasPrefix("\\") {
                    if let key = body.hasPrefix("\\an") ? Int(body.dropFirst(3)) : nil, (1...9).contains(key) {
                        place = Place(key: key)
                    }
                    rest = rest[end...]
                    continue
                }
                if let tag = tag(body) {
                    flush()
                    take(tag, &open)
                    rest = rest[end...]
                    continue
                }
            }
            rest = rest.dropFirst()
            // Remove the word joiner that keeps text from being parsed as markup.
            if scalar == wordJoiner, previous == "<" || previous == "{" || previous == "-" && rest.first == ">" {
                previous = scalar
                continue
            }
            run.append(scalar)
            previous = scalar
        }
        flush()
        return (pieces, place)
    }

    private static func bracket(
        _ rest: Substring.UnicodeScalarView, until close: Unicode.Scalar
    ) -> (body: String, end: String.Index)? {
        let head = rest.dropFirst().prefix(maxTagLength)
        guard let end = head.firstIndex(where: { $0 == close || $0 == "\n" || $0 == "<" }), head[end] == close else {
            return nil
        }
        return (String(head[..<end]), rest.index(after: end))
    }

    private static func tag(_ body: String) -> (name: String, isEnd: Bool, attributes: Substring)? {
        let isEnd = body.hasPrefix("/")
        let text = isEnd ? body.dropFirst() : body[...]
        let name = text.prefix { $0.isLetter }.lowercased()
        guard names.contains(name) else { return nil }
        let attributes = text.dropFirst(name.count)
        guard attributes.isEmpty || attributes.first?.isWhitespace == true else { return nil }
        return (name, isEnd, attributes)
    }

    private static func take(
        _ tag: (name: String, isEnd: Bool, attributes: Substring), _ open: inout [(name: String, style: CaptionStyle)]
    ) {
        if tag.isEnd {
            // Tags are often closed in the wrong order. Inner tags keep their style until they are closed.
            guard let index = open.lastIndex(where: { $0.name == tag.name }) else { return }
            let names = open[(index + 1)...].map(\.name)
            let inner = open[(index + 1)...].map(\.style)
            open.removeSubrange(index...)
            for (name, style) in zip(names, inner) {
                var outer = open.last?.style ?? .plain
                apply(name, style.textColor, &outer)
                open.append((name, outer))
            }
            return
        }
        guard open.count < maxDepth, var style = open.last?.style else { return }
        apply(tag.name, color(in: tag.attributes) ?? style.textColor, &style)
        open.append((tag.name, style))
    }

    private static func apply(_ name: String, _ color: CaptionColor?, _ style: inout CaptionStyle) {
        switch name {
        case "b": style.fontWeight = .bold
        case "i": style.fontStyle = .italic
        case "u": style.decoration.insert(.underline)
        case "s": style.decoration.insert(.lineThrough)
        default: style.textColor = color
        }
    }

    private static func color(in attributes: Substring) -> CaptionColor? {
        let text = attributes.lowercased()
        guard let range = text.firstRange(of: "color") else { return nil }
        let value = text[range.upperBound...].drop { $0 == " " || $0 == "=" || $0 == "\"" || $0 == "'" }
            .prefix { $0 != "\"" && $0 != "'" && $0 != " " }
        return CaptionColor(parsing: value, fractionalAlpha: true)
            ?? CaptionColor(parsing: "#" + value, fractionalAlpha: true)
    }
}

extension Caption {
    /// Sets region and alignment from the key of a number pad. The default is 2, the bottom centre.
    mutating func apply(_ place: SubRipMarkup.Place) {
        let row = (place.key - 1) / 3
        switch row {
        case 2: region = .appleITTTop
        case 1:
            region = CaptionRegion(
                origin: CaptionPoint(x: .percent(0), y: .percent(0)),
                size: CaptionSize(width: .percent(100), height: .percent(100)), displayAlignment: .center)
        default: region = nil
        }
        textAlignment = [.left, nil, .right][(place.key - 1) % 3]
    }

    var placeKey: Int {
        let side: Double =
            switch textAlignment {
            case .left, .start: 0
            case .center, nil: 0.5
            case .right, .end: 1
            }
        let column = column(side: side)
        guard let region else { return column + 1 }
        // A box without a height is at the position of its alignment.
        switch region.firstRow(rowCount: 1) {
        case ..<(CaptionGrid.rowCount / 3): return column + 7
        case ..<(CaptionGrid.rowCount * 2 / 3): return column + 4
        default: return column + 1
        }
    }

    /// The horizontal third of the screen that contains the text, 0 to 2.
    ///
    /// - Parameter side: The position in its region, 0 to 1.
    private func column(side: Double) -> Int {
        let columns = CaptionGrid.columnCount
        guard let region, let left = region.origin.x.percentage(cellCount: columns),
            let width = region.size.width.percentage(cellCount: columns)
        else { return Int(side * 2) }
        // The box has as many cells as the text.
        let middle = left + width * (region.size.width.units == .cells ? 0.5 : side)
        return middle < 33 ? 0 : middle > 67 ? 2 : 1
    }
}
