import HLSKitTime

/// Writes `.vtt` with millisecond precision.
///
/// Empty lines of a text are omitted because they end a cue. Styles that WebVTT cannot express (overlines) are omitted.
struct WebVTTCaptionWriter {
    private var regions: [CaptionRegion: String] = [:]
    private var regionNames: Set<String> = []
    private var regionBlocks: [String] = []
    private var rules: [String: String] = [:]
    private var cues = ""

    static func write(_ captions: [Caption]) throws(CaptionError) -> [UInt8] {
        var writer = WebVTTCaptionWriter()
        for (index, caption) in captions.enumerated() { try writer.add(caption, index: index) }
        return Array(writer.text.utf8)
    }

    /// Returns the settings and the payload of a single caption.
    ///
    /// Colors without a predefined class in WebVTT have class names without a definition.
    static func cue(of caption: Caption) -> (settings: String, payload: String) {
        var writer = WebVTTCaptionWriter()
        for (index, line) in caption.linesOfPieces.enumerated() {
            if index > 0 { writer.cues += "\n" }
            for piece in line { writer.add(piece) }
        }
        return (CuePlacement.settings(of: caption, regionName: nil), writer.cues)
    }

    private var text: String {
        var text = "WEBVTT\n"
        if !rules.isEmpty {
            text += "\nSTYLE\n"
            for (name, rule) in rules.sorted(by: { $0.key < $1.key }) { text += "::cue(.\(name)) { \(rule) }\n" }
        }
        for block in regionBlocks { text += "\n\(block)\n" }
        return text + cues
    }

    private mutating func add(_ caption: Caption, index: Int) throws(CaptionError) {
        guard let times = try FileTimes(caption.timeRange, timescale: 1000, index: index) else { return }
        cues += "\n"
        let identifier = caption.identifier.unicodeScalars.map { $0 == "\n" || $0 == "\r" ? " " : $0 }
        // A block name or an arrow would be parsed as other syntax.
        let name = String(String.UnicodeScalarView(identifier))
        if !name.isEmpty, !name.contains("-->"), !["NOTE", "STYLE", "REGION"].contains(where: name.hasPrefix) {
            cues += name + "\n"
        }
        cues += DecimalText.clock(milliseconds: times.start, point: ".") + " --> "
        cues += DecimalText.clock(milliseconds: times.end, point: ".")
        cues += CuePlacement.settings(of: caption, regionName: caption.region.flatMap { regionName($0) }) + "\n"
        for line in caption.linesOfPieces {
            for piece in line { add(piece) }
            cues += "\n"
        }
    }

    private mutating func regionName(_ region: CaptionRegion) -> String? {
        guard CuePlacement.needsBlock(region) else { return nil }
        if let name = regions[region] { return name }
        var name = String(
            String.UnicodeScalarView(
                (region.identifier ?? "").unicodeScalars.filter { !$0.properties.isWhitespace && $0 != "\0" }))
        if name.isEmpty || name.contains("-->") || regionNames.contains(name) { name = "r\(regions.count + 1)" }
        while regionNames.contains(name) { name += "x" }
        regions[region] = name
        regionNames.insert(name)
        regionBlocks.append(CuePlacement.block(region, name: name))
        return name
    }

    private mutating func add(_ piece: StyledText) {
        let style = piece.style
        var tags: [(open: String, close: String)] = []
        if let voice = style.voice, !voice.isEmpty {
            tags.append(("v " + Self.escaped(voice.replacing("\n", with: " ")), "v"))
        }
        var classes = ""
        if let color = style.textColor { classes += className(of: color, prefix: "", property: "color") }
        if let color = style.backgroundColor {
            classes += className(of: color, prefix: "bg_", property: "background-color")
        }
        if style.decoration.contains(.lineThrough) {
            rules["strike"] = "text-decoration: line-through"
            classes += ".strike"
        }
        if !classes.isEmpty { tags.append(("c" + classes, "c")) }
        if style.fontWeight == .bold { tags.append(("b", "b")) }
        if style.fontStyle == .italic { tags.append(("i", "i")) }
        if style.decoration.contains(.underline) { tags.append(("u", "u")) }
        if style.ruby != nil { tags.append(("ruby", "ruby")) }
        for tag in tags { cues += "<\(tag.open)>" }
        cues += Self.escaped(piece.text)
        if let ruby = style.ruby { cues += "<rt>" + Self.escaped(ruby.text.replacing("\n", with: " ")) + "</rt>" }
        for tag in tags.reversed() { cues += "</\(tag.close)>" }
    }

    /// `.yellow`, or `.c12ab34` with a rule in the style sheet.
    private mutating func className(of color: CaptionColor, prefix: String, property: String) -> String {
        if let name = CueStyleSheet.classColors.first(where: { $0.value == color })?.key { return ".\(prefix)\(name)" }
        let name = "\(prefix)c\(color.hexadecimal.dropFirst())"
        rules[name] = "\(property): \(color.hexadecimal)"
        return ".\(name)"
    }

    private static func escaped(_ text: String) -> String {
        var result = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            switch scalar {
            case "&": result.append(contentsOf: "&amp;".unicodeScalars)
            case "<": result.append(contentsOf: "&lt;".unicodeScalars)
            case ">": result.append(contentsOf: "&gt;".unicodeScalars)
            case "\0": break
            default: result.append(scalar)
            }
        }
        return String(result)
    }
}
