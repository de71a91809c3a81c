import HLSKitCaptions
import HLSKitLoading
import HLSKitTime
import TestSupport
import Testing

@testable import HLSKitCodec
@testable import HLSKitImaging

@Suite("Caption renderer", .timeLimit(.minutes(10)))
struct CaptionRendererTests {
    private static let size = PixelSize(width: 640, height: 360)

    private static func caption(
        _ text: String, _ start: Int64 = 1, _ end: Int64 = 3, region: CaptionRegion? = nil,
        style: CaptionStyle = .plain, alignment: Caption.TextAlignment? = nil
    ) -> Caption {
        var caption = Caption(
            text, timeRange: MediaTimeRange(start: time(start), end: time(end)), region: region,
            textAlignment: alignment)
        caption.setStyle(style, in: 0..<text.unicodeScalars.count)
        return caption
    }

    private static func time(_ seconds: Int64) -> MediaTime { MediaTime(value: seconds, timescale: 1) }

    private static func draw(_ captions: [Caption], at seconds: Int64 = 1) throws -> Drawn {
        Drawn(try CaptionRenderer(captions: captions, size: size).render(at: time(seconds)))
    }

    private struct Drawn {
        let image: StillImage
        let rows: [Int]
        let columns: [Int]

        init(_ image: StillImage) {
            self.image = image
            let alpha = { (x: Int, y: Int) in image.pixels[(y * image.width + x) * 4 + 3] }
            rows = (0..<image.height).filter { y in (0..<image.width).contains { alpha($0, y) > 0 } }
            columns = (0..<image.width).filter { x in (0..<image.height).contains { alpha(x, $0) > 0 } }
        }

        func count(_ isMeant: (UInt8, UInt8, UInt8) -> Bool) -> Int {
            stride(from: 0, to: image.pixels.count, by: 4).count { at in
                let pixels = image.pixels
                return pixels[at + 3] > 200 && isMeant(pixels[at], pixels[at + 1], pixels[at + 2])
            }
        }
    }

    @Test("K08: each change of the shown captions makes a scene; an empty scene draws nothing")
    func scenes() {
        let renderer = CaptionRenderer(
            captions: [Self.caption("a", 1, 4), Self.caption("b", 2, 3)], size: Self.size)
        let scenes = renderer.captionSceneChanges(in: MediaTimeRange(start: .zero, end: Self.time(6)))
        #expect(scenes.map { $0.captions.map(\.text).joined() } == ["", "a", "ab", "a", ""])
        #expect(scenes.map(\.timeRange.start.seconds) == [0, 1, 2, 3, 4])
        #expect(scenes.last?.timeRange.end == Self.time(6))
    }

    @Test("K08: captions are drawn at their time, at the bottom centre; otherwise the image is clear")
    func times() throws {
        let captions = [Self.caption("Good day")]
        for second in [0, 3, 9] as [Int64] { #expect(try Self.draw(captions, at: second).rows.isEmpty) }
        let drawn = try Self.draw(captions)
        #expect(drawn.image.width == 640 && drawn.image.height == 360)
        let (top, bottom) = (try #require(drawn.rows.first), try #require(drawn.rows.last))
        #expect(top > 270 && bottom < 360 && bottom - top < 40)
        let (left, right) = (try #require(drawn.columns.first), try #require(drawn.columns.last))
        #expect(abs(left + right - 639) <= 4)
        #expect(drawn.count { $0 > 200 && $1 > 200 && $2 > 200 } > 50)
        #expect(drawn.count { $0 < 40 && $1 < 40 && $2 < 40 } > 500)
    }

    struct Placement: CustomTestStringConvertible, Sendable {
        var testDescription: String
        var region: CaptionRegion
        var alignment: Caption.TextAlignment?
        var text = "Some text"
        var rows: ClosedRange<Int>
        var columns: ClosedRange<Int>
    }

    @Test(
        "K08: text is drawn in its region",
        arguments: [
            Placement(
                testDescription: "at the top", region: .appleITTTop, rows: 0...54, columns: 0...639),
            Placement(
                testDescription: "at the bottom", region: .appleITTBottom, rows: 306...359, columns: 0...639),
            Placement(
                testDescription: "cells of CEA-608: row 5, column 8",
                region: CaptionRegion(
                    origin: CaptionPoint(x: .cells(8), y: .cells(5)),
                    size: CaptionSize(width: .cells(10), height: .cells(1))), alignment: .left,
                rows: 112...150, columns: 150...360),
            Placement(
                testDescription: "two lines in the last row but one of WebVTT",
                region: CaptionRegion(origin: CaptionPoint(y: .cells(-2))), text: "Two\nlines", rows: 280...340,
                columns: 0...639),
            Placement(
                testDescription: "the left half of the bottom",
                region: CaptionRegion(
                    origin: CaptionPoint(x: .percent(10)), size: CaptionSize(width: .percent(35))),
                rows: 290...345, columns: 64...288),
            Placement(
                testDescription: "the right half, wrapped",
                region: CaptionRegion(
                    origin: CaptionPoint(x: .percent(50), y: .percent(20)),
                    size: CaptionSize(width: .percent(50), height: .percent(60)), displayAlignment: .center),
                alignment: .right, rows: 72...288, columns: 310...639),
        ])
    func places(_ test: Placement) throws {
        let text = test.alignment == .right ? String(repeating: "word ", count: 20) : test.text
        let drawn = try Self.draw([Self.caption(text, region: test.region, alignment: test.alignment)])
        #expect(!drawn.rows.isEmpty)
        #expect(
            drawn.rows.allSatisfy { test.rows.contains($0) },
            "rows \(drawn.rows.first ?? -1) to \(drawn.rows.last ?? -1)")
        #expect(
            drawn.columns.allSatisfy { test.columns.contains($0) },
            "columns \(drawn.columns.first ?? -1) to \(drawn.columns.last ?? -1)")
    }

    @Test("K08: spans of the text are drawn in their styles")
    func styles() throws {
        let plain = try Self.draw([Self.caption("Word")])
        let red = try Self.draw([Self.caption("Word", style: CaptionStyle(textColor: .red))])
        #expect(red.count { $0 > 200 && $1 < 60 && $2 < 60 } > 50)
        #expect(plain.count { $0 > 200 && $1 < 60 && $2 < 60 } == 0)
        let blue = try Self.draw([Self.caption("Word", style: CaptionStyle(backgroundColor: .blue))])
        #expect(blue.count { $0 < 60 && $1 < 60 && $2 > 200 } > 200)
        for style in [
            CaptionStyle(fontStyle: .italic), CaptionStyle(fontWeight: .bold), CaptionStyle(decoration: .underline),
            CaptionStyle(decoration: .lineThrough),
        ] {
            let differs = try Self.draw([Self.caption("Word", style: style)]).image != plain.image
            #expect(differs)
        }
    }

    @Test("K08: caption text is never interpreted as a libass command")
    func escaping() throws {
        let plain = try Self.draw([Self.caption("Word")])
        for text in [#"{\an8}Word"#, #"\an8 Word"#, #"{\pos(0,0)}"#, #"a\Nb{"#, "\u{0}\u{1}x"] {
            let drawn = try Self.draw([Self.caption(text)])
            #expect(drawn.rows.allSatisfy { $0 > 180 }, "\(text)")
        }
        let line = try Self.draw([Self.caption(#"a\Nb"#)])
        #expect(abs(line.rows.count - plain.rows.count) <= 8)
        let script = CaptionScript([Self.caption("a\nDialogue: b\r\n[Events]")], width: 64, height: 64).text
        #expect(script.split(separator: "\n").count { $0.hasPrefix("Dialogue:") } == 1)
    }

    @Test("K08: drawing over a frame blends colours and changes nothing else")
    func over() throws {
        let pixels = (0..<640 * 360).flatMap { _ in [10, 120, 30, 255] as [UInt8] }
        let frame = try #require(StillImage(width: 640, height: 360, pixels: pixels))
        let renderer = CaptionRenderer(captions: [Self.caption("Over")], size: PixelSize(width: 1, height: 1))
        let drawn = try renderer.render(at: Self.time(1), over: frame)
        let changed = stride(from: 0, to: drawn.pixels.count, by: 4).filter { at in
            drawn.pixels[at..<at + 4] != frame.pixels[at..<at + 4]
        }
        let topmost = try #require(changed.first) / (640 * 4)
        #expect(topmost > 270)
        let isOpaque = stride(from: 3, to: drawn.pixels.count, by: 4).allSatisfy { drawn.pixels[$0] == 255 }
        #expect(isOpaque)
        let isUntouched = try renderer.render(at: Self.time(5), over: frame) == frame
        #expect(isUntouched)
    }

    @Test("K08: characters missing in all fonts are reported; the others are drawn")
    func missing() throws {
        let renderer = CaptionRenderer(captions: [Self.caption("plain")], size: Self.size)
        #expect(renderer.missingCharacters.isEmpty)
        _ = try renderer.render(at: Self.time(1))
        #expect(renderer.missingCharacters.isEmpty)
        // No font has characters in the last private use plane.
        let unknown = "\u{10fffd}"
        renderer.captions = [Self.caption("a" + unknown), Self.caption("b", 5, 6)]
        _ = try renderer.render(at: Self.time(1))
        #expect(renderer.missingCharacters == Set(unknown.unicodeScalars))
        // Depending on the installed fonts, each character is either drawn or reported.
        renderer.captions = [Self.caption("日本")]
        let drawn = Drawn(try renderer.render(at: Self.time(1)))
        #expect(!drawn.rows.isEmpty)
        #expect(renderer.missingCharacters.isSuperset(of: unknown.unicodeScalars))
    }

    @Test(
        "K08: only libass messages about fonts are treated as font messages",
        arguments: [
            ("fontselect: failed to find any fallback with glyph 0x65E5 for font: (sans-serif, 400, 0)", "日"),
            ("Glyph 0x1F600 not found in font for (sans-serif, 400, 0)", "\u{1F600}"),
            ("Glyph 0x1F600 not found, broken font? Trying all charmaps", ""),
            ("fontselect: failed to find any fallback with glyph 0xD800 for font: (a, 1, 0)", ""),
            ("fontselect: failed to find any fallback with glyph 0xFFFFFFFFFF for font", ""),
            ("Glyph 0x", ""),
        ])
    func messages(message: String, expected: String) {
        let missing = MissingGlyphs()
        missing.read(message)
        #expect(missing.characters == Set(expected.unicodeScalars))
    }

    @Test(
        "K08: sizes that cannot be drawn are an error", arguments: [(0, 10), (10, -1), (8193, 1), (Int.max, Int.max)])
    func refused(width: Int, height: Int) {
        let renderer = CaptionRenderer(
            captions: [Self.caption("a")], size: PixelSize(width: width, height: height))
        let error = #expect(throws: HLSError.self) { try renderer.render(at: Self.time(1)) }
        #expect(error?.code == .conversionFailed && error?.underlyingError is CodecError)
    }

    @Test("K08: drawing any caption ends")
    func hostile() throws {
        var random = SplitMix64(seed: 8)
        let renderer = CaptionRenderer(size: PixelSize(width: 160, height: 90))
        for _ in 0..<100 {
            let scalars = (0..<Int.random(in: 0...60, using: &random)).compactMap { _ in
                Unicode.Scalar(UInt32.random(in: 0...(Bool.random(using: &random) ? 0x7f : 0x1_f9ff), using: &random))
            }
            let numbers: [Double] = [-1e9, -1, 0, 3, 50, 1e9, .infinity, .nan]
            func dimension() -> CaptionDimension {
                let value = numbers.randomElement(using: &random) ?? 0
                return Bool.random(using: &random) ? .cells(value) : .percent(value)
            }
            let region = CaptionRegion(
                origin: CaptionPoint(x: dimension(), y: dimension()),
                size: CaptionSize(width: dimension(), height: dimension()))
            renderer.captions = [Self.caption(String(String.UnicodeScalarView(scalars)), region: region)]
            _ = try renderer.render(at: Self.time(1))
        }
        let long = String(repeating: "long text ", count: 20_000)
        renderer.captions = (0..<200).map { _ in Self.caption(long) }
        _ = try renderer.render(at: Self.time(1))
    }
}
