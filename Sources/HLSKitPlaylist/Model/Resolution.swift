/// A frame size in pixels.
public struct Resolution: Sendable, Hashable {
    /// The width in pixels.
    public var width: Int
    /// The height in pixels.
    public var height: Int

    /// Creates a size in pixels.
    public init(width: Int, height: Int) {
        self.width = width
        self.height = height
    }

    /// The number of pixels, or `Int.max` on overflow.
    package var pixelCount: Int {
        let (product, overflow) = width.multipliedReportingOverflow(by: height)
        return overflow ? .max : product
    }
}

extension Resolution: CustomStringConvertible {
    /// `1920x1080`
    public var description: String { "\(width)x\(height)" }
}

extension ReadingContext {
    /// Reads `WxH`. Reports any other text and returns nil.
    mutating func resolution(
        _ attribute: Attribute, _ bytes: borrowing Span<UInt8>
    ) throws(PlaylistError) -> Resolution? {
        let range = bytes.trimmed(attribute.value)
        if let cross = bytes.index(of: 0x78, in: range) ?? bytes.index(of: 0x58, in: range),
            let width = bytes.integer(in: range.lowerBound..<cross),
            let height = bytes.integer(in: cross + 1..<range.upperBound)
        {
            return Resolution(width: width, height: height)
        }
        try report(.number, "RESOLUTION is not a width and a height: \"\(bytes.excerpt(attribute.value))\"")
        return nil
    }
}
