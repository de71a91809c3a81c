/// Width and height in pixels.
public struct PixelSize: Sendable, Hashable, Codable {
    /// In pixels.
    public var width: Int
    /// In pixels.
    public var height: Int

    /// Makes a size in pixels.
    public init(width: Int, height: Int) {
        self.width = width
        self.height = height
    }

    /// No size.
    package static let zero = PixelSize(width: 0, height: 0)

    /// Width times height; the largest integer where that does not fit.
    package var pixelCount: Int {
        let (product, overflow) = width.multipliedReportingOverflow(by: height)
        return overflow ? .max : product
    }
}
