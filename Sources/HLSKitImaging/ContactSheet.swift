public import HLSKitCodec
public import HLSKitLoading

/// A grid of images in one image, in rows from left to right with tiles of equal size.
///
/// Missing images, and the area around an image smaller than its tile, are black.
///
/// ``webVTT(timeRanges:imageURI:)`` turns the sheet into a storyboard, which players use for the previews of a
/// scrubbing bar.
///
/// ```swift
/// let plan = StoryboardPlan(count: 12, duration: try await generator.loadTimeRange().duration)
/// var images: [Image?] = []
/// for await result in generator.images(for: plan.times) { images.append(result.image) }
/// let sheet = try ContactSheet(of: images, columnCount: 4)
/// let file = try sheet.image.encoded(as: .jpeg())
/// let index = sheet.webVTT(timeRanges: plan.timeRanges, imageURI: "sheet.jpg")
/// ```
public struct ContactSheet: Sendable, Hashable {
    static let empty = HLSError(code: .invalidArgument, cause: "there is no image for the sheet")
    static let tooLarge = HLSError(code: .invalidArgument, cause: "the sheet would be too large")

    /// The longest side of a sheet, in pixels. Few apps can show longer ones.
    package static let longestSide = 32_768

    /// The number of tiles in a row.
    public let columnCount: Int
    /// The size of each tile: the width of the widest image and the height of the highest one.
    public let tileSize: PixelSize
    /// The sheet itself.
    public let image: StillImage
    private let count: Int

    /// Creates a sheet.
    ///
    /// A sheet costs four bytes per pixel and a copy of the images.
    ///
    /// - Parameters:
    ///   - images: The images in the order of the tiles, or `nil` for a missing one. All have the colours of the first.
    ///   - columnCount: The number of tiles in a row, at least 1. The default, `nil`, creates about as many columns as
    ///     rows.
    /// - Throws: An error with the code `invalidArgument` if there is no image, or a side would exceed 32 768 pixels.
    public init(of images: [StillImage?], columnCount: Int? = nil) throws(HLSError) {
        let present = images.compactMap(\.self)
        guard let first = present.first, let width = present.map(\.width).max(),
            let height = present.map(\.height).max()
        else { throw Self.empty }
        count = images.count
        var most = 1
        while most * most < count { most += 1 }
        let columns = max(1, min(columnCount ?? most, count))
        let rows = (count + columns - 1) / columns
        // Sides are bounded first, so that no product overflows.
        guard width <= Self.longestSide / columns, height <= Self.longestSide / rows else {
            throw Self.tooLarge
        }
        self.columnCount = columns
        tileSize = PixelSize(width: width, height: height)
        let size = PixelSize(width: columns * width, height: rows * height)
        var pixels = [UInt8](repeating: 0, count: size.width * size.height * 4)
        for index in stride(from: 3, to: pixels.count, by: 4) { pixels[index] = 255 }
        for (index, image) in images.enumerated() {
            guard let image else { continue }
            let x = index % columns * width + (width - image.width) / 2
            let y = index / columns * height + (height - image.height) / 2
            for row in 0..<image.height {
                let from = row * image.width * 4
                let to = ((y + row) * size.width + x) * 4
                pixels.replaceSubrange(to..<to + image.width * 4, with: image.pixels[from..<from + image.width * 4])
            }
        }
        let sheet = StillImage(
            width: size.width, height: size.height, pixels: pixels, colorPrimaries: first.colorPrimaries,
            transferFunction: first.transferFunction)
        guard let sheet else { throw Self.tooLarge }
        image = sheet
    }

    /// Returns the rectangle of an image's tile, in pixels of the sheet, or `nil` if there is no such image.
    public func rect(ofTileAt index: Int) -> PixelRect? {
        guard (0..<count).contains(index) else { return nil }
        return PixelRect(
            x: Double(index % columnCount * tileSize.width), y: Double(index / columnCount * tileSize.height),
            width: Double(tileSize.width), height: Double(tileSize.height))
    }
}
