/// A length or a place on the screen.
///
/// Source: AVFoundation's `AVCaptionDimension`.
public struct CaptionDimension: Sendable, Hashable {
    /// The unit of a value.
    public enum Units: Sendable, Hashable {
        /// Nothing is said; the value does not count.
        case unspecified
        /// Cells of a grid of 32 columns and 15 rows. A negative place is counted from the far edge, −1 is the last.
        case cells
        /// Percent of the screen's width or height.
        case percent
    }

    /// The number, in ``units``.
    public var value: Double
    /// The unit of ``value``.
    public var units: Units

    /// Makes a dimension.
    public init(value: Double, units: Units) {
        self.value = value
        self.units = units
    }

    /// Not said.
    public static let unspecified = CaptionDimension(value: 0, units: .unspecified)
    /// Cells of the grid that the captions of television are placed on.
    public static func cells(_ value: Double) -> CaptionDimension { CaptionDimension(value: value, units: .cells) }
    /// Percent of the screen's width or height.
    public static func percent(_ value: Double) -> CaptionDimension { CaptionDimension(value: value, units: .percent) }

    /// In percent, where the screen is `cellCount` cells long; nil if unspecified, and for what is not a number.
    package func percentage(cellCount: Int) -> Double? {
        guard value.isFinite else { return nil }
        return switch units {
        case .unspecified: nil
        case .percent: value
        case .cells: (value < 0 ? Double(cellCount) + value : value) * 100 / Double(cellCount)
        }
    }
}

/// A place on the screen, from its top left corner.
public struct CaptionPoint: Sendable, Hashable {
    /// Distance from the left edge.
    public var x: CaptionDimension
    /// Distance from the top edge.
    public var y: CaptionDimension

    /// Makes a point; what is unspecified is up to the format.
    public init(x: CaptionDimension = .unspecified, y: CaptionDimension = .unspecified) {
        self.x = x
        self.y = y
    }
}

/// An extent on the screen.
public struct CaptionSize: Sendable, Hashable {
    /// Extent from left to right.
    public var width: CaptionDimension
    /// Extent from top to bottom.
    public var height: CaptionDimension

    /// Makes a size; what is unspecified is up to the format.
    public init(width: CaptionDimension = .unspecified, height: CaptionDimension = .unspecified) {
        self.width = width
        self.height = height
    }
}

/// The grid that cells are counted on.
///
/// Source: ANSI/CTA-608-E §C; TTML1 §6.2.1 (`ttp:cellResolution`, whose default is the same).
package enum CaptionGrid {
    /// Columns of the screen.
    package static let columnCount = 32
    /// Rows of the screen.
    package static let rowCount = 15
}
