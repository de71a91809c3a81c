import HLSKitCore

/// Encodes an image as DEC's sixel graphics: strips of six rows, in which each colour is drawn separately.
///
/// The colours form a cube with six steps per side. A fixed dither pattern represents intermediate colours without
/// flicker.
///
/// Source: DEC, VT330/VT340 Programmer Reference Manual, volume 2, chapter 14.
struct SixelEncoder: Sendable {
    private static let steps = 6
    /// A pattern of 4 by 4 thresholds (Bayer), from 0 to 15.
    private static let pattern: [Int] = [0, 8, 2, 10, 12, 4, 14, 6, 3, 11, 1, 9, 15, 7, 13, 5]

    func bytes(of image: StillImage) -> [UInt8] {
        // Omit rows of an incomplete strip, because the terminal would draw a whole strip.
        let height = image.height >= 6 ? image.height / 6 * 6 : image.height
        var bytes: [UInt8] = []
        bytes.reserveCapacity(image.width * height / 2)
        bytes.append(contentsOf: "\u{1b}P0;1q\"1;1;\(image.width);\(height)".utf8)
        for color in 0..<Self.steps * Self.steps * Self.steps { bytes.append(contentsOf: Self.definition(of: color)) }
        let colors = Self.colors(of: image, height: height)
        var sixels = [UInt8](repeating: 0, count: image.width)
        for top in stride(from: 0, to: height, by: 6) {
            var isUsed = [Bool](repeating: false, count: Self.steps * Self.steps * Self.steps)
            let rows = top..<min(top + 6, height)
            for index in rows.lowerBound * image.width..<rows.upperBound * image.width {
                isUsed[Int(colors[index])] = true
            }
            var isFirst = true
            for color in isUsed.indices where isUsed[color] {
                for column in sixels.indices { sixels[column] = 0 }
                for row in rows {
                    for column in 0..<image.width where Int(colors[row * image.width + column]) == color {
                        sixels[column] |= 1 << UInt8(row - top)
                    }
                }
                if !isFirst { bytes.append(UInt8(ascii: "$")) }
                isFirst = false
                bytes.append(UInt8(ascii: "#"))
                bytes.append(contentsOf: String(color).utf8)
                Self.append(sixels, to: &bytes)
            }
            bytes.append(UInt8(ascii: "-"))
        }
        bytes.append(contentsOf: "\u{1b}\\".utf8)
        return bytes
    }

    /// Components are in percent.
    private static func definition(of color: Int) -> String.UTF8View {
        func percent(_ step: Int) -> Int { (step * 100 + (steps - 1) / 2) / (steps - 1) }
        let (red, green, blue) = (color / (steps * steps), color / steps % steps, color % steps)
        return "#\(color);2;\(percent(red));\(percent(green));\(percent(blue))".utf8
    }

    private static func colors(of image: StillImage, height: Int) -> [UInt8] {
        image.pixels.withUnsafeBufferPointer { pixels in
            [UInt8](unsafeUninitializedCapacity: image.width * height) { colors, count in
                for row in 0..<height {
                    for column in 0..<image.width {
                        let at = row * image.width + column
                        // Shift by up to half a step, depending on the position.
                        let threshold = (2 * pattern[row % 4 * 4 + column % 4] + 1) * 255 / 32
                        func step(_ value: UInt8) -> Int { (Int(value) * (steps - 1) + threshold) / 255 }
                        let (red, green) = (step(pixels[at * 4]), step(pixels[at * 4 + 1]))
                        let blue = step(pixels[at * 4 + 2])
                        let color =
                            min(red, steps - 1) * steps * steps + min(green, steps - 1) * steps + min(blue, steps - 1)
                        colors[at] = UInt8(clamping: color)
                    }
                }
                count = image.width * height
            }
        }
    }

    /// Encodes runs of more than three as a count.
    private static func append(_ sixels: [UInt8], to bytes: inout [UInt8]) {
        var column = 0
        let end = (sixels.lastIndex { $0 != 0 } ?? -1) + 1
        while column < end {
            var next = column + 1
            while next < end, sixels[next] == sixels[column] { next += 1 }
            let character = sixels[column] + 63
            if next - column > 3 {
                bytes.append(UInt8(ascii: "!"))
                bytes.append(contentsOf: String(next - column).utf8)
                bytes.append(character)
            } else {
                for _ in column..<next { bytes.append(character) }
            }
            column = next
        }
    }
}
