import HLSKitTime

/// Captions on the grid of CEA-608, as far as it can represent them.
///
/// Lines are wrapped at 32 columns, and unsupported characters are replaced. The available styles are seven colours or
/// italics, and underlines. Styles change only at blanks.
struct CEA608Layout: Hashable {
    enum Finding: Hashable {
        /// A character was replaced or dropped.
        case character
        /// A line was broken since it is longer than 32 columns.
        case width
        /// Text was dropped because there are only 15 rows.
        case height
    }

    struct Line: Hashable {
        var row: Int
        var column: Int
        var cells: [CEA608Screen.Cell]
    }

    private(set) var lines: [Line] = []
    private(set) var findings: Set<Finding> = []

    init(_ captions: [Caption]) {
        for caption in captions { add(caption) }
    }

    var isEmpty: Bool { lines.isEmpty }

    var screen: CEA608Screen {
        var screen = CEA608Screen()
        for line in lines {
            for (offset, cell) in line.cells.enumerated() { screen[line.row, line.column + offset] = cell }
        }
        return screen
    }

    private mutating func add(_ caption: Caption) {
        var rows: [[CEA608Screen.Cell]] = []
        for line in caption.linesOfPieces {
            let cells = cells(of: line)
            let parts = Self.wrapped(cells)
            if parts.count > 1 { findings.insert(.width) }
            rows += parts
            if rows.count > CaptionGrid.rowCount { break }
        }
        if rows.count > CaptionGrid.rowCount {
            findings.insert(.height)
            rows.removeSubrange(CaptionGrid.rowCount...)
        }
        guard !rows.isEmpty else { return }
        let region = caption.region ?? .appleITTBottom
        guard let first = freeRow(near: region.firstRow(rowCount: rows.count), count: rows.count) else {
            findings.insert(.height)
            return
        }
        for (offset, cells) in rows.enumerated() {
            let column = Self.column(of: cells.count, caption)
            lines.append(Line(row: first + offset, column: column, cells: Self.achievable(cells)))
        }
    }

    private func freeRow(near row: Int, count: Int) -> Int? {
        let taken = Set(lines.map(\.row))
        let candidates = (0...(CaptionGrid.rowCount - count)).sorted { abs($0 - row) < abs($1 - row) }
        return candidates.first { first in !(first..<first + count).contains { taken.contains($0) } }
    }

    private static func column(of width: Int, _ caption: Caption) -> Int {
        let columns = CaptionGrid.columnCount
        func cell(_ dimension: CaptionDimension) -> Int? {
            dimension.percentage(cellCount: columns).map {
                Int((min(max($0, -1000), 1000) * Double(columns) / 100).rounded())
            }
        }
        let left = caption.region.flatMap { cell($0.origin.x) } ?? 0
        let right = left + (caption.region.flatMap { cell($0.size.width) } ?? columns - left)
        let column: Int =
            switch caption.textAlignment {
            case .left, .start: left
            case .right, .end: right - width
            case .center, nil: (left + right - width) / 2
            }
        return min(max(0, column), columns - width)
    }

    // MARK: Characters

    private mutating func cells(of line: [StyledText]) -> [CEA608Screen.Cell] {
        var cells: [CEA608Screen.Cell] = []
        for piece in line {
            let pen = Self.pen(for: piece.style)
            for scalar in piece.text.unicodeScalars {
                if CEA608Characters.code(of: scalar) != nil, scalar != "\u{a0}" {
                    cells.append(CEA608Screen.Cell(scalar: scalar, pen: pen))
                    continue
                }
                let replacement = CEA608Characters.replacement(for: scalar)
                if replacement != "", replacement != " " { findings.insert(.character) }
                for other in (replacement ?? "?").unicodeScalars {
                    cells.append(CEA608Screen.Cell(scalar: other, pen: pen))
                }
            }
        }
        func isBlank(_ cell: CEA608Screen.Cell) -> Bool { cell.scalar == " " }
        while cells.last.map(isBlank) == true { cells.removeLast() }
        return Array(cells.drop(while: isBlank))
    }

    /// Italics have no colour, so a colour takes precedence.
    private static func pen(for style: CaptionStyle) -> CEA608Pen {
        var pen = CEA608Pen()
        if let color = style.textColor?.nearest(of: CEA608Color.foreground) {
            pen.color = UInt8(CEA608Color.foreground.firstIndex(of: color) ?? 0)
        }
        pen.isItalic = style.fontStyle == .italic && pen.color == 0
        pen.isUnderlined = style.decoration.contains(.underline)
        return pen
    }

    private static func wrapped(_ cells: [CEA608Screen.Cell]) -> [[CEA608Screen.Cell]] {
        var lines: [[CEA608Screen.Cell]] = []
        var rest = cells[...]
        let width = CaptionGrid.columnCount
        while rest.count > width {
            let head = rest.prefix(width + 1)
            if let blank = head.lastIndex(where: { $0.scalar == " " }), blank > rest.startIndex {
                var line = rest[..<blank]
                while line.last?.scalar == " " { line.removeLast() }
                lines.append(Array(line))
                rest = rest[blank...].drop { $0.scalar == " " }
            } else {
                lines.append(Array(rest.prefix(width)))
                rest = rest.dropFirst(width)
            }
        }
        if !rest.isEmpty { lines.append(Array(rest)) }
        return lines
    }

    /// Returns cells whose style changes only where possible: the code for it replaces a blank.
    private static func achievable(_ cells: [CEA608Screen.Cell]) -> [CEA608Screen.Cell] {
        var cells = cells
        guard var pen = cells.first?.pen else { return cells }
        for index in cells.indices {
            let wanted = cells[index].pen
            if cells[index].scalar != " ", wanted != pen, index > 0, cells[index - 1].scalar == " " {
                // Italics keep the current color.
                pen = wanted.isItalic && pen.color != 0 ? CEA608Pen(isUnderlined: wanted.isUnderlined) : wanted
            }
            cells[index].pen = pen
        }
        return cells
    }
}
