import HLSKitCaptions
import HLSKitMedia
import HLSKitTime
import Testing

private func time(_ frame: Int64) -> MediaTime { MediaTime(value: frame * 1001, timescale: 30_000) }

private func withParity(_ byte: UInt8) -> UInt8 { byte.nonzeroBitCount % 2 == 0 ? byte | 0x80 : byte }

@Suite struct ClosedCaptionTests {
    // MARK: CEA-608

    private func decode(_ words: [UInt16], field: Int = 1, parity: Bool = true) -> [ClosedCaption] {
        var decoder = CEA608Decoder(field: field)
        var captions: [ClosedCaption] = []
        for (index, word) in words.enumerated() {
            let (first, second) = (UInt8(word >> 8), UInt8(word & 255))
            decoder.decode(
                parity ? withParity(first) : first, parity ? withParity(second) : second, at: time(Int64(index)),
                to: &captions)
        }
        decoder.finish(at: time(Int64(words.count)), to: &captions)
        return captions
    }

    private static let clear: [UInt16] = [0x142c, 0x142c]

    @Test("K03: CEA-608: two fields with two channels each are four services")
    func channels() {
        // Paint-on in the first channel, then in the second.
        let words: [UInt16] = [0x1429, 0x1429, 0x1470, 0x1470, 0x6100, 0x1c29, 0x1c29, 0x1c70, 0x1c70, 0x6200]
        #expect(decode(words).map { "\($0.service.rawValue) \($0.caption.text)" } == ["CC1 a", "CC2 b"])
        #expect(decode(words, field: 2).map { "\($0.service.rawValue) \($0.caption.text)" } == ["CC3 a", "CC4 b"])
    }

    @Test("K03: CEA-608: repeated commands are applied once, repeated characters twice")
    func doubled() {
        let words: [UInt16] = [
            0x1429, 0x1429, 0x1470, 0x1470, 0x6161, 0x6161, 0x1137, 0x1137, 0x1137, 0x1721, 0x1721, 0x6200,
        ]
        #expect(decode(words).map(\.caption.text) == ["aaaa\u{266a}\u{266a} b"])
    }

    @Test("K03: CEA-608: colours, italics, underlines and extended characters are decoded")
    func styles() {
        let words: [UInt16] = [
            0x1429, 0x1429, 0x144a, 0x144a, 0x7265, 0x6400, 0x112f, 0x112f, 0x6900, 0x1120, 0x1120, 0x4100, 0x1220,
            0x1220, 0x1022, 0x1022,
        ]
        let captions = decode(words)
        #expect(captions.map(\.caption.text) == ["red i \u{c1}"])
        #expect(
            captions.first?.caption.styledWords.map(\.style) == [
                CaptionStyle(textColor: .yellow),
                CaptionStyle(textColor: .yellow, fontStyle: .italic, decoration: .underline),
                .plain,
            ])
    }

    @Test("K03: CEA-608: text services and extended data are skipped")
    func others() {
        let text: [UInt16] = [0x142b, 0x142b, 0x6161, 0x1429, 0x1429, 0x1470, 0x1470, 0x6200]
        #expect(decode(text).map(\.caption.text) == ["b"])
        let data: [UInt16] = [0x1529, 0x1529, 0x1570, 0x1570, 0x6200, 0x0105, 0x6161, 0x0f1d, 0x1529, 0x6300]
        #expect(decode(data, field: 2).map(\.caption.text) == ["b", "bc"])
    }

    @Test("K03: CEA-608: a character with wrong parity becomes a block, such a command is ignored")
    func parity() {
        var words: [UInt16] = [0x9429, 0x9429, 0x9470, 0x9470, 0x6162, 0x1429].map { $0 }
        words = words.enumerated().map { index, word in
            index < 4 ? UInt16(withParity(UInt8(word >> 8 & 0x7f))) << 8 | UInt16(withParity(UInt8(word & 0x7f))) : word
        }
        words[4] = 0x6100 | UInt16(0x62 ^ 0x80)
        #expect(decode(words, parity: false).map(\.caption.text) == ["a\u{2588}"])
    }

    @Test("K03: CEA-608: separate blocks of rows become separate captions")
    func blocks() {
        let words: [UInt16] = [
            0x1420, 0x142e, 0x1140, 0x6100, 0x1470, 0x6200, 0x142f, 0x142f, 0x8080, 0x8080,
        ]
        let captions = decode(words)
        #expect(captions.map(\.caption.text) == ["a", "b"])
        #expect(captions.map(\.caption.region?.origin.y) == [.cells(0), .cells(14)])
        #expect(captions.map(\.caption.timeRange) == [frames(6, 10), frames(6, 10)])
    }

    @Test("K03: CEA-608: flashing takes a cell; extended data is in field 2; a background may be clear")
    func attributes() {
        let start: [UInt16] = [0x1429, 0x1470]
        #expect(
            decode(start + Self.pairs("Hello") + [0x1428] + Self.pairs("World")).map(\.caption.text) == ["Hello World"])
        let odd = start + Self.pairs("ab") + [0x0541] + Self.pairs("cd")
        #expect(decode(odd).map(\.caption.text) == ["abcd"])
        #expect(decode(odd, field: 2).map(\.caption.text) == ["ab"])
        let clear = decode(start + Self.pairs("a ") + [0x172d] + Self.pairs("b ") + [0x172e] + Self.pairs("c"))
        #expect(clear.first?.caption.styledWords.map(\.style.backgroundColor?.alpha) == [nil, 0, 0])
    }

    struct Shape: CustomTestStringConvertible, Sendable {
        /// Columns and texts of the last two rows.
        var rows: [(column: Int, text: String)]
        var captions: [String]
        /// The expected SubRip position codes.
        var keys: [String]
        var testDescription: String { rows.map { "\($0.column) \($0.text)" }.joined(separator: ", ") }
    }

    @Test(
        "K03: CEA-608: rows keep their positions in every format that supports them",
        arguments: [
            Shape(
                rows: [(4, "Left"), (4, "and left")], captions: ["left 4 Left/and left"], keys: ["{\\an1}"]),
            Shape(
                rows: [(12, "Hi there"), (4, "How are you doing today?")],
                captions: ["center 4 Hi there/How are you doing today?"], keys: [""]),
            Shape(
                rows: [(12, "Hi there"), (4, "How are you doing now??")],
                captions: ["center 4 Hi there/How are you doing now??"], keys: [""]),
            Shape(
                rows: [(20, "right"), (15, "also right")], captions: ["right 15 right/also right"], keys: [""]),
            Shape(
                rows: [(0, "one"), (24, "another")], captions: ["left 0 one", "left 24 another"],
                keys: ["{\\an1}", "{\\an3}"]),
        ])
    func shapes(_ shape: Shape) throws {
        var words: [UInt16] = [0x1429]
        for (row, line) in shape.rows.enumerated() {
            words.append((row == 0 ? 0x1450 : 0x1470) + UInt16(line.column / 4 * 2))
            if line.column % 4 > 0 { words.append(0x1720 + UInt16(line.column % 4)) }
            words += Self.pairs(line.text)
        }
        let captions = decode(words).map { closed in
            var caption = closed.caption
            caption.timeRange = frames(300, 400)
            return caption
        }
        func lines(_ captions: [Caption]) -> [String] {
            captions.map { caption in
                let alignment = caption.textAlignment.map { "\($0)" } ?? "none"
                let column = Int(caption.region?.origin.x.value ?? -1)
                return "\(alignment) \(column) " + caption.text.replacing("\n", with: "/")
            }
        }
        #expect(lines(captions) == shape.captions)
        #expect(try lines(read(.scenarist, written(.scenarist, captions)).captions) == shape.captions)
        let srt = try written(.subRip, captions).split(separator: "\n\n").map { $0.split(separator: "\n")[2] }
        #expect(zip(srt, shape.keys).allSatisfy { $0.hasPrefix($1) && ($1 != "" || !$0.hasPrefix("{")) }, "\(srt)")
        // WebVTT lines do not match the 15 rows, so the positions are percentages.
        let rows = try read(.webVTT, written(.webVTT, captions)).captions.map { $0.region?.origin.y }
        #expect(rows.allSatisfy { $0?.units == .percent && $0?.value ?? 0 > 86 })
        let conformed = try CaptionFormatConformer().conformedCaption(for: captions[0])
        #expect(conformed.textAlignment == captions[0].textAlignment && conformed.region == captions[0].region)
    }

    private static func pairs(_ text: String) -> [UInt16] {
        let bytes = text.utf8.map { UInt16($0) } + [0]
        return stride(from: 0, to: bytes.count - 1, by: 2).map { bytes[$0] << 8 | bytes[$0 + 1] }
    }

    struct Rewriting: CustomTestStringConvertible, Sendable {
        var testDescription: String
        /// The words that follow the paint-on caption "First text".
        var words: [UInt16]
        var expected: [String]
    }

    @Test(
        "K03: CEA-608: erased or overwritten text ends there, and its replacement begins there",
        arguments: [
            Rewriting(
                testDescription: "the row is erased", words: [0x1470, 0x1424] + pairs("Second"),
                expected: ["3 First text", "22 Second"]),
            Rewriting(
                testDescription: "the end of the row is erased", words: [0x1472, 0x1424] + pairs("er"),
                expected: ["3 First text", "21 Firser"]),
            Rewriting(
                testDescription: "written over", words: [0x1470] + pairs("Other words"),
                expected: ["3 First text", "21 Other words"]),
            Rewriting(
                testDescription: "written over twice", words: [0x1470] + pairs("Other") + [0x1470] + pairs("Third"),
                expected: ["3 First text", "21 Other text", "25 Third text"]),
            Rewriting(testDescription: "sent again", words: [0x1470] + pairs("First"), expected: ["3 First text"]),
            Rewriting(
                testDescription: "nothing is erased", words: [0x1478, 0x1424] + pairs(" more"),
                expected: ["3 First text       more"]),
            Rewriting(
                testDescription: "more than the row holds", words: [0x147e] + pairs("12345678"),
                expected: ["3 First text                  1238"]),
            Rewriting(
                testDescription: "the character before an extended one",
                words: [0x1476, 0x1721, 0x1721] + pairs("xA") + [0x1220], expected: ["3 First text   x\u{c1}"]),
        ])
    func rewriting(_ test: Rewriting) {
        let start: [UInt16] = [0x1429, 0x1429, 0x1470] + Self.pairs("First text")
        let pause = [UInt16](repeating: 0, count: 20 - start.count)
        let captions = decode(start + pause + test.words).map(\.caption)
        #expect(captions.map { "\($0.timeRange.start.value / 1001) \($0.text)" } == test.expected)
        #expect(zip(captions, captions.dropFirst()).allSatisfy { $0.timeRange.end <= $1.timeRange.start })
    }

    // MARK: CEA-708

    private func packet(_ block: [UInt8], service: UInt8 = 1) -> [UInt8] {
        var bytes = [0, service << 5 | UInt8(block.count)] + block
        if bytes.count % 2 == 1 { bytes.append(0) }
        bytes[0] = UInt8(bytes.count / 2)
        return bytes
    }

    private func decode708(_ packets: [(frame: Int64, bytes: [UInt8])]) -> [ClosedCaption] {
        var decoder = CEA708Decoder()
        var captions: [ClosedCaption] = []
        for (frame, bytes) in packets {
            for index in stride(from: 0, to: bytes.count, by: 2) {
                decoder.decode(bytes[index], bytes[index + 1], isStart: index == 0, at: time(frame), to: &captions)
            }
        }
        decoder.finish(at: time(1000), to: &captions)
        return captions
    }

    /// Defines window 0 of two rows and 21 columns, with its bottom centre in the middle and 90 percent from the top.
    private func define(visible: Bool) -> [UInt8] { [0x98, visible ? 0x20 : 0, 0x80 | 90, 50, 0x71, 20, 0] }

    @Test("K03: CEA-708: a window is written while hidden, then shown, then hidden")
    func window() {
        let captions = decode708([
            (10, packet(define(visible: false) + [0x90, 0, 0x80] + Array("Hi".utf8) + [0x0d, 0xe9, 0x10, 0x25])),
            (20, packet([0x89, 1])), (30, packet([0x8a, 1])),
        ])
        #expect(captions.map(\.service) == [.service(1)])
        #expect(captions.first?.caption.text == "Hi\n\u{e9}\u{2026}")
        #expect(captions.first?.caption.timeRange == frames(20, 30))
        #expect(captions.first?.caption.styledWords.first?.style == CaptionStyle(fontStyle: .italic))
        #expect(captions.first?.caption.region?.origin.x == .percent(25))
    }

    @Test("K03: CEA-708: a visible roll-up window gives a caption for each complete line")
    func rollUp() {
        let captions = decode708([
            (10, packet(define(visible: true) + Array("a".utf8))), (20, packet([0x0d] + Array("b".utf8))),
            (30, packet([0x0d] + Array("c".utf8))), (40, packet([0x88, 1])),
        ])
        #expect(captions.map(\.caption.text) == ["a\nb", "b\nc"])
        #expect(captions.map(\.caption.timeRange) == [frames(10, 30), frames(30, 40)])
    }

    /// Defines window `number` of two rows and 21 columns, `row` percent from the top.
    private func window(_ number: UInt8, row: UInt8, visible: Bool = false) -> [UInt8] {
        [0x98 + number, visible ? 0x20 : 0, 0x80 | row, 50, 0x11, 20, 0]
    }

    @Test("K03: CEA-708: window style and window attributes determine the position of rows")
    func justification() {
        func alignments(style: UInt8, _ attributes: [UInt8]) -> [Caption.TextAlignment?] {
            var definition = define(visible: true)
            definition[6] = style << 3
            let again = Array(definition.dropLast()) + [0]
            return decode708([
                (10, packet(definition + attributes + Array("a".utf8))), (20, packet(again)),
                (30, packet([0x97, 0, 0, 2, 0])), (40, packet([0x8c, 1])),
            ]).map(\.caption.textAlignment)
        }
        #expect(alignments(style: 1, []) == [.left, .center])
        #expect(alignments(style: 3, []) == [.center])
        #expect(alignments(style: 6, [0x97, 0, 0, 1, 0]) == [.right, .center])
    }

    @Test("K03: CEA-708: each window has its own times")
    func windowTimes() {
        func lines(_ captions: [ClosedCaption]) -> [String] {
            captions.map(\.caption).map {
                "\($0.timeRange.start.value / 1001)-\($0.timeRange.end.value / 1001) \($0.text)"
            }
        }
        let inTurn = decode708([
            (10, packet(window(0, row: 80) + Array("First".utf8) + window(1, row: 80) + Array("Second".utf8))),
            (12, packet([0x89, 1])), (60, packet([0x89, 2])), (61, packet([0x8a, 1])), (90, packet([0x8a, 2])),
        ])
        #expect(lines(inTurn) == ["12-61 First", "60-90 Second"])
        let rolling = decode708([
            (11, packet(window(0, row: 5, visible: true) + Array("TITLE".utf8))),
            (21, packet(window(1, row: 80, visible: true) + Array("a".utf8))), (30, packet([0x0d] + Array("b".utf8))),
            (40, packet([0x0d] + Array("c".utf8))), (50, packet([0x8c, 0xff])),
        ])
        #expect(lines(rolling) == ["21-40 a\nb", "11-50 TITLE", "40-50 b\nc"])
    }

    @Test("K03: CEA-708: erased or overwritten text ends there, and its replacement begins there")
    func rewriting708() {
        for back in [[0x0e], [0x92, 0, 0]] as [[UInt8]] {
            let captions = decode708([
                (10, packet(define(visible: true) + Array("First".utf8))), (20, packet(back + Array("Oth".utf8))),
                (22, packet(Array("er".utf8))), (30, packet([0x8c, 1])),
            ]).map(\.caption)
            #expect(captions.map(\.text) == ["First", "Other"])
            #expect(captions.map(\.timeRange) == [frames(10, 20), frames(20, 30)])
        }
    }

    @Test("K03: CEA-708: services are separate, with colours, and truncated packets are handled")
    func services() {
        let red: [UInt8] = [0x91, 0x30, 0, 0]
        let captions = decode708([
            (10, packet(define(visible: true) + red + Array("a".utf8))),
            (11, packet(define(visible: true) + Array("b".utf8), service: 2)),
            (12, Array(packet(define(visible: true) + Array("lost".utf8)).prefix(6))),
            (20, packet([0x8c, 1])), (30, packet([0x8f], service: 2)),
        ])
        #expect(captions.map(\.service) == [.service(1), .service(2)])
        #expect(captions.map(\.caption.text) == ["a", "b"])
        #expect(captions.first?.caption.styledWords.first?.style == CaptionStyle(textColor: .red))
    }

    @Test("K03: any bytes are decoded without harm", arguments: UInt64(0)..<20)
    func anyBytes(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        var decoder = ClosedCaptionDecoder()
        var captions: [ClosedCaption] = []
        for frame in 0..<4000 {
            let kind = ClosedCaptionData.Pair.Kind(rawValue: UInt8.random(in: 0...3, using: &random)) ?? .field1
            let isCommand = Bool.random(using: &random)
            let first =
                isCommand ? UInt8.random(in: 0x10...0x1f, using: &random) : UInt8.random(in: 0...255, using: &random)
            let second = UInt8.random(in: 0...255, using: &random)
            decoder.decode(
                ClosedCaptionData(pairs: [
                    ClosedCaptionData.Pair(
                        kind: kind, first: withParity(first & 0x7f), second: withParity(second & 0x7f)),
                    ClosedCaptionData.Pair(
                        kind: .packetData, first: UInt8.random(in: 0x80...0xff, using: &random), second: second),
                ]), at: time(Int64(frame)), to: &captions)
        }
        decoder.finish(at: time(4000), to: &captions)
        #expect(captions.allSatisfy { $0.caption.timeRange.isValid && !$0.caption.timeRange.isEmpty })
        #expect(captions.allSatisfy { !$0.caption.text.isEmpty })
    }
}
