import HLSKitCore

/// Encodes an image as lines of characters with two pixels each. The character's colour is the upper pixel, its
/// background the lower one.
struct HalfBlockEncoder: Sendable {
    /// Whether the terminal can show `▀`. Otherwise a character is one pixel, the mean of both.
    var allowsUnicode = true
    /// Whether the terminal has 24-bit colours. Otherwise the nearest of 256 colours is used.
    var allowsTrueColor = true

    /// One line for every two rows of the image. Each line resets the colours at its end.
    func lines(of image: StillImage) -> [[UInt8]] {
        stride(from: 0, to: image.height, by: 2).map { row in line(of: image, row: row) }
    }

    private struct Color: Equatable {
        var red: UInt8
        var green: UInt8
        var blue: UInt8

        /// The number of the nearest of the 256 colours of xterm: a cube of six levels a side, and 24 greys.
        var index: UInt8 {
            let levels = [0, 95, 135, 175, 215, 255]
            let parts = [Int(red), Int(green), Int(blue)]
            let cube = parts.map { $0 < 48 ? 0 : $0 < 115 ? 1 : ($0 - 35) / 40 }
            let grey = min(max((parts.reduce(0, +) / 3 - 3) / 10, 0), 23)
            func distance(_ other: [Int]) -> Int { zip(parts, other).reduce(0) { $0 + ($1.0 - $1.1) * ($1.0 - $1.1) } }
            let isGrey = distance([Int](repeating: 8 + 10 * grey, count: 3)) < distance(cube.map { levels[$0] })
            return UInt8(clamping: isGrey ? 232 + grey : 16 + 36 * cube[0] + 6 * cube[1] + cube[2])
        }
    }

    /// The text of a colour after `ESC [ 3 8 ;` or `ESC [ 4 8 ;`. Colours with the same text look the same.
    private enum PaletteColor: Equatable {
        case full(Color)
        case index(UInt8)
    }

    private func ink(_ color: Color) -> PaletteColor { allowsTrueColor ? .full(color) : .index(color.index) }

    private func line(of image: StillImage, row: Int) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(image.width * 24)
        var (last, lastBelow): (PaletteColor?, PaletteColor?) = (nil, nil)
        let hasBelow = row + 1 < image.height
        image.pixels.withUnsafeBufferPointer { pixels in
            func color(_ row: Int, _ column: Int) -> Color {
                let at = (row * image.width + column) * 4
                return Color(red: pixels[at], green: pixels[at + 1], blue: pixels[at + 2])
            }
            for column in 0..<image.width {
                var above = color(row, column)
                var below = hasBelow ? color(row + 1, column) : Color(red: 0, green: 0, blue: 0)
                if !allowsUnicode {
                    if hasBelow { below = Self.mean(above, below) } else { below = above }
                    above = below
                }
                let (ink, inkBelow) = (ink(above), ink(below))
                if allowsUnicode, ink != last {
                    Self.append("\u{1b}[38;", ink, to: &bytes)
                    last = ink
                }
                if inkBelow != lastBelow {
                    Self.append("\u{1b}[48;", inkBelow, to: &bytes)
                    lastBelow = inkBelow
                }
                bytes.append(contentsOf: (allowsUnicode ? "▀" : " ").utf8)
            }
        }
        bytes.append(contentsOf: "\u{1b}[0m".utf8)
        return bytes
    }

    private static func mean(_ one: Color, _ other: Color) -> Color {
        func mean(_ one: UInt8, _ other: UInt8) -> UInt8 { UInt8((Int(one) + Int(other) + 1) / 2) }
        return Color(
            red: mean(one.red, other.red), green: mean(one.green, other.green), blue: mean(one.blue, other.blue))
    }

    private static func append(_ start: StaticString, _ ink: PaletteColor, to bytes: inout [UInt8]) {
        start.withUTF8Buffer { bytes.append(contentsOf: $0) }
        switch ink {
        case .full(let color):
            bytes.append(contentsOf: "2;".utf8)
            append(color.red, to: &bytes)
            bytes.append(UInt8(ascii: ";"))
            append(color.green, to: &bytes)
            bytes.append(UInt8(ascii: ";"))
            append(color.blue, to: &bytes)
        case .index(let index):
            bytes.append(contentsOf: "5;".utf8)
            append(index, to: &bytes)
        }
        bytes.append(UInt8(ascii: "m"))
    }

    private static func append(_ number: UInt8, to bytes: inout [UInt8]) {
        let zero = UInt8(ascii: "0")
        if number >= 100 { bytes.append(zero + number / 100) }
        if number >= 10 { bytes.append(zero + number / 10 % 10) }
        bytes.append(zero + number % 10)
    }
}
