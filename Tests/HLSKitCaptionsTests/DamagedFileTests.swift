import Foundation
import HLSKitCaptions
import HLSKitTime
import Testing

/// The fuzzers check the same invariants. `HLSKIT_WALKS`, with any value, makes ten times as many random changes.
@Suite struct DamagedFileTests {
    private static let changeCount = ProcessInfo.processInfo.environment["HLSKIT_WALKS"] == nil ? 200 : 2000
    private static let captions: [Caption] = [
        Caption(
            "Hello <b> & {\\an8}\nline two \u{e9}\u{266a}", timeRange: frames(120, 200), region: .appleITTTop,
            styles: [
                Caption.StyleRun(
                    range: 0..<5, style: CaptionStyle(textColor: .yellow, fontWeight: .bold, decoration: .underline)),
                Caption.StyleRun(range: 10..<14, style: CaptionStyle(fontStyle: .italic, ruby: CaptionRuby(text: "r"))),
            ], textAlignment: .left, identifier: "first"),
        Caption(
            "rolled", timeRange: frames(260, 300),
            region: CaptionRegion(
                identifier: "r", origin: CaptionPoint(x: .percent(10), y: .percent(60)),
                size: CaptionSize(width: .percent(50), height: .cells(3)), scroll: .rollUp)),
    ]

    @Test("K05: a file truncated anywhere gives its captions so far or an error", arguments: CaptionFormat.allCases)
    func truncated(format: CaptionFormat) throws {
        let bytes = try CaptionFileWriter(format: format).write(Self.captions).bytes
        for count in bytes.indices { try ReaderChecks.check(Array(bytes.prefix(count)), as: format) }
    }

    @Test("K05: a file changed anywhere gives captions or an error", arguments: CaptionFormat.allCases)
    func corrupted(format: CaptionFormat) throws {
        let bytes = try CaptionFileWriter(format: format).write(Self.captions).bytes
        var random = SplitMix64(seed: 7)
        let marks = Array("\n\r<>&;:\"'{}-/ 0\u{ff}".utf8)
        for _ in 0..<Self.changeCount {
            var copy = bytes
            for _ in 0...Int.random(in: 0...3, using: &random) where !copy.isEmpty {
                let place = Int.random(in: copy.indices, using: &random)
                switch Int.random(in: 0...4, using: &random) {
                case 0: copy[place] = UInt8.random(in: 0...255, using: &random)
                case 1: copy[place] = marks.randomElement(using: &random) ?? 0
                case 2: copy.remove(at: place)
                case 3: copy.removeSubrange(place..<min(copy.count, place + Int.random(in: 1...40, using: &random)))
                default:
                    let end = min(copy.count, place + Int.random(in: 1...60, using: &random))
                    copy.insert(contentsOf: copy[place..<end], at: Int.random(in: copy.indices, using: &random))
                }
            }
            try ReaderChecks.check(copy, as: format)
        }
    }

    @Test("K05: the format is recognised by the first bytes", arguments: CaptionFormat.allCases)
    func guessed(format: CaptionFormat) throws {
        let bytes = try CaptionFileWriter(format: format).write(Self.captions).bytes
        #expect(CaptionFileReader(guessingFrom: bytes)?.format == format)
        #expect(CaptionFileReader(guessingFrom: Array("hello".utf8))?.format == nil)
    }

    @Test("K05: an oversized file is refused")
    func tooLarge() {
        #expect(throws: CaptionError.self) {
            try CaptionFileReader(format: .subRip).read([UInt8](repeating: 0x20, count: (32 << 20) + 1))
        }
    }
}
