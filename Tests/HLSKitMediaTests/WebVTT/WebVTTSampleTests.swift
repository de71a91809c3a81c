import Testing

@testable import HLSKitMedia

@Suite("Samples of wvtt tracks")
struct WebVTTSampleTests {
    private static func box(_ name: String, _ payload: [UInt8]) -> [UInt8] {
        let size = UInt32(payload.count + 8)
        return [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: size >> $0) } + Array(name.utf8) + payload
    }

    private static let sample =
        box(
            "vttc",
            box("iden", Array("x".utf8)) + box("sttg", Array("line:0 align:left".utf8))
                + box("payl", Array("<i>a</i>\r\nb\n".utf8)))
        + box("vtta", Array("NOTE".utf8)) + box("vttc", box("payl", Array("c".utf8)))

    @Test("K01: cues have the sample's time, names and settings; an empty sample has no cues")
    func cues() throws {
        let sample = try WebVTTSample(parsing: Self.sample[...], start: .seconds(2), end: .seconds(3))
        #expect(sample.cues.map(\.payload) == ["<i>a</i>\nb", "c"])
        #expect(sample.cues.map(\.text) == ["a\nb", "c"])
        #expect(sample.cues.map(\.identifier) == ["x", ""])
        #expect(sample.cues[0].settings.line == .number(0))
        #expect(sample.cues[0].settings.alignment == .left)
        #expect(sample.cues.allSatisfy { $0.start == .seconds(2) && $0.end == .seconds(3) })
        for bytes in [Self.box("vtte", []), []] {
            let none = try WebVTTSample(parsing: bytes[...], start: .zero, end: .zero)
            #expect(none.cues.isEmpty)
        }
    }

    @Test(
        "K02: a written sample reads back with the same cues",
        arguments: [
            "", "line:0", "line:-1.5,end", "line:33.333%,center position:10%,line-right size:50% align:start",
            "region:r vertical:rl align:right",
        ])
    func writing(settings: String) throws {
        let cues = [
            WebVTTCue(
                identifier: "n", start: .zero, end: .seconds(1), settings: WebVTTCueSettings(parsing: settings[...]),
                payload: "<i>a</i>\nb"),
            WebVTTCue(start: .zero, end: .seconds(1), payload: "c"),
        ]
        let bytes = WebVTTSample.bytes(of: cues.map { ($0.identifier, $0.settings, $0.payload) })
        #expect(try WebVTTSample(parsing: bytes[...], start: .zero, end: .seconds(1)).cues == cues)
        #expect(cues[0].settings.text == settings)
        #expect(WebVTTSample.bytes(of: []) == Self.box("vtte", []))
    }

    @Test("K01: a truncated or damaged sample gives cues or an error")
    func damage() {
        for count in 0..<Self.sample.count {
            _ = try? WebVTTSample(parsing: Self.sample.prefix(count), start: .zero, end: .seconds(1))
            for value: UInt8 in [0, 1, 7, 0x7f, 0xff] {
                var bytes = Self.sample
                bytes[count] = value
                _ = try? WebVTTSample(parsing: bytes[...], start: .zero, end: .seconds(1))
            }
        }
        #expect(throws: MediaError.self) {
            try WebVTTSample(parsing: Self.sample.dropLast(), start: .zero, end: .seconds(1))
        }
    }

    @Test("K01: the number and the length of cues are limited")
    func limits() throws {
        let many = (0..<1000).flatMap { _ in Self.box("vttc", Self.box("payl", [0x61])) }
        let sample = try WebVTTSample(parsing: many[...], start: .zero, end: .seconds(1))
        #expect(sample.cues.count == 256)
        #expect(!sample.notes.isEmpty)
        let long = Self.box("vttc", Self.box("payl", Array(repeating: 0x61, count: 100_000)))
        let none = try WebVTTSample(parsing: long[...], start: .zero, end: .seconds(1))
        #expect(none.cues.isEmpty)
    }
}
