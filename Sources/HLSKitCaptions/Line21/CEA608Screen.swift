import HLSKitTime

/// A stream of captions inside video: `CC1` to `CC4`, or `SERVICE1` to `SERVICE63`, as in `INSTREAM-ID`.
///
/// Source: RFC 8216 §4.3.4.1; ANSI/CTA-608-E, ANSI/CTA-708-E.
public struct ClosedCaptionService: RawRepresentable, Sendable, Hashable, CustomStringConvertible {
    public let rawValue: String
    public init(rawValue: String) { self.rawValue = rawValue }
    /// ``rawValue``.
    public var description: String { rawValue }

    /// CEA-608, field 1, channel 1: usually the main language.
    public static let cc1 = ClosedCaptionService(rawValue: "CC1")
    /// CEA-608, field 1, channel 2.
    public static let cc2 = ClosedCaptionService(rawValue: "CC2")
    /// CEA-608, field 2, channel 1: usually the second language.
    public static let cc3 = ClosedCaptionService(rawValue: "CC3")
    /// CEA-608, field 2, channel 2.
    public static let cc4 = ClosedCaptionService(rawValue: "CC4")

    /// A service of CEA-708, 1 to 63.
    public static func service(_ number: Int) -> ClosedCaptionService {
        ClosedCaptionService(rawValue: "SERVICE\(number)")
    }
}

/// A caption and its stream.
public struct ClosedCaption: Sendable, Hashable {
    /// The service that the caption belongs to.
    public var service: ClosedCaptionService
    /// The caption, with its times on the timeline of the input.
    public var caption: Caption

    package init(service: ClosedCaptionService, caption: Caption) {
        self.service = service
        self.caption = caption
    }
}

struct CEA608Pen: Hashable {
    /// The index in ``CEA608Color/foreground``. 7 is black.
    var color: UInt8 = 0
    var isItalic = false
    var isUnderlined = false
    /// The index in ``CEA608Color/background``. nil is the default, black.
    var background: UInt8?

    var style: CaptionStyle {
        var style = CaptionStyle()
        if color == 7 {
            style.textColor = .black
        } else if color > 0, Int(color) < CEA608Color.foreground.count {
            style.textColor = CEA608Color.foreground[Int(color)]
        }
        if let background, Int(background) < CEA608Color.background.count {
            style.backgroundColor = CEA608Color.background[Int(background)]
        }
        if isItalic { style.fontStyle = .italic }
        if isUnderlined { style.decoration = .underline }
        return style
    }
}

struct CEA608Screen: Hashable {
    struct Cell: Hashable {
        /// nil is transparent.
        var scalar: Unicode.Scalar?
        var pen = CEA608Pen()
    }

    private var cells = [Cell](repeating: Cell(), count: CaptionGrid.rowCount * CaptionGrid.columnCount)

    /// Cells outside the grid are empty, and setting them has no effect.
    subscript(row: Int, column: Int) -> Cell {
        get { contains(row, column) ? cells[row * CaptionGrid.columnCount + column] : Cell() }
        set { if contains(row, column) { cells[row * CaptionGrid.columnCount + column] = newValue } }
    }

    private func contains(_ row: Int, _ column: Int) -> Bool {
        (0..<CaptionGrid.rowCount).contains(row) && (0..<CaptionGrid.columnCount).contains(column)
    }

    var isEmpty: Bool { cells.allSatisfy { $0.scalar == nil || $0.scalar == " " } }

    func isBlank(row: Int, from column: Int) -> Bool {
        (0..<CaptionGrid.columnCount).dropFirst(column).allSatisfy { self[row, $0].scalar ?? " " == " " }
    }

    mutating func clear(row: Int, from column: Int = 0) {
        for column in max(0, column)..<max(0, column, CaptionGrid.columnCount) { self[row, column] = Cell() }
    }

    /// Moves the rows within `rows` up by one and leaves the last one empty. Clears all rows outside.
    mutating func rollUp(rows: ClosedRange<Int>) {
        for row in 0..<CaptionGrid.rowCount {
            for column in 0..<CaptionGrid.columnCount {
                let isKept = rows.contains(row) && row < rows.upperBound
                self[row, column] = isKept ? self[row + 1, column] : Cell()
            }
        }
    }

    /// Moves the contents of the rows that end at `base` so that they end at `newBase`.
    mutating func move(rowCount: Int, base: Int, to newBase: Int) {
        guard base != newBase else { return }
        var moved = CEA608Screen()
        for offset in 0..<rowCount {
            for column in 0..<CaptionGrid.columnCount {
                moved[newBase - offset, column] = self[base - offset, column]
            }
        }
        self = moved
    }

    private typealias Row = (row: Int, columns: Range<Int>)

    /// Returns a caption for each block of rows without an empty one in between. If no alignment produces the starts of
    /// the rows, each row is a caption.
    ///
    /// - Parameter keepsBlocks: Whether such rows stay together and begin at the same column.
    func captions(
        in timeRange: MediaTimeRange, scroll: CaptionRegion.Scroll, animation: Caption.Animation,
        keepsBlocks: Bool = false
    ) -> [Caption] {
        var captions: [Caption] = []
        var block: [Row] = []
        func add(_ rows: [Row], _ columns: Range<Int>, _ alignment: Caption.TextAlignment) {
            var caption = Caption(
                "", timeRange: timeRange, region: Self.region(rows, columns, scroll: scroll), textAlignment: alignment,
                animation: animation)
            caption.setPieces(pieces(of: rows))
            captions.append(caption)
        }
        for row in 0...CaptionGrid.rowCount {
            let filled = (0..<CaptionGrid.columnCount).filter { self[row, $0].scalar.map { $0 != " " } ?? false }
            if let first = filled.first, let last = filled.last {
                block.append((row, first..<last + 1))
            } else if !block.isEmpty {
                if let (columns, alignment) = Self.alignment(of: block, keepsBlocks: keepsBlocks) {
                    add(block, columns, alignment)
                } else {
                    for row in block { add([row], row.columns, .left) }
                }
                block = []
            }
        }
        return captions
    }

    /// The columns and the alignment that produce the rows' positions (see ``CEA608Layout``), or nil if none does.
    private static func alignment(
        of rows: [Row], keepsBlocks: Bool
    ) -> (columns: Range<Int>, alignment: Caption.TextAlignment)? {
        let left = rows.map(\.columns.lowerBound).min() ?? 0
        let right = rows.map(\.columns.upperBound).max() ?? 0
        if rows.allSatisfy({ $0.columns.lowerBound == left }) { return (left..<right, .left) }
        // The middle of the widest row may be half a cell to the left of the middle of all rows.
        for end in [right, right + 1] where end <= CaptionGrid.columnCount {
            if rows.allSatisfy({ $0.columns.lowerBound == (left + end - $0.columns.count) / 2 }) {
                return (left..<end, .center)
            }
        }
        if rows.allSatisfy({ $0.columns.upperBound == right }) { return (left..<right, .right) }
        return keepsBlocks ? (left..<right, .left) : nil
    }

    private static func region(
        _ rows: [Row], _ columns: Range<Int>, scroll: CaptionRegion.Scroll
    ) -> CaptionRegion {
        CaptionRegion(
            origin: CaptionPoint(x: .cells(Double(columns.lowerBound)), y: .cells(Double(rows.first?.row ?? 0))),
            size: CaptionSize(width: .cells(Double(columns.count)), height: .cells(Double(rows.count))), scroll: scroll)
    }

    private func pieces(of rows: [Row]) -> [StyledText] {
        var pieces: [StyledText] = []
        for (row, columns) in rows {
            if !pieces.isEmpty { pieces.append(StyledText(text: "\n", style: .plain)) }
            for column in columns {
                let cell = self[row, column]
                pieces.append(StyledText(text: String(Character(cell.scalar ?? " ")), style: cell.pen.style))
            }
        }
        return pieces
    }
}
