import HLSKitTime

/// Writes `.itt` with frame-accurate time codes.
///
/// The regions of captions are written unchanged. A caption without a region goes to the region `bottom`.
struct TimedTextWriter {
    private let rate: TimeCodeRate
    private let language: String
    private var regions: [CaptionRegion: String] = [:]
    private var regionNames: Set<String> = ["bottom"]
    private var layout = ""
    private var body = ""

    static func write(
        _ captions: [Caption], rate: TimeCodeRate, language: String?
    ) throws(CaptionError) -> [UInt8] {
        var writer = TimedTextWriter(rate: rate, language: language ?? "und")
        writer.layout += writer.element(for: .appleITTBottom, name: "bottom")
        for (index, caption) in captions.enumerated() { try writer.add(caption, index: index) }
        return Array(writer.text.utf8)
    }

    private init(rate: TimeCodeRate, language: String) {
        self.rate = rate
        self.language = language
    }

    private var text: String {
        """
        <?xml version="1.0" encoding="UTF-8"?>
        <tt xmlns="http://www.w3.org/ns/ttml" xmlns:ttp="http://www.w3.org/ns/ttml#parameter" \
        xmlns:tts="http://www.w3.org/ns/ttml#styling" xml:lang="\(Self.escaped(language))" ttp:timeBase="smpte" \
        ttp:frameRate="\(rate.nominalRate)" \
        ttp:frameRateMultiplier="\(rate.multiplier.numerator) \(rate.multiplier.denominator)" \
        ttp:dropMode="\(rate.isDropFrame ? "dropNTSC" : "nonDrop")" xml:space="preserve">
        <head>
        <layout>
        \(layout)</layout>
        </head>
        <body><div>
        \(body)</div></body>
        </tt>

        """
    }

    private mutating func add(_ caption: Caption, index: Int) throws(CaptionError) {
        guard let (start, end) = try rate.frames(of: caption.timeRange, index: index) else { return }
        let region = caption.region.map { regionName($0) } ?? "bottom"
        let (begin, stop) = (rate.timeCode(start, dropMark: ":"), rate.timeCode(end, dropMark: ":"))
        body += "<p begin=\"\(begin)\" end=\"\(stop)\" region=\"\(Self.escaped(region))\""
        switch caption.textAlignment {
        case .start: body += " tts:textAlign=\"start\""
        case .center: body += " tts:textAlign=\"center\""
        case .end: body += " tts:textAlign=\"end\""
        case .left: body += " tts:textAlign=\"left\""
        case .right: body += " tts:textAlign=\"right\""
        case nil: break
        }
        body += ">"
        for piece in caption.pieces { body += Self.element(for: piece) }
        body += "</p>\n"
    }

    private mutating func regionName(_ region: CaptionRegion) -> String {
        // A caption read from a file of this writer has the region that represents no region.
        if region == .appleITTBottom { return "bottom" }
        if let name = regions[region] { return name }
        let wanted = (region.identifier ?? "").unicodeScalars.filter {
            $0.properties.isAlphabetic || $0.isDigit || $0 == "-" || $0 == "_"
        }
        var name = String(String.UnicodeScalarView(wanted))
        if name.isEmpty || name.first?.isNumber == true || regionNames.contains(name) { name = "r\(regions.count + 1)" }
        while regionNames.contains(name) { name += "x" }
        regionNames.insert(name)
        regions[region] = name
        layout += element(for: region, name: name)
        return name
    }

    private func element(for region: CaptionRegion, name: String) -> String {
        // TTML's default is the top.
        let region = region.anchored
        var text = "<region xml:id=\"\(Self.escaped(name))\""
        func length(_ dimension: CaptionDimension, else value: String, grid: Int) -> String {
            switch dimension.units {
            case .unspecified: value
            case .percent: DecimalText.text(min(max(dimension.value, -1000), 1000), places: 3) + "%"
            case .cells where dimension.value < 0:
                DecimalText.text((Double(grid) + max(dimension.value, -100)) * 100 / Double(grid), places: 3) + "%"
            case .cells: DecimalText.text(min(dimension.value, 1000), places: 3) + "c"
            }
        }
        let (columns, rows) = (CaptionGrid.columnCount, CaptionGrid.rowCount)
        let (origin, size) = (region.origin, region.size)
        if origin.x.units != .unspecified || origin.y.units != .unspecified {
            text += " tts:origin=\"\(length(origin.x, else: "0%", grid: columns)) "
            text += "\(length(origin.y, else: "0%", grid: rows))\""
        }
        if size.width.units != .unspecified || size.height.units != .unspecified {
            let left = origin.x.percentage(cellCount: columns) ?? 0
            let top = origin.y.percentage(cellCount: rows) ?? 0
            text +=
                " tts:extent=\"\(length(size.width, else: DecimalText.text(100 - left, places: 3) + "%", grid: columns)) "
            text += "\(length(size.height, else: DecimalText.text(100 - top, places: 3) + "%", grid: rows))\""
        }
        switch region.displayAlignment {
        case .before: text += " tts:displayAlign=\"before\""
        case .center: text += " tts:displayAlign=\"center\""
        case .after: text += " tts:displayAlign=\"after\""
        case nil: break
        }
        switch region.writingMode {
        case .leftToRightAndTopToBottom: break
        case .topToBottomAndRightToLeft: text += " tts:writingMode=\"tbrl\""
        case .topToBottomAndLeftToRight: text += " tts:writingMode=\"tblr\""
        }
        return text + "/>\n"
    }

    private static func element(for piece: StyledText) -> String {
        let content = piece.text.split(separator: "\n", omittingEmptySubsequences: false)
            .map { escaped(String($0)) }.joined(separator: "<br/>")
        var attributes = ""
        let style = piece.style
        if let color = style.textColor { attributes += " tts:color=\"\(color.hexadecimal)\"" }
        if let color = style.backgroundColor { attributes += " tts:backgroundColor=\"\(color.hexadecimal)\"" }
        if style.fontWeight == .bold { attributes += " tts:fontWeight=\"bold\"" }
        if style.fontStyle == .italic { attributes += " tts:fontStyle=\"italic\"" }
        var lines: [String] = []
        if style.decoration.contains(.underline) { lines.append("underline") }
        if style.decoration.contains(.lineThrough) { lines.append("lineThrough") }
        if style.decoration.contains(.overline) { lines.append("overline") }
        if !lines.isEmpty { attributes += " tts:textDecoration=\"\(lines.joined(separator: " "))\"" }
        guard let ruby = style.ruby else {
            return attributes.isEmpty ? content : "<span\(attributes)>\(content)</span>"
        }
        let position = ruby.position == .after ? " tts:rubyPosition=\"after\"" : ""
        return "<span tts:ruby=\"container\"\(attributes)><span tts:ruby=\"base\">\(content)</span>"
            + "<span tts:ruby=\"text\"\(position)>\(escaped(ruby.text.replacing("\n", with: " ")))</span></span>"
    }

    private static func escaped(_ text: String) -> String {
        var result = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            switch scalar {
            case "&": result.append(contentsOf: "&amp;".unicodeScalars)
            case "<": result.append(contentsOf: "&lt;".unicodeScalars)
            case ">": result.append(contentsOf: "&gt;".unicodeScalars)
            case "\"": result.append(contentsOf: "&quot;".unicodeScalars)
            case "\r": break
            // XML 1.0 has no other control characters (§2.2).
            case _ where scalar.value < 0x20 && scalar != "\t" && scalar != "\n": break
            case "\u{fffe}", "\u{ffff}": break
            default: result.append(scalar)
            }
        }
        return String(result)
    }
}
