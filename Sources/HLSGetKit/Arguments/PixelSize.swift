package import HLSKitCore

extension PixelSize {
    /// Parses `1280x720`, in pixels.
    package init(parsing text: String) throws(ArgumentValueError) {
        let sides = text.split(separator: "x", omittingEmptySubsequences: false)
        guard sides.count == 2, let width = Self.side(sides[0]), let height = Self.side(sides[1]) else {
            throw ArgumentValueError("not a size; write WIDTHxHEIGHT in pixels, as in 1280x720")
        }
        self.init(width: width, height: height)
    }

    private static func side(_ text: Substring) -> Int? {
        guard text.allSatisfy({ $0.isASCII && $0.isNumber }), let value = Int(text), (1...65_535).contains(value) else {
            return nil
        }
        return value
    }
}

/// The size of the video on a display in points, and the pixels per point: `640x360@2`.
package struct DisplaySize: Sendable, Equatable {
    package var size: PixelSize
    package var scale: Double

    init(size: PixelSize, scale: Double = 1) {
        self.size = size
        self.scale = scale
    }

    package init(parsing text: String) throws(ArgumentValueError) {
        let parts = text.split(separator: "@", maxSplits: 1, omittingEmptySubsequences: false)
        size = try PixelSize(parsing: String(parts.first ?? ""))
        scale = 1
        guard parts.count == 2 else { return }
        guard parts[1].allSatisfy({ $0.isASCII && ($0.isNumber || $0 == ".") }), let scale = Double(parts[1]),
            (0.1...16).contains(scale)
        else { throw ArgumentValueError("the scale after @ must be a number from 0.1 to 16, as in 640x360@2") }
        self.scale = scale
    }
}
