/// A rectangle in pixels, measured from the upper left corner.
public struct PixelRect: Sendable, Hashable, Codable {
    /// The left edge.
    public var x: Double
    /// The upper edge.
    public var y: Double
    /// The extent to the right.
    public var width: Double
    /// The extent downwards.
    public var height: Double

    /// Creates a rectangle.
    public init(x: Double, y: Double, width: Double, height: Double) {
        self.x = x
        self.y = y
        self.width = width
        self.height = height
    }

    package static let zero = PixelRect(x: 0, y: 0, width: 0, height: 0)
}
