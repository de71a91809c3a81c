import Foundation
import HLSKitCore
import Synchronization
import Testing

@testable import HLSGetKit

@Suite("Images for terminals")
struct PreviewEncoderTests {
    private static func image(_ rows: [[UInt32]]) throws -> StillImage {
        let pixels = rows.joined().flatMap { color in
            [UInt8(color >> 16 & 255), UInt8(color >> 8 & 255), UInt8(color & 255), 255]
        }
        return try #require(StillImage(width: rows[0].count, height: rows.count, pixels: pixels))
    }

    // MARK: Half blocks

    @Test("two rows make a line; a colour is written when it changes")
    func halfBlocks() throws {
        let image = try Self.image([
            [0xFF0000, 0xFF0000, 0x00FF00], [0x0000FF, 0x0000FF, 0x0000FF], [0x01020A, 0, 0],
        ])
        let lines = HalfBlockEncoder().lines(of: image).map { String(decoding: $0, as: UTF8.self) }
        #expect(
            lines == [
                "\u{1b}[38;2;255;0;0m\u{1b}[48;2;0;0;255m▀▀\u{1b}[38;2;0;255;0m▀\u{1b}[0m",
                "\u{1b}[38;2;1;2;10m\u{1b}[48;2;0;0;0m▀\u{1b}[38;2;0;0;0m▀▀\u{1b}[0m",
            ])
    }

    @Test("without 24-bit colour the nearest of 256 colours is written")
    func indexedColors() throws {
        let colors: [(UInt32, Int)] = [
            (0x000000, 16), (0xFFFFFF, 231), (0xFF0000, 196), (0x00FF00, 46), (0x0000FF, 21), (0x5F87AF, 67),
            (0x808080, 244), (0x080808, 232), (0xEEEEEE, 255), (0x400000, 52), (0xFE0102, 196),
        ]
        let encoder = HalfBlockEncoder(allowsUnicode: false, allowsTrueColor: false)
        for (color, index) in colors {
            let line = try #require(encoder.lines(of: try Self.image([[color], [color]])).first)
            #expect(String(decoding: line, as: UTF8.self) == "\u{1b}[48;5;\(index)m \u{1b}[0m")
        }
        let line = HalfBlockEncoder(allowsTrueColor: false).lines(
            of: try Self.image([[0xFF0000, 0xFE0102], [0, 0]]))[0]
        #expect(String(decoding: line, as: UTF8.self) == "\u{1b}[38;5;196m\u{1b}[48;5;16m▀▀\u{1b}[0m")
    }

    @Test("without Unicode a character has one colour")
    func blanks() throws {
        let image = try Self.image([[0xFF0000, 0x808080], [0x0000FF, 0x808080], [0x111111, 0x111111]])
        let lines = HalfBlockEncoder(allowsUnicode: false).lines(of: image).map { String(decoding: $0, as: UTF8.self) }
        #expect(
            lines == [
                "\u{1b}[48;2;128;0;128m \u{1b}[48;2;128;128;128m \u{1b}[0m",
                "\u{1b}[48;2;17;17;17m  \u{1b}[0m",
            ])
    }

    // MARK: Sixel

    private static func drawn(_ bytes: [UInt8]) throws -> (width: Int, height: Int, pixels: [[Int]]) {
        let text = String(decoding: bytes, as: UTF8.self)
        let body = try #require(text.firstRange(of: "q\"1;1;"))
        #expect(text.hasPrefix("\u{1b}P") && text.hasSuffix("\u{1b}\\"))
        var rest = text[body.upperBound...].dropLast(2)
        func number() -> Int {
            let digits = rest.prefix { $0.isNumber }
            rest = rest.dropFirst(digits.count)
            return Int(digits) ?? -1
        }
        let width = number()
        rest = rest.dropFirst()
        let height = number()
        var pixels = [[Int]](repeating: [Int](repeating: -1, count: width), count: height)
        var (column, top, color) = (0, 0, 0)
        func put(_ character: Character, _ count: Int) {
            let bits = Int(character.asciiValue ?? 63) - 63
            for _ in 0..<count {
                for row in 0..<6 where bits & 1 << row != 0 && top + row < height && column < width {
                    pixels[top + row][column] = color
                }
                column += 1
            }
        }
        while let next = rest.popFirst() {
            switch next {
            case "#":
                color = number()
                while rest.first == ";" {
                    rest = rest.dropFirst()
                    _ = number()
                }
            case "$": column = 0
            case "-": (column, top) = (0, top + 6)
            case "!":
                let count = number()
                if let character = rest.popFirst() { put(character, count) }
            default: put(next, 1)
            }
        }
        return (width, height, pixels)
    }

    @Test("sixels reproduce an image's colours in strips of six rows")
    func sixel() throws {
        let colors: [UInt32] = [0x000000, 0xFF0000, 0x00FF00, 0x0000FF, 0xFFFFFF]
        let rows = (0..<13).map { row in (0..<40).map { column in colors[(row / 3 + column / 7) % colors.count] } }
        let drawn = try Self.drawn(SixelEncoder().bytes(of: try Self.image(rows)))
        #expect(drawn.width == 40 && drawn.height == 12)
        let numbers: [UInt32: Int] = [0x000000: 0, 0xFF0000: 180, 0x00FF00: 30, 0x0000FF: 5, 0xFFFFFF: 215]
        #expect(drawn.pixels == rows.prefix(12).map { $0.map { numbers[$0] ?? -1 } })
    }

    @Test("colours outside the palette are dithered from the two nearest")
    func dither() throws {
        let grey = try Self.image([[UInt32]](repeating: [UInt32](repeating: 0x4C4C4C, count: 16), count: 12))
        let drawn = try Self.drawn(SixelEncoder().bytes(of: grey)).pixels.joined()
        let used = Set(drawn)
        #expect(used == [43, 86])  // 51 and 102 of 255, of all three
        // 76 is halfway between the two values.
        #expect(abs(drawn.count { $0 == 86 } - drawn.count / 2) <= drawn.count / 8)
    }

    @Test("an image lower than a strip is drawn, too")
    func low() throws {
        let drawn = try Self.drawn(SixelEncoder().bytes(of: try Self.image([[0xFFFFFF], [0xFFFFFF]])))
        #expect(drawn.height == 2 && drawn.pixels == [[215], [215]])
    }

    // MARK: kitty

    @Test("kitty gets pixels in base 64, in pieces of 4096 bytes, and the area to fill")
    func kitty() throws {
        let rows = (0..<60).map { (row: UInt32) in (0..<40).map { (column: UInt32) in row * 70_000 + column * 300 } }
        let image = try Self.image(rows)
        let place = PreviewLayout.Place(column: 3, row: 2, columns: 20, rows: 9)
        let text = String(decoding: KittyEncoder().bytes(of: image, in: place), as: UTF8.self)
        let pieces = text.split(separator: "\u{1b}\\")
        #expect(pieces.count == 3)
        #expect(pieces.first?.hasPrefix("\u{1b}_Ga=T,f=24,i=1,p=1,q=2,C=1,s=40,v=60,c=20,r=9,m=1;") == true)
        #expect(pieces[1].hasPrefix("\u{1b}_Gq=2,m=1;") && pieces[2].hasPrefix("\u{1b}_Gq=2,m=0;"))
        let data = pieces.map { $0.drop { $0 != ";" }.dropFirst() }
        #expect(data.allSatisfy { $0.utf8.count <= 4096 })
        let pixels = try #require(Data(base64Encoded: data.joined()))
        let expected = rows.joined().flatMap { (pixel: UInt32) -> [UInt8] in
            [16, 8, 0].map { (shift: UInt32) in UInt8(truncatingIfNeeded: pixel >> shift) }
        }
        #expect(Array(pixels) == expected)
    }
}

@Suite("Images in a terminal")
struct PreviewLayoutTests {
    private func layout(_ size: PreviewLayout.Size, _ format: PreviewFormat) -> PreviewLayout {
        PreviewLayout(size: size, format: format)
    }

    @Test("an image fills the space above the last three lines, centred")
    func places() {
        let small = PreviewLayout.Size(columns: 80, rows: 24)
        #expect(layout(small, .blocks).imageSize == PixelSize(width: 80, height: 42))
        #expect(
            layout(small, .blocks).place(of: PixelSize(width: 75, height: 42))
                == PreviewLayout.Place(column: 3, row: 1, columns: 75, rows: 21))
        #expect(layout(small, .kitty).imageSize == PixelSize(width: 720, height: 378))
        let known = PreviewLayout.Size(columns: 100, rows: 33, width: 1000, height: 660)
        #expect(layout(known, .sixel).imageSize == PixelSize(width: 960, height: 540))
        #expect(
            layout(known, .sixel).place(of: PixelSize(width: 640, height: 361))
                == PreviewLayout.Place(column: 19, row: 6, columns: 64, rows: 19))
        #expect(
            layout(known, .kitty).place(of: PixelSize(width: 320, height: 180))
                == PreviewLayout.Place(column: 1, row: 2, columns: 100, rows: 28))
        #expect(layout(PreviewLayout.Size(columns: 1, rows: 1), .blocks).imageSize == PixelSize(width: 1, height: 2))
        #expect(layout(PreviewLayout.Size(columns: 0, rows: 0), .sixel).imageSize == PixelSize(width: 9, height: 18))
    }

    struct Choice: CustomTestStringConvertible, Sendable {
        var environment: [String: String]
        var answer = ""
        var format: PreviewFormat
        var testDescription: String { "\(environment) \(answer.debugDescription)" }
    }

    @Test(
        "the terminal's best format is selected",
        arguments: [
            Choice(environment: [:], format: .blocks),
            Choice(environment: ["TERM": "xterm-kitty"], format: .kitty),
            Choice(environment: ["KITTY_WINDOW_ID": "1"], format: .kitty),
            Choice(environment: ["KITTY_WINDOW_ID": "1", "TMUX": "/tmp/x"], format: .blocks),
            Choice(environment: ["TERM_PROGRAM": "WezTerm"], format: .kitty),
            Choice(environment: ["TERM": "xterm"], answer: "\u{1b}[?62;4;22c", format: .sixel),
            Choice(environment: ["TERM": "foot"], answer: "q\u{1b}[?62;4c", format: .sixel),
            Choice(environment: ["TERM": "xterm"], answer: "\u{1b}[?62;22;44c", format: .blocks),
            Choice(environment: ["TERM": "xterm"], answer: "\u{1b}[?62;4", format: .blocks),
        ])
    func format(_ choice: Choice) {
        let format = PreviewFormat(environment: { choice.environment[$0] }, answer: choice.answer.utf8)
        #expect(format == choice.format)
    }

    @Test("the image rate is limited, and a slow terminal gets as much time as it needed")
    func pace() {
        func time(_ milliseconds: Int) -> HostTime { HostTime(offset: .milliseconds(milliseconds)) }
        var pace = PreviewPace(rate: 10)
        #expect(pace.isDue(at: time(0)))
        pace.note(began: time(0), ended: time(5))
        #expect(!pace.isDue(at: time(80)) && pace.isDue(at: time(88)))
        pace.note(began: time(100), ended: time(300))
        #expect(!pace.isDue(at: time(499)) && pace.isDue(at: time(500)))
    }

    @Test("the terminal is restored once, and later images are not drawn")
    func leaving() throws {
        var ends: [Int32] = [-1, -1]
        try #require(pipe(&ends) == 0)
        let screen = PreviewScreen(
            format: .blocks, stream: StandardStream(descriptor: ends[1]), allowsUnicode: true,
            size: { PreviewLayout.Size(columns: 20, rows: 10) })
        let image = try #require(StillImage(width: 2, height: 2, pixels: [UInt8](repeating: 255, count: 16)))
        screen.leave()
        screen.enter()
        screen.show(image)
        screen.show(image)
        screen.write("\rstatus")
        screen.leave()
        screen.leave()
        screen.show(image)
        close(ends[1])
        defer { close(ends[0]) }
        var bytes = [UInt8](repeating: 0, count: 4096)
        let count = read(ends[0], &bytes, bytes.count)
        let text = String(decoding: bytes.prefix(max(0, count)), as: UTF8.self)
        #expect(text.hasPrefix("\u{1b}[?1049h\u{1b}[?25l\u{1b}[r\u{1b}[2J\u{1b}[8;10r\u{1b}[10;1H\u{1b}7"))
        #expect(text.hasSuffix("\rstatus\u{1b}[0m\u{1b}[r\u{1b}[?25h\u{1b}[?1049l"))
        #expect(text.split(separator: "▀▀").count == 2)
    }

    @Test("an image of another shape erases the previous one")
    func reshaping() throws {
        var ends: [Int32] = [-1, -1]
        try #require(pipe(&ends) == 0)
        let size = Mutex(PreviewLayout.Size(columns: 20, rows: 10))
        let screen = PreviewScreen(
            format: .blocks, stream: StandardStream(descriptor: ends[1]), allowsUnicode: true,
            size: { size.withLock(\.self) })
        screen.enter()
        for side in [4, 2] {
            screen.show(
                try #require(
                    StillImage(width: side, height: side, pixels: [UInt8](repeating: 9, count: side * side * 4))))
        }
        size.withLock { $0.rows = 12 }
        screen.show(try #require(StillImage(width: 2, height: 2, pixels: [UInt8](repeating: 9, count: 16))))
        close(ends[1])
        defer { close(ends[0]) }
        var bytes = [UInt8](repeating: 0, count: 8192)
        let count = read(ends[0], &bytes, bytes.count)
        let text = String(decoding: bytes.prefix(max(0, count)), as: UTF8.self)
        #expect(text.split(separator: "\u{1b}[7;1H\u{1b}[2K").count == 2)
        #expect(text.contains("\u{1b}[2J\u{1b}[10;12r\u{1b}[12;1H"))
    }
}
