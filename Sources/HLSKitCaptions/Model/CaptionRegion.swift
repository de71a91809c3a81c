/// The part of the screen that a caption is laid out in.
///
/// Source: AVFoundation's `AVCaptionRegion`.
public struct CaptionRegion: Sendable, Hashable {
    /// How new lines come in.
    public enum Scroll: Sendable, Hashable {
        case none
        /// Lines move up to make room.
        case rollUp
    }

    /// Alignment of the text in the region, in the direction in which lines follow one another.
    public enum DisplayAlignment: Sendable, Hashable {
        /// At the region's beginning.
        case before
        case center
        /// At the region's end.
        case after
    }

    /// The direction of text and of lines.
    public enum WritingMode: Sendable, Hashable {
        case leftToRightAndTopToBottom
        /// Vertical lines that follow one another from right to left.
        case topToBottomAndRightToLeft
        /// Vertical lines that follow one another from left to right.
        case topToBottomAndLeftToRight
    }

    /// The name that files give the region; nil if it has none.
    public var identifier: String?
    /// The top left corner.
    public var origin: CaptionPoint
    /// Extent of the region; unspecified by default.
    public var size: CaptionSize
    /// How new lines come in; by default they replace the old ones.
    public var scroll: Scroll
    /// nil stands for the default of the format.
    public var displayAlignment: DisplayAlignment?
    /// The direction of text and of lines; horizontal by default.
    public var writingMode: WritingMode

    /// Makes a region; by default its place is up to the format.
    public init(
        identifier: String? = nil, origin: CaptionPoint = .init(), size: CaptionSize = .init(),
        scroll: Scroll = .none, displayAlignment: DisplayAlignment? = nil,
        writingMode: WritingMode = .leftToRightAndTopToBottom
    ) {
        self.identifier = identifier
        self.origin = origin
        self.size = size
        self.scroll = scroll
        self.displayAlignment = displayAlignment
        self.writingMode = writingMode
    }

    /// The region `top` of iTunes Timed Text: the upper 15 percent of the screen.
    public static let appleITTTop = CaptionRegion(
        identifier: "top", origin: CaptionPoint(x: .percent(0), y: .percent(0)),
        size: CaptionSize(width: .percent(100), height: .percent(15)), displayAlignment: .before)
    /// The region `bottom` of iTunes Timed Text: the lower 15 percent of the screen.
    public static let appleITTBottom = CaptionRegion(
        identifier: "bottom", origin: CaptionPoint(x: .percent(0), y: .percent(85)),
        size: CaptionSize(width: .percent(100), height: .percent(15)), displayAlignment: .after)

    /// The first row of the grid of ``CaptionGrid`` that text in the region takes, if it takes `rowCount` rows; 0 is
    /// the topmost. The bottom rows where the region says nothing.
    func firstRow(rowCount: Int) -> Int {
        let rows = CaptionGrid.rowCount
        let last = max(0, rows - max(1, rowCount))
        func row(_ percent: Double) -> Int { Int((min(max(percent, -1000), 1000) * Double(rows) / 100).rounded()) }
        guard let top = origin.y.percentage(cellCount: rows) else { return last }
        guard let height = size.height.percentage(cellCount: rows) else { return min(max(0, row(top)), last) }
        let first =
            switch displayAlignment {
            case .before, nil: row(top)
            case .center: row(top + height / 2) - rowCount / 2
            case .after: row(top + height) - rowCount
            }
        return min(max(0, first), last)
    }

    /// The same place as a box that text is aligned in, where only a row is known, or nothing: without a row, text
    /// stands at the bottom; on one that is counted from below, more lines than one stand above it (WebVTT §7.2).
    package var anchored: CaptionRegion {
        guard writingMode == .leftToRightAndTopToBottom else { return self }
        var region = self
        let rows = Double(CaptionGrid.rowCount)
        if origin.y.units == .unspecified {
            region.origin.y = .percent(0)
            region.size.height = .percent(100)
            region.displayAlignment = displayAlignment ?? .after
        } else if origin.y.units == .cells, origin.y.value < 0, size.height.units == .unspecified {
            region.origin.y = .percent(0)
            region.size.height = .percent(min(max(rows + origin.y.value + 1, 0), rows) * 100 / rows)
            region.displayAlignment = .after
        }
        return region
    }
}
