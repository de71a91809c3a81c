import HLSKitCaptions
import HLSKitTime
import Testing

@Suite struct SubRipTests {
    struct Odd: CustomTestStringConvertible, Sendable {
        var testDescription: String
        var file: String
        var captions: [Caption]
    }

    @Test(
        "K05: SubRip: odd files are read",
        arguments: [
            Odd(
                testDescription: "plain",
                file: "1\n00:00:01,000 --> 00:00:02,500\na\nb\n\n2\n01:00:00,000 --> 01:00:01,000\nc\n",
                captions: [
                    Caption("a\nb", timeRange: ms(1000, 2500)), Caption("c", timeRange: ms(3_600_000, 3_601_000)),
                ]),
            Odd(
                testDescription: "mark, carriage returns, points, short times",
                file: "\u{feff}1\r\n0:0:1.5-->0:02.25\r\na\r\n",
                captions: [Caption("a", timeRange: ms(1500, 2250))]),
            Odd(
                testDescription: "no numbers",
                file: "00:00:01,000 --> 00:00:02,000\na\n\n00:00:03,000 --> 00:00:04,000\nb",
                captions: [Caption("a", timeRange: ms(1000, 2000)), Caption("b", timeRange: ms(3000, 4000))]),
            Odd(
                testDescription: "no empty line between, odd numbers",
                file: "7\n00:00:01,000 --> 00:00:02,000\na\n7\n00:00:03,000 --> 00:00:04,000\nb",
                captions: [Caption("a", timeRange: ms(1000, 2000)), Caption("b", timeRange: ms(3000, 4000))]),
            Odd(
                testDescription: "an empty line inside, a number as text",
                file: "1\n00:00:01,000 --> 00:00:02,000\na\n\n42\n\n2\n00:00:03,000 --> 00:00:04,000\nb",
                captions: [Caption("a\n\n42", timeRange: ms(1000, 2000)), Caption("b", timeRange: ms(3000, 4000))]),
            Odd(
                testDescription: "coordinates and tags",
                file: "1\n00:00:01,000 --> 00:00:02,000 X1:1 X2:2\n<i>a</I> <font color=\"#ff0000\">r</font> 1 < 2 <x>",
                captions: [
                    Caption(
                        "a r 1 < 2 <x>", timeRange: ms(1000, 2000),
                        styles: [
                            Caption.StyleRun(range: 0..<1, style: CaptionStyle(fontStyle: .italic)),
                            Caption.StyleRun(range: 2..<3, style: CaptionStyle(textColor: .red)),
                        ])
                ]),
            Odd(
                testDescription: "a place", file: "1\n00:00:01,000 --> 00:00:02,000\n{\\an8}top",
                captions: [Caption("top", timeRange: ms(1000, 2000), region: .appleITTTop)]),
            Odd(
                testDescription: "tags closed in the wrong order",
                file: "1\n00:00:01,000 --> 00:00:02,000\n<b><i>a</b>b</i>c",
                captions: [
                    Caption(
                        "abc", timeRange: ms(1000, 2000),
                        styles: [
                            Caption.StyleRun(range: 0..<1, style: CaptionStyle(fontWeight: .bold, fontStyle: .italic)),
                            Caption.StyleRun(range: 1..<2, style: CaptionStyle(fontStyle: .italic)),
                        ])
                ]),
            Odd(
                testDescription: "times that cannot be understood end the cue before",
                file: "1\n00:00:01,000 --> 00:00:02,000\na\n\n2\n00:00:0x,000 --> 00:00:04,000\nlost\n\n"
                    + "00:00:0y --> 1\nlost too\n\n3\n00:00:05,000 --> 00:00:06,000\nb\n1 --> 2 is text",
                captions: [
                    Caption("a", timeRange: ms(1000, 2000)), Caption("b\n1 --> 2 is text", timeRange: ms(5000, 6000)),
                ]),
        ])
    func odd(_ odd: Odd) throws { #expect(try read(.subRip, odd.file).captions == odd.captions) }

    @Test("K05: SubRip: a cue that ends before it starts is skipped with its line")
    func notes() throws {
        let content = try read(
            .subRip,
            "1\n00:00:03,000 --> 00:00:02,000\na\n\n2\n00:00:xx,000 --> 00:00:04,000\n\n3\n00:00:05,000 --> 00:00:06,000\nb"
        )
        #expect(content.captions.map(\.text) == ["b"])
        #expect(content.notes.map(\.line) == [2, 6])
    }

    @Test("K05: SubRip: UTF-16 and Windows-1252 are understood")
    func encodings() throws {
        let text = "1\n00:00:01,000 --> 00:00:02,000\n\u{e9}"
        var wide: [UInt8] = [0xff, 0xfe]
        for unit in text.utf16 { wide += [UInt8(unit & 255), UInt8(unit >> 8)] }
        #expect(try CaptionFileReader(format: .subRip).read(wide).captions.map(\.text) == ["\u{e9}"])
        let old = Array(text.unicodeScalars.map { UInt8($0.value) })
        let content = try CaptionFileReader(format: .subRip).read(old)
        #expect(content.captions.map(\.text) == ["\u{e9}"])
        #expect(content.notes.map(\.text) == ["neither UTF-8 nor UTF-16; read as Windows-1252"])
        let damaged = Array("1\n00:00:01,000 --> 00:00:02,000\n\u{e9}\u{e8}".utf8) + [0xff, 0x61]
        let repaired = try CaptionFileReader(format: .subRip).read(damaged)
        #expect(repaired.captions.map(\.text) == ["\u{e9}\u{e8}\u{fffd}a"])
        #expect(repaired.notes.map(\.text) == ["damaged UTF-8; 1 characters were replaced"])
    }

    @Test("the number of a truncated cue is not text; a number in the text stays")
    func cutOff() throws {
        let cue = "1\n00:00:01,000 --> 00:00:02,000\na\n\n2\n00:00:03,000 --> 00:00:04,000\nb\n\n"
        for end in ["3", "3\n", "3\n\n"] {
            let content = try read(.subRip, cue + end)
            #expect(content.captions.map(\.text) == ["a", "b"])
            #expect(content.notes.count == 1)
        }
        #expect(try read(.subRip, cue + "7\n").captions.map(\.text) == ["a", "b\n\n7"])
        #expect(try read(.subRip, "1\n00:00:01,000 --> 00:00:02,000\n2\n").captions.map(\.text) == ["2"])
        #expect(try read(.subRip, "00:00:01,000 --> 00:00:02,000\na\n\n2\n").captions.map(\.text) == ["a\n\n2"])
    }

    @Test("K04: SubRip: written captions read back unchanged", arguments: UInt64(0)..<40)
    func roundTrip(seed: UInt64) throws {
        var maker = CaptionMaker(seed: seed)
        let captions = maker.captions(lines: [.underline, .lineThrough]) { index, text, runs, random in
            let start = Int64(index) * 2000 + Int64.random(in: 0..<2000, using: &random)
            return Caption(
                text, timeRange: ms(start, start + Int64.random(in: 1...5000, using: &random)),
                region: index % 3 == 0 ? .appleITTTop : nil, styles: runs,
                textAlignment: [nil, .left, .right][index % 3])
        }
        let file = try written(.subRip, captions)
        #expect(try read(.subRip, file).captions == captions)
        #expect(try written(.subRip, read(.subRip, file).captions) == file)
    }
}
