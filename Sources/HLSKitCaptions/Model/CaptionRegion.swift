/// The part of the screen in which a caption is laid out.
///
/// Source: AVFoundation's `AVCaptionRegion`.
public struct CaptionRegion: Sendable, Hashable {
    /// The way in which new lines appear.
    public enum Scroll: Sendable, Hashable {
        case none
        /// Lines move up to make room.
        case rollUp
    }

    /// The alignment of the text in the region, in the direction of line progression.
    public enum DisplayAlignment: Sendable, Hashable {
        /// At the start of the region.
        case before
        case center
        /// At the end of the region.
        case after
    }

    /// The direction of text and of lines.
    public enum WritingMode: Sendable, Hashable {
        case leftToRightAndTopToBottom
        /// Vertical lines that progress from right to left.
        case topToBottomAndRightToLeft
        /// Vertical lines that progress from left to right.
        case topToBottomAndLeftToRight
    }

    /// The name of the region in files, or `nil` if it has none.
    public var identifier: String?
    /// The top left corner of the region.
    public var origin: CaptionPoint
    /// The size of the region, which is unspecified by default.
    public var size: CaptionSize
    /// The way in which new lines appear.
    ///
    /// By default, new lines replace the old ones.
    public var scroll: Scroll
    /// The alignment of the text in the region.
    ///
    /// `nil` means the default of the format.
    public var displayAlignment: DisplayAlignment?
    /// The direction of text and lines.
    ///
    /// The default is horizontal.
    public var writingMode: WritingMode

    /// Creates a region.
    ///
    /// By default, the format decides its position.
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

    /// Returns the first row of the ``CaptionGrid`` for text with `rowCount` rows in the region, where 0 is the
    /// topmost. If the region specifies no position, these are the bottom rows.
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

    /// The equivalent region with a box in which text is aligned, if the region has only a row or no position. Without
    /// a row, text is at the bottom. A row counted from below has the additional lines above it (WebVTT §7.2).
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
