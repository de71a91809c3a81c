import HLSKitCore

/// Digits of three by five dots, just enough to show a position.
enum Lettering {
    /// Rows from top to bottom. Each number holds three dots, the left dot first.
    private static let glyphs: [Character: [UInt8]] = [
        "0": [7, 5, 5, 5, 7], "1": [2, 6, 2, 2, 7], "2": [7, 1, 7, 4, 7], "3": [7, 1, 7, 1, 7], "4": [5, 5, 7, 1, 1],
        "5": [7, 4, 7, 1, 7], "6": [7, 4, 7, 5, 7], "7": [7, 1, 2, 2, 2], "8": [7, 5, 7, 5, 7], "9": [7, 5, 7, 1, 7],
        ".": [0, 0, 0, 0, 2], ",": [0, 0, 0, 2, 4], "-": [0, 0, 7, 0, 0], "+": [0, 2, 7, 2, 0],
    ]

    /// Draws white text on black in the lower left corner, and cuts off text that does not fit.
    static func draw(_ text: String, onto image: inout StillImage) {
        let dot = max(1, image.height / 90)
        let (left, top) = (dot * 2, max(0, image.height - dot * 9))
        var pixels = image.pixels
        func fill(_ x: Int, _ y: Int, _ width: Int, _ height: Int, _ value: UInt8) {
            for row in max(0, y)..<max(0, min(image.height, y + height)) {
                for column in max(0, x)..<max(0, min(image.width, x + width)) {
                    for channel in 0..<3 { pixels[(row * image.width + column) * 4 + channel] = value }
                }
            }
        }
        fill(left - dot, top - dot, dot * (text.count * 4 + 1), dot * 7, 0)
        for (index, character) in text.enumerated() {
            for (row, dots) in (glyphs[character] ?? []).enumerated() {
                for column in 0..<3 where dots & (4 >> column) != 0 {
                    fill(left + dot * (index * 4 + column), top + dot * row, dot, dot, 255)
                }
            }
        }
        image = image.replacingPixels(pixels) ?? image
    }
}
