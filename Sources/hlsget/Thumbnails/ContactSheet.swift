import HLSKitCore

/// Images side by side in one: rows from left to right, tiles of one size. Where an image is missing the sheet is black.
struct ContactSheet {
    /// Where a tile is, in pixels.
    struct Place: Equatable {
        var x: Int
        var y: Int
        var width: Int
        var height: Int
    }

    /// Larger sheets are of no use to those who would show them.
    private static let longestSide = 32_768

    let columns: Int
    let tile: PixelSize
    let count: Int

    /// nil if there is no image, or the sheet would be too large.
    ///
    /// - Parameter columns: nil for about as many as rows.
    init?(of images: [Image?], columns: Int?) {
        let present = images.compactMap(\.self)
        guard let width = present.map(\.width).max(), let height = present.map(\.height).max() else { return nil }
        count = images.count
        var most = 1
        while most * most < count { most += 1 }
        self.columns = min(columns ?? most, count)
        tile = PixelSize(width: width, height: height)
        let size = size
        guard size.width <= Self.longestSide, size.height <= Self.longestSide else { return nil }
    }

    private var rows: Int { (count + columns - 1) / columns }
    var size: PixelSize { PixelSize(width: columns * tile.width, height: rows * tile.height) }

    func place(_ index: Int) -> Place {
        Place(
            x: index % columns * tile.width, y: index / columns * tile.height, width: tile.width, height: tile.height)
    }

    /// The sheet itself.
    func image(of images: [Image?]) -> Image? {
        let size = size
        var pixels = [UInt8](repeating: 0, count: size.width * size.height * 4)
        for index in stride(from: 3, to: pixels.count, by: 4) { pixels[index] = 255 }
        for (index, image) in images.enumerated() {
            guard let image else { continue }
            let place = place(index)
            let x = place.x + (tile.width - image.width) / 2
            let y = place.y + (tile.height - image.height) / 2
            for row in 0..<image.height {
                let from = row * image.width * 4
                let to = ((y + row) * size.width + x) * 4
                pixels.replaceSubrange(to..<to + image.width * 4, with: image.pixels[from..<from + image.width * 4])
            }
        }
        return Image(width: size.width, height: size.height, pixels: pixels)
    }

    /// A WebVTT file in which each cue names the place of the image for its time (media fragments, `#xywh=`).
    func storyboard(_ spans: [Range<Duration>], sheet: String) -> String {
        var text = "WEBVTT\n"
        for (index, span) in spans.enumerated() where !span.isEmpty {
            let place = place(index)
            text += "\n\(Self.time(span.lowerBound)) --> \(Self.time(span.upperBound))\n"
            text += "\(sheet)#xywh=\(place.x),\(place.y),\(place.width),\(place.height)\n"
        }
        return text
    }

    /// `01:02:03.004`
    private static func time(_ time: Duration) -> String {
        let (seconds, attoseconds) = time.components
        func digits(_ number: Int64, _ count: Int) -> String {
            String(repeating: "0", count: max(0, count - String(number).count)) + String(number)
        }
        return digits(seconds / 3600, 2) + ":" + digits(seconds / 60 % 60, 2) + ":" + digits(seconds % 60, 2) + "."
            + digits(attoseconds / 1_000_000_000_000_000, 3)
    }
}
