import HLSKitLoading

/// A still image as a value: rows of pixels in memory.
public struct StillImage: Sendable, Hashable {
    /// The width in pixels, above zero.
    public let width: Int
    /// The height in pixels.
    public let height: Int
    /// The pixels, in rows from top to bottom without padding.
    ///
    /// Each pixel has four bytes: red, green, blue and alpha, in full range. Alpha is 255 in video frames because they
    /// are opaque. Colors are not multiplied by alpha.
    public let pixels: [UInt8]
    /// The primaries of the pixels.
    public let colorPrimaries: ColorPrimaries
    /// The transfer function of the pixels.
    ///
    /// It has high dynamic range (``TransferFunction/isHighDynamicRange``) only if requested with
    /// ``DynamicRangePolicy/matchSource``.
    public let transferFunction: TransferFunction

    /// Creates an image with the colours of ITU-R BT.709 by default.
    ///
    /// The result is `nil` if a side is not above zero, or there are not four bytes for each pixel.
    public init?(
        width: Int, height: Int, pixels: [UInt8], colorPrimaries: ColorPrimaries = .bt709,
        transferFunction: TransferFunction = .bt709
    ) {
        let (count, overflow) = width.multipliedReportingOverflow(by: height)
        let (byteCount, overflow2) = count.multipliedReportingOverflow(by: 4)
        guard width > 0, height > 0, !overflow, !overflow2, pixels.count == byteCount else { return nil }
        self.width = width
        self.height = height
        self.pixels = pixels
        self.colorPrimaries = colorPrimaries
        self.transferFunction = transferFunction
    }

    /// Returns an image of the same size and colours with other pixels, or `nil` if the number of bytes differs.
    public func replacingPixels(_ pixels: [UInt8]) -> StillImage? {
        StillImage(
            width: width, height: height, pixels: pixels, colorPrimaries: colorPrimaries,
            transferFunction: transferFunction)
    }

    func turned(byQuarters quarters: Int) -> StillImage {
        let quarters = ((quarters % 4) + 4) % 4
        guard quarters != 0 else { return self }
        let isUpright = quarters == 2
        let (newWidth, newHeight) = isUpright ? (width, height) : (height, width)
        var turned = [UInt8](repeating: 0, count: pixels.count)
        for y in 0..<newHeight {
            for x in 0..<newWidth {
                let (sourceX, sourceY) =
                    switch quarters {
                    case 1: (y, height - 1 - x)
                    case 2: (width - 1 - x, height - 1 - y)
                    default: (width - 1 - y, x)
                    }
                let (from, to) = ((sourceY * width + sourceX) * 4, (y * newWidth + x) * 4)
                for channel in 0..<4 { turned[to + channel] = pixels[from + channel] }
            }
        }
        return StillImage(
            width: newWidth, height: newHeight, pixels: turned, colorPrimaries: colorPrimaries,
            transferFunction: transferFunction) ?? self
    }
}

extension PixelSize {
    /// Returns the size reduced to fit into `limit`, with the same aspect ratio.
    ///
    /// - Parameter limit: The limit. A side of 0 sets no limit.
    func fitted(into limit: PixelSize) -> PixelSize {
        guard width > 0, height > 0 else { return self }
        var scale = 1.0
        if limit.width > 0 { scale = min(scale, Double(limit.width) / Double(width)) }
        if limit.height > 0 { scale = min(scale, Double(limit.height) / Double(height)) }
        return PixelSize(
            width: max(1, Int((Double(width) * scale).rounded())),
            height: max(1, Int((Double(height) * scale).rounded())))
    }
}
