import HLSKitCore

/// Encodes an image as lines of characters with two pixels each. The character's colour is the upper pixel, its
/// background the lower one.
struct HalfBlockEncoder: Sendable {
    /// Whether the terminal can show `▀`. Otherwise a character is one pixel, the mean of both.
    var allowsUnicode = true

    /// One line for every two rows of the image. Each line resets the colours at its end.
    func lines(of image: StillImage) -> [[UInt8]] {
        stride(from: 0, to: image.height, by: 2).map { row in line(of: image, row: row) }
    }

    private struct Color: Equatable {
        var red: UInt8
        var green: UInt8
        var blue: UInt8
    }

    private func line(of image: StillImage, row: Int) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(image.width * 24)
        var (last, lastBelow): (Color?, Color?) = (nil, nil)
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
                if allowsUnicode, above != last {
                    Self.append("\u{1b}[38;2;", above, to: &bytes)
                    last = above
                }
                if below != lastBelow {
                    Self.append("\u{1b}[48;2;", below, to: &bytes)
                    lastBelow = below
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

    private static func append(_ start: StaticString, _ color: Color, to bytes: inout [UInt8]) {
        start.withUTF8Buffer { bytes.append(contentsOf: $0) }
        append(color.red, to: &bytes)
        bytes.append(UInt8(ascii: ";"))
        append(color.green, to: &bytes)
        bytes.append(UInt8(ascii: ";"))
        append(color.blue, to: &bytes)
        bytes.append(UInt8(ascii: "m"))
    }

    private static func append(_ number: UInt8, to bytes: inout [UInt8]) {
        let zero = UInt8(ascii: "0")
        if number >= 100 { bytes.append(zero + number / 100) }
        if number >= 10 { bytes.append(zero + number / 10 % 10) }
        bytes.append(zero + number % 10)
    }
}
