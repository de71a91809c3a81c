/// A length or a position on the screen.
///
/// Source: AVFoundation's `AVCaptionDimension`.
public struct CaptionDimension: Sendable, Hashable {
    /// The unit of a value.
    public enum Units: Sendable, Hashable {
        /// Unspecified. The value is ignored.
        case unspecified
        /// Cells of a grid of 32 columns and 15 rows.
        ///
        /// A negative position counts from the far edge, so −1 is the last cell.
        case cells
        /// Percent of the screen's width or height.
        case percent
    }

    /// The number, in ``units``.
    public var value: Double
    /// The unit of ``value``.
    public var units: Units

    /// Creates a dimension.
    public init(value: Double, units: Units) {
        self.value = value
        self.units = units
    }

    /// A dimension without a value.
    public static let unspecified = CaptionDimension(value: 0, units: .unspecified)
    /// Creates a dimension in cells of the grid of television captions.
    public static func cells(_ value: Double) -> CaptionDimension { CaptionDimension(value: value, units: .cells) }
    /// Creates a dimension in percent of the screen's width or height.
    public static func percent(_ value: Double) -> CaptionDimension { CaptionDimension(value: value, units: .percent) }

    /// The value in percent of a screen with `cellCount` cells, or nil if it is unspecified or not a number.
    package func percentage(cellCount: Int) -> Double? {
        guard value.isFinite else { return nil }
        return switch units {
        case .unspecified: nil
        case .percent: value
        case .cells: (value < 0 ? Double(cellCount) + value : value) * 100 / Double(cellCount)
        }
    }
}

/// A position on the screen, relative to its top left corner.
public struct CaptionPoint: Sendable, Hashable {
    /// The distance from the left edge.
    public var x: CaptionDimension
    /// Distance from the top edge.
    public var y: CaptionDimension

    /// Creates a point.
    ///
    /// The format decides unspecified values.
    public init(x: CaptionDimension = .unspecified, y: CaptionDimension = .unspecified) {
        self.x = x
        self.y = y
    }
}

/// An extent on the screen.
public struct CaptionSize: Sendable, Hashable {
    /// The extent from left to right.
    public var width: CaptionDimension
    /// Extent from top to bottom.
    public var height: CaptionDimension

    /// Creates a size.
    ///
    /// The format decides unspecified values.
    public init(width: CaptionDimension = .unspecified, height: CaptionDimension = .unspecified) {
        self.width = width
        self.height = height
    }
}

/// The grid of the cells.
///
/// Source: ANSI/CTA-608-E §C; TTML1 §6.2.1 (`ttp:cellResolution`, which has the same default).
package enum CaptionGrid {
    package static let columnCount = 32
    package static let rowCount = 15
}
