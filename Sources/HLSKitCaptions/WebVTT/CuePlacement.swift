import HLSKitMedia

/// Converts the position of a WebVTT cue to a ``CaptionRegion`` and back.
///
/// A line number becomes a row of cells, and a percentage remains one. The box follows from position, size and position
/// alignment (WebVTT §6.1, "computed position").
enum CuePlacement {
    static func region(of settings: WebVTTCueSettings, regions: [String: CaptionRegion]) -> CaptionRegion? {
        // A cue with its own position is in no region (WebVTT §6.3).
        if let name = settings.region, let region = regions[name], settings.line == nil, settings.vertical == nil,
            settings.size ?? 100 == 100
        {
            return region
        }
        guard settings.vertical != nil || settings.line != nil || settings.position != nil || settings.size != nil
        else {
            return nil
        }
        var region = CaptionRegion()
        switch settings.vertical {
        case .growingLeft: region.writingMode = .topToBottomAndRightToLeft
        case .growingRight: region.writingMode = .topToBottomAndLeftToRight
        case nil: break
        }
        placeLine(settings, &region)
        if settings.position != nil || settings.size != nil { placeBox(settings, &region) }
        return region
    }

    private static func placeLine(_ settings: WebVTTCueSettings, _ region: inout CaptionRegion) {
        switch settings.line {
        case .number(let number): region.origin.y = .cells(min(max(number, -10_000), 10_000))
        case .percentage(let line):
            switch settings.lineAlignment ?? .start {
            case .start: region.origin.y = .percent(line)
            case .center:
                region.displayAlignment = .center
                region.origin.y = .percent(max(0, 2 * line - 100))
                region.size.height = .percent(min(2 * line, 200 - 2 * line))
            case .end:
                region.displayAlignment = .after
                region.origin.y = .percent(0)
                region.size.height = .percent(line)
            }
        case nil: break
        }
    }

    private static func placeBox(_ settings: WebVTTCueSettings, _ region: inout CaptionRegion) {
        let alignment = settings.alignment ?? .center
        let position: Double =
            switch (settings.position, alignment) {
            case (let position?, _): position
            case (nil, .start), (nil, .left): 0
            case (nil, .end), (nil, .right): 100
            case (nil, .center): 50
            }
        let side: WebVTTCueSettings.PositionAlignment =
            switch (settings.positionAlignment, alignment) {
            case (let side?, _): side
            case (nil, .start), (nil, .left): .lineLeft
            case (nil, .end), (nil, .right): .lineRight
            case (nil, .center): .center
            }
        let room: Double =
            switch side {
            case .lineLeft: 100 - position
            case .lineRight: position
            case .center: 2 * min(position, 100 - position)
            }
        let width = min(settings.size ?? 100, room)
        let left: Double =
            switch side {
            case .lineLeft: position
            case .lineRight: position - width
            case .center: position - width / 2
            }
        region.origin.x = .percent(left)
        region.size.width = .percent(width)
    }

    static func alignment(of settings: WebVTTCueSettings) -> Caption.TextAlignment? {
        switch settings.alignment {
        case .start: .start
        case .center: .center
        case .end: .end
        case .left: .left
        case .right: .right
        case nil: nil
        }
    }

    /// Reads the text of a `REGION` block. Returns nil without an identifier. Line ends or blanks separate settings.
    static func region(parsing text: String) -> CaptionRegion? {
        // The defaults of WebVTT §6.2.
        var width = 100.0
        var lines = 3.0
        var anchor = (x: 0.0, y: 100.0)
        var viewport = (x: 0.0, y: 100.0)
        var region = CaptionRegion()
        for setting in text.split(whereSeparator: { $0.isWhitespace }) {
            guard let colon = setting.firstIndex(where: { $0 == ":" || $0 == "=" }) else { continue }
            let value = setting[setting.index(after: colon)...]
            switch setting[..<colon] {
            case "id": region.identifier = value.isEmpty ? nil : String(value)
            case "width": width = percentage(value) ?? width
            case "lines": lines = Int(value).flatMap { (0...100).contains($0) ? Double($0) : nil } ?? lines
            case "regionanchor": anchor = pair(value) ?? anchor
            case "viewportanchor": viewport = pair(value) ?? viewport
            case "scroll": region.scroll = value == "up" ? .rollUp : region.scroll
            default: break
            }
        }
        guard region.identifier != nil else { return nil }
        let height = lines * 100 / Double(CaptionGrid.rowCount)
        region.origin = CaptionPoint(
            x: .percent(viewport.x - anchor.x * width / 100), y: .percent(viewport.y - anchor.y * height / 100))
        region.size = CaptionSize(width: .percent(width), height: .cells(lines))
        return region
    }

    private static func percentage(_ text: Substring) -> Double? {
        guard text.hasSuffix("%"), let value = Double(text.dropLast()), (0...100).contains(value) else { return nil }
        return value
    }

    private static func pair(_ text: Substring) -> (x: Double, y: Double)? {
        let parts = text.split(separator: ",")
        guard parts.count == 2, let x = percentage(parts[0]), let y = percentage(parts[1]) else { return nil }
        return (x, y)
    }

    // MARK: Writing

    /// Whether cue settings cannot express a region because it scrolls, or has a name and a height in lines.
    static func needsBlock(_ region: CaptionRegion) -> Bool {
        guard region.writingMode == .leftToRightAndTopToBottom else { return false }
        return region.scroll == .rollUp || region.identifier != nil && region.size.height.units == .cells
    }

    static func block(_ region: CaptionRegion, name: String) -> String {
        let rows = CaptionGrid.rowCount
        let width = region.size.width.percentage(cellCount: CaptionGrid.columnCount) ?? 100
        let height = region.size.height.percentage(cellCount: rows).map { $0 * Double(rows) / 100 } ?? 3
        let lines = Int(min(max(height.rounded(), 1), Double(rows)))
        let x = region.origin.x.percentage(cellCount: CaptionGrid.columnCount) ?? 0
        let y = region.origin.y.percentage(cellCount: rows) ?? 100 - Double(lines) * 100 / Double(rows)
        var text = "REGION\nid:\(name)\nwidth:\(number(width))%\nlines:\(lines)\nregionanchor:0%,0%"
        text += "\nviewportanchor:\(number(x))%,\(number(y))%"
        if region.scroll == .rollUp { text += "\nscroll:up" }
        return text
    }

    /// The settings after the times of a cue, with a space before each.
    static func settings(of caption: Caption, regionName: String?) -> String {
        var text = ""
        if let regionName {
            text += " region:\(regionName)"
        } else if let region = caption.region {
            text += settings(of: region)
        }
        switch caption.textAlignment {
        case .start: text += " align:start"
        case .center: text += " align:center"
        case .end: text += " align:end"
        case .left: text += " align:left"
        case .right: text += " align:right"
        case nil: break
        }
        return text
    }

    private static func settings(of region: CaptionRegion) -> String {
        var text = ""
        switch region.writingMode {
        case .leftToRightAndTopToBottom: break
        case .topToBottomAndRightToLeft: text += " vertical:rl"
        case .topToBottomAndLeftToRight: text += " vertical:lr"
        }
        text += line(of: region)
        let columns = CaptionGrid.columnCount
        if let x = region.origin.x.percentage(cellCount: columns) {
            let width = region.size.width.percentage(cellCount: columns) ?? 100 - x
            text += " position:\(number(x))%,line-left size:\(number(min(width, 100 - min(max(x, 0), 100))))%"
        }
        return text
    }

    private static func line(of region: CaptionRegion) -> String {
        let rows = CaptionGrid.rowCount
        let height = region.size.height.percentage(cellCount: rows)
        let top = region.origin.y.percentage(cellCount: rows)
        switch (region.displayAlignment ?? .before, height) {
        case (.after, let height?): return " line:\(number((top ?? 0) + height))%,end"
        case (.center, let height?): return " line:\(number((top ?? 0) + height / 2))%,center"
        default:
            guard let top else { return "" }
            switch region.origin.y.units {
            case .unspecified: return ""
            case .percent: return " line:\(number(region.origin.y.value))%"
            // WebVTT lines have another height than the rows of the grid. Regions read from WebVTT have no height.
            case .cells where region.size.height.units != .unspecified: return " line:\(number(top))%"
            case .cells:
                let value = region.origin.y.value.rounded()
                return " line:\(Int(min(max(value, -100), 100)))"
            }
        }
    }

    /// Formats a percentage from 0 to 100, rounded to a thousandth.
    static func number(_ value: Double) -> String {
        DecimalText.text(value.isNaN ? 0 : min(max(value, 0), 100), places: 3)
    }
}
