/// The appearance of CEA-708 text. Without a colour it is white, and without a background black.
struct CEA708Pen: Hashable {
    var isItalic = false
    var isUnderlined = false
    var color: CaptionColor?
    var background: CaptionColor?

    var style: CaptionStyle {
        CaptionStyle(
            textColor: color, backgroundColor: background, fontStyle: isItalic ? .italic : .normal,
            decoration: isUnderlined ? .underline : [])
    }
}

/// One of the eight windows of a service.
///
/// Source: ANSI/CTA-708-E §8.4 (caption windows), §8.10.5 (commands).
struct CEA708Window: Hashable {
    struct Cell: Hashable {
        var scalar: Unicode.Scalar
        var pen: CEA708Pen
    }

    static let maxRowCount = 15
    static let maxColumnCount = 42

    var isVisible: Bool
    /// The priority, from 0 (highest) to 7.
    var priority: Int
    private(set) var rows: [[Cell?]]
    private let columnCount: Int
    private let region: CaptionRegion
    var justification = Caption.TextAlignment.left
    var row = 0
    var column = 0
    var pen = CEA708Pen()
    /// The cell after the most recently overwritten ones, counted through the rows.
    private var rewriting: Int?

    /// - Parameter bytes: The six parameters of `DefineWindow`.
    init(parameters bytes: [UInt8]) {
        // Two of the predefined window styles are centred (table 23).
        let style = bytes[5] >> 3 & 7
        if style == 3 || style == 6 { justification = .center }
        isVisible = bytes[0] & 0x20 != 0
        priority = Int(bytes[0] & 7)
        let rowCount = min(Int(bytes[3] & 0x0f) + 1, Self.maxRowCount)
        columnCount = min(Int(bytes[4] & 0x3f) + 1, Self.maxColumnCount)
        rows = Array(repeating: Array(repeating: nil, count: columnCount), count: rowCount)
        let isRelative = bytes[1] & 0x80 != 0
        // A grid of 75 by 210 cells on wide screens, or percent.
        let y = isRelative ? Double(bytes[1] & 0x7f) : Double(bytes[1] & 0x7f) * 100 / 75
        let x = isRelative ? Double(bytes[2]) : Double(bytes[2]) * 100 / 210
        let anchor = Int(bytes[3] >> 4)
        let height = Double(rowCount) * 100 / Double(Self.maxRowCount)
        let width = Double(columnCount) * 100 / Double(Self.maxColumnCount)
        let (down, across) = anchor < 9 ? (Double(anchor / 3) / 2, Double(anchor % 3) / 2) : (1, 0.5)
        func placed(_ place: Double, _ size: Double, _ share: Double) -> Double {
            min(max(0, min(place, 100) - size * share), 100 - size)
        }
        region = CaptionRegion(
            origin: CaptionPoint(x: .percent(placed(x, width, across)), y: .percent(placed(y, height, down))),
            size: CaptionSize(width: .percent(width), height: .percent(height)), displayAlignment: .before)
    }

    /// Whether the window keeps its text when it is defined again.
    func hasSameShape(as other: CEA708Window) -> Bool {
        rows.count == other.rows.count && columnCount == other.columnCount
    }

    mutating func keepText(of other: CEA708Window) {
        rows = other.rows
        (row, column, pen) = (other.row, other.column, other.pen)
    }

    mutating func clear() {
        rows = Array(repeating: Array(repeating: nil, count: columnCount), count: rows.count)
        row = 0
        column = 0
    }

    func looks(as other: CEA708Window) -> Bool {
        isVisible == other.isVisible
            && (!isVisible || region == other.region && justification == other.justification && rows == other.rows)
    }

    var hasText: Bool { rows.contains { $0.contains { $0.map { $0.scalar != " " } ?? false } } }

    /// Whether a character would replace another one. After the first replacement, further ones do not count.
    func writesOver(with scalar: Unicode.Scalar) -> Bool {
        guard rows.indices.contains(row), (0..<columnCount).contains(column), rewriting != cell else { return false }
        return rows[row][column].map { $0.scalar != " " && $0.scalar != scalar } ?? false
    }

    private var cell: Int { row * Self.maxColumnCount + column }

    mutating func write(_ scalar: Unicode.Scalar) {
        guard rows.indices.contains(row) else { return }
        if rewriting == cell || writesOver(with: scalar) { rewriting = cell + 1 }
        rows[row][min(max(column, 0), columnCount - 1)] = Cell(scalar: scalar, pen: pen)
        column = min(column + 1, columnCount)
    }

    mutating func backspace() {
        guard column > 0, rows.indices.contains(row) else { return }
        column -= 1
        rows[row][column] = nil
    }

    mutating func restartLine() {
        guard rows.indices.contains(row) else { return }
        rows[row] = Array(repeating: nil, count: columnCount)
        column = 0
    }

    /// Moves to the next line. If there is none, the lines scroll up.
    mutating func nextLine() {
        column = 0
        if row + 1 < rows.count {
            row += 1
        } else {
            rows.removeFirst()
            rows.append(Array(repeating: nil, count: columnCount))
            row = rows.count - 1
        }
    }

    mutating func movePen(row: Int, column: Int) {
        self.row = min(row, rows.count - 1)
        self.column = min(column, columnCount - 1)
        rewriting = nil
    }

    func pieces() -> (pieces: [StyledText], region: CaptionRegion)? {
        var pieces: [StyledText] = []
        for line in rows {
            func isFilled(_ cell: Cell?) -> Bool { cell.map { $0.scalar != " " } ?? false }
            guard let first = line.firstIndex(where: isFilled), let last = line.lastIndex(where: isFilled) else {
                continue
            }
            if !pieces.isEmpty { pieces.append(StyledText(text: "\n", style: .plain)) }
            for cell in line[first...last] {
                pieces.append(
                    StyledText(text: String(Character(cell?.scalar ?? " ")), style: cell?.pen.style ?? .plain))
            }
        }
        return pieces.isEmpty ? nil : (pieces, region)
    }
}
