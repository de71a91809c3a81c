import Testing

@testable import HLSKitMedia

@Suite struct ExtendedLanguageTests {
    @Test(
        "only tags that say more than a code are extended",
        arguments: [
            ("zh-Hant", "zho", "zh-Hant"), ("pt_BR", "por", "pt-BR"), ("zh", "zho", nil), ("tlh", "tlh", nil),
            ("x-dorf", nil, "x-dorf"), ("und", nil, nil), ("", nil, nil), ("e", nil, nil),
            ("zh-\u{48}\u{301}", "zho", nil),
            ("en-, x = 1", "eng", nil), (String(repeating: "a-", count: 40), nil, nil),
        ] as [(String, String?, String?)])
    func tag(_ text: String, code: String?, expected: String?) {
        #expect(ExtendedLanguage(text, code: code)?.tag == expected)
    }

    private static func handler(_ name: String) -> [UInt8] {
        BoxWriter.fullBox("hdlr", BoxWriter.zeros(4), Array("soun".utf8), BoxWriter.zeros(12), Array("\(name)\0".utf8))
    }

    @Test("a box gets its room from the handler's name", arguments: ["zh-Hant", "en-GB", "sr-Latn-RS-x-a"])
    func boxes(_ tag: String) throws {
        let language = try #require(ExtendedLanguage(tag, code: "und"))
        let other = Self.handler("SoundHandler")
        let written = Self.handler(language.handlerName("SoundHandler"))
        var bytes = [1, 2, 3] + written + other + written
        let count = bytes.count
        language.addBoxes(to: &bytes)
        let divided = other + BoxWriter.fullBox("elng", Array("\(tag)\0".utf8))
        #expect(bytes == [1, 2, 3] + divided + other + divided && bytes.count == count)
        // Only whole boxes change, and only with this tag.
        for part in [Array(written.dropLast()), Array(written.dropFirst(8)), other] {
            var changed = part
            language.addBoxes(to: &changed)
            #expect(changed == part)
        }
        var damaged = written
        for index in 0..<4 {
            damaged[index] = 0xFF
            var changed = damaged
            language.addBoxes(to: &changed)
            #expect(changed == damaged)
        }
    }

    private static func element(_ id: [UInt8], _ payload: [UInt8]) -> [UInt8] {
        id + [0x40 | UInt8(payload.count >> 8), UInt8(payload.count & 0xFF)] + payload
    }

    private static func text(_ id: [UInt8], _ text: String) -> [UInt8] {
        id + [0x80 | UInt8(text.utf8.count)] + Array(text.utf8)
    }

    @Test("an element gets its room from the language", arguments: ["zh-Hant", "en-GB"])
    func elements(_ tag: String) throws {
        let language = try #require(ExtendedLanguage(tag, code: "und"))
        let written = Self.text([0x22, 0xB5, 0x9C], language.matroskaLanguage(code: "chi"))
        var bytes = [7] + written + [8] + written
        let count = bytes.count
        language.addElements(code: "chi", to: &bytes)
        let divided = Self.text([0x22, 0xB5, 0x9C], "chi") + Self.text([0x22, 0xB5, 0x9D], tag)
        #expect(bytes == [7] + divided + [8] + divided && bytes.count == count)
        let before = bytes
        language.addElements(code: "chi", to: &bytes)
        #expect(bytes == before)
    }

    private static func track(_ type: UInt8, _ tag: String?, codec: String = "A") -> [UInt8] {
        let language = tag.map { text([0x22, 0xB5, 0x9D], $0) } ?? []
        return element([0xAE], [0x83, 0x81, type] + text([0x22, 0xB5, 0x9C], "chi") + language + text([0x86], codec))
    }

    private static func file(_ tracks: [[UInt8]], before: [UInt8] = []) -> [UInt8] {
        let unknownSize = [0x01] + [UInt8](repeating: 0xFF, count: 7)
        return element([0x1A, 0x45, 0xDF, 0xA3], [1, 2, 3]) + [0x18, 0x53, 0x80, 0x67] + unknownSize
            + element([0xEC], [UInt8](repeating: 0, count: 200)) + before
            + element([0x16, 0x54, 0xAE, 0x6B], tracks.flatMap(\.self))
    }

    private static func tags(_ bytes: [UInt8]) -> [String?] {
        MatroskaLanguages { offset, count in
            guard let start = Int(exactly: offset), start >= 0 else { return nil }
            return Array(bytes.dropFirst(start).prefix(count))
        }.tags
    }

    @Test("the tags of Matroska's tracks are read in their order, without tracks that have no media")
    func matroska() {
        let tracks = [
            Self.track(1, nil), Self.track(2, "zh-Hans"), Self.track(16, "en"), Self.track(17, "en"),
            Self.track(17, "de", codec: ""), Self.track(17, "und"), Self.track(17, "a, b"),
        ]
        let bytes = Self.file(tracks)
        #expect(Self.tags(bytes) == [nil, "zh-Hans", "en", nil, nil])
        for count in 0..<bytes.count { #expect(Self.tags(Array(bytes.prefix(count))).count <= 5) }
        for index in bytes.indices {
            for value: UInt8 in [0, 1, 0x40, 0x80, 0xFF] {
                var damaged = bytes
                damaged[index] = value
                _ = Self.tags(damaged)
            }
        }
        // Tracks after the media are not looked for.
        #expect(Self.tags(Self.file(tracks, before: Self.element([0x1F, 0x43, 0xB6, 0x75], []))).isEmpty)
        #expect(Self.tags(Self.file(tracks, before: Self.element([0xEC], []))).count == 5)
    }
}
