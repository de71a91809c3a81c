import HLSKitCore

/// A rectangle of whole pixels with the memory layout of `SDL_Rect`.
struct WindowRect: Sendable, Equatable {
    var x: Int32
    var y: Int32
    var width: Int32
    var height: Int32

    init(x: Int, y: Int, width: Int, height: Int) {
        self.x = Int32(clamping: x)
        self.y = Int32(clamping: y)
        self.width = Int32(clamping: width)
        self.height = Int32(clamping: height)
    }

    func contains(x: Int, y: Int) -> Bool {
        x >= Int(self.x) && x < Int(self.x) + Int(width) && y >= Int(self.y) && y < Int(self.y) + Int(height)
    }
}

/// The positions of elements in a window, in pixels.
struct WindowLayout: Sendable, Equatable {
    /// Width and height are at least 1.
    let size: PixelSize

    init(size: PixelSize) { self.size = PixelSize(width: max(1, size.width), height: max(1, size.height)) }

    // MARK: Video

    /// The rectangle for a frame, centred and as large as fits. `frame` is the frame's presentation size.
    func video(_ frame: PixelSize) -> WindowRect {
        guard frame.width > 0, frame.height > 0 else {
            return WindowRect(x: 0, y: 0, width: size.width, height: size.height)
        }
        let scale = min(Double(size.width) / Double(frame.width), Double(size.height) / Double(frame.height))
        let width = min(size.width, max(1, Int((Double(frame.width) * scale).rounded())))
        let height = min(size.height, max(1, Int((Double(frame.height) * scale).rounded())))
        return WindowRect(x: (size.width - width) / 2, y: (size.height - height) / 2, width: width, height: height)
    }

    /// The rectangle that becomes `shown` when rotated around its centre.
    static func unturned(_ shown: WindowRect, rotation: Int) -> WindowRect {
        guard rotation % 180 != 0 else { return shown }
        let (width, height) = (Int(shown.height), Int(shown.width))
        return WindowRect(
            x: Int(shown.x) + (Int(shown.width) - width) / 2, y: Int(shown.y) + (Int(shown.height) - height) / 2,
            width: width, height: height)
    }

    // MARK: Text

    var letterHeight: Int { min(max(size.height / 34, 13), 32) }

    var textBottom: Int { Int(bar.y) - 4 }

    /// How far captions in `video` move up to avoid text of this height at the bottom.
    func lift(of video: WindowRect, aboveText height: Int) -> Int {
        max(0, Int(video.y) + Int(video.height) - (textBottom - height))
    }

    // MARK: The bar

    private var margin: Int { min(24, size.width / 20) }

    var bar: WindowRect {
        let height = min(8, max(4, size.height / 90))
        return WindowRect(
            x: margin, y: max(0, size.height - height - min(20, size.height / 16)),
            width: max(1, size.width - 2 * margin), height: height)
    }

    var barTarget: WindowRect {
        let bar = bar
        return WindowRect(
            x: Int(bar.x) - 4, y: Int(bar.y) - 12, width: Int(bar.width) + 8, height: Int(bar.height) + 24)
    }

    /// The fraction of the timeline at a column, clamped to 0 through 1.
    func fraction(atX x: Int) -> Double {
        let bar = bar
        return min(max((Double(x - Int(bar.x)) + 0.5) / Double(bar.width), 0), 1)
    }

    func barPart(_ range: Range<Double>, of timeline: Range<Double>) -> WindowRect? {
        let length = timeline.upperBound - timeline.lowerBound
        guard length > 0 else { return nil }
        let bar = bar
        func column(_ time: Double) -> Int {
            Int((min(max((time - timeline.lowerBound) / length, 0), 1) * Double(bar.width)).rounded())
        }
        let (from, to) = (column(range.lowerBound), column(range.upperBound))
        guard to > from else { return nil }
        return WindowRect(x: Int(bar.x) + from, y: Int(bar.y), width: to - from, height: Int(bar.height))
    }

    /// The position of an image above the column of the pointer, inside the window.
    func thumbnail(_ image: PixelSize, aboveX x: Int) -> WindowRect {
        let left = min(max(x - image.width / 2, margin / 2), max(margin / 2, size.width - image.width - margin / 2))
        return WindowRect(
            x: left, y: max(0, Int(bar.y) - 2 * letterHeight - image.height - 16), width: image.width,
            height: image.height)
    }
}
