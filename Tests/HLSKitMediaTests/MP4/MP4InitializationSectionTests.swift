import HLSKitMedia
import Testing

@Suite struct MP4InitializationSectionTests {
    private func section(_ tracks: [BoxWriter.Track], movieTimescale: Int = 1000) throws -> MP4InitializationSection {
        try MP4InitializationSection(parsing: BoxWriter.moov(tracks, movieTimescale: movieTimescale)[...])
    }

    struct Entry: CustomTestStringConvertible {
        var name: String
        var handler = "vide"
        var entry: [UInt8]
        var descriptionVersion: UInt8 = 0
        var codec: MediaCodec
        var mediaType = MediaKind.video
        var configuration: [UInt8] = []
        var sampleRate = 0
        var channelCount = 0

        var testDescription: String { name }
    }

    static let videoEntries: [Entry] = [
        ("avc1", "avcC", MediaCodec.h264), ("avc3", "avcC", .h264), ("hvc1", "hvcC", .hevc), ("hev1", "hvcC", .hevc),
        ("dvh1", "hvcC", .hevc), ("dvhe", "hvcC", .hevc), ("av01", "av1C", .av1),
    ].map { type, box, codec in
        Entry(
            name: type, entry: BoxWriter.visualEntry(type, BoxWriter.box(box, [1, 2, 3, 4])), codec: codec,
            configuration: [1, 2, 3, 4])
    }

    static let dOps: [UInt8] = [0, 2, 0x01, 0x38, 0, 0, 0xBB, 0x80, 0xFF, 0xFE, 0]
    static let streamInformation = (0..<34).map { UInt8($0) }
    static let cookie = (0..<28).map { UInt8($0) }
    static let esds = BoxWriter.esds(objectType: 0x40, [0x11, 0x90])

    static let otherEntries: [Entry] = [
        Entry(
            name: "vp09: no configuration is needed",
            entry: BoxWriter.visualEntry("vp09", BoxWriter.fullBox("vpcC", version: 1, BoxWriter.zeros(8))), codec: .vp9
        ),
        Entry(
            name: "unknown video keeps its name", entry: BoxWriter.visualEntry("vvc1", BoxWriter.box("vvcC", [1])),
            codec: MediaCodec(rawValue: "vvc1")),
        Entry(
            name: "AAC", handler: "soun", entry: BoxWriter.audioEntry("mp4a", esds), codec: .aac, mediaType: .audio,
            configuration: [0x11, 0x90], sampleRate: 48_000, channelCount: 2),
        Entry(
            name: "AAC with SBR told openly: the rate of the output", handler: "soun",
            // Object type 5, 24 kHz, mono, extension 48 kHz, core type 2.
            entry: BoxWriter.audioEntry("mp4a", BoxWriter.esds(objectType: 0x40, [0x2B, 0x09, 0x88])), codec: .aac,
            mediaType: .audio, configuration: [0x2B, 0x09, 0x88], sampleRate: 48_000, channelCount: 1),
        Entry(
            name: "AAC whose writer left the configuration out: plain AAC-LC", handler: "soun",
            entry: BoxWriter.audioEntry("mp4a", BoxWriter.esds(objectType: 0x40, [])), codec: .aac,
            mediaType: .audio, configuration: [0x11, 0x90], sampleRate: 48_000, channelCount: 2),
        Entry(
            name: "AAC without a configuration, at a rate that has no number", handler: "soun",
            entry: BoxWriter.audioEntry("mp4a", rate: 47_999, BoxWriter.esds(objectType: 0x40, [])), codec: .aac,
            mediaType: .audio, sampleRate: 47_999, channelCount: 2),
        Entry(
            name: "MP3 in mp4a", handler: "soun",
            entry: BoxWriter.audioEntry("mp4a", BoxWriter.esds(objectType: 0x6B, [])), codec: .mp3, mediaType: .audio,
            sampleRate: 48_000, channelCount: 2),
        Entry(
            name: "AC-3 in mp4a", handler: "soun",
            entry: BoxWriter.audioEntry("mp4a", BoxWriter.esds(objectType: 0xA5, [])), codec: .ac3, mediaType: .audio,
            sampleRate: 48_000, channelCount: 2),
        Entry(
            name: "AC-3: channels of dac3, 3/2 and LFE", handler: "soun",
            entry: BoxWriter.audioEntry("ac-3", BoxWriter.box("dac3", [0x10, 0x3D, 0x40])), codec: .ac3,
            mediaType: .audio, sampleRate: 48_000, channelCount: 6),
        Entry(
            name: "E-AC-3: channels of dec3, with a dependent substream of two more", handler: "soun",
            entry: BoxWriter.audioEntry(
                "ec-3", BoxWriter.box("dec3", [0x18, 0x00, 0x20, 0x0F, 0x02, 0x02])), codec: .eac3, mediaType: .audio,
            sampleRate: 48_000, channelCount: 8),
        Entry(
            name: "Opus: OpusHead is little-endian", handler: "soun",
            entry: BoxWriter.audioEntry("Opus", BoxWriter.box("dOps", dOps)), codec: .opus, mediaType: .audio,
            configuration: Array("OpusHead".utf8) + [1, 2, 0x38, 0x01, 0x80, 0xBB, 0, 0, 0xFE, 0xFF, 0],
            sampleRate: 48_000, channelCount: 2),
        Entry(
            name: "FLAC: STREAMINFO", handler: "soun",
            entry: BoxWriter.audioEntry(
                "fLaC", BoxWriter.fullBox("dfLa", [0x80, 0, 0, 34] + streamInformation)), codec: .flac,
            mediaType: .audio, configuration: streamInformation, sampleRate: 48_000, channelCount: 2),
        Entry(
            name: "FLAC above 65,535 Hz: the rate of STREAMINFO", handler: "soun",
            entry: withoutRate(
                BoxWriter.audioEntry("fLaC", BoxWriter.fullBox("dfLa", [0x80, 0, 0, 34] + streamInformation))),
            codec: .flac, mediaType: .audio, configuration: streamInformation, sampleRate: 41_136, channelCount: 2),
        Entry(
            name: "ALAC above 65,535 Hz: the rate of the cookie", handler: "soun",
            entry: withoutRate(BoxWriter.audioEntry("alac", BoxWriter.box("alac", cookie))), codec: .alac,
            mediaType: .audio, configuration: [0, 0, 0, 36] + Array("alac".utf8) + cookie, sampleRate: 404_298_267,
            channelCount: 2),
        Entry(
            name: "ALAC: the cookie with its box header", handler: "soun",
            entry: BoxWriter.audioEntry("alac", BoxWriter.box("alac", cookie)), codec: .alac, mediaType: .audio,
            configuration: [0, 0, 0, 36] + Array("alac".utf8) + cookie, sampleRate: 48_000, channelCount: 2),
        Entry(
            name: "QuickTime sound version 1: 16 bytes more, esds in wave", handler: "soun",
            entry: BoxWriter.audioEntry(
                "mp4a", version: 1, BoxWriter.zeros(16),
                BoxWriter.box("wave", BoxWriter.box("frma", Array("mp4a".utf8)), esds)),
            codec: .aac, mediaType: .audio, configuration: [0x11, 0x90], sampleRate: 48_000, channelCount: 2),
        Entry(
            name: "QuickTime sound version 2: rate and channels of its own", handler: "soun",
            entry: BoxWriter.audioEntry(
                "alac", version: 2, channels: 3, rate: 1,
                BoxWriter.be32(72) + BoxWriter.be64(Int(96_000.0.bitPattern)) + BoxWriter.be32(6) + BoxWriter.zeros(20),
                BoxWriter.box("alac", cookie)),
            codec: .alac, mediaType: .audio, configuration: [0, 0, 0, 36] + Array("alac".utf8) + cookie,
            sampleRate: 96_000, channelCount: 6),
        Entry(
            name: "version 1 of ISO's stsd is not QuickTime's", handler: "soun",
            entry: BoxWriter.audioEntry("mp4a", version: 1, esds), descriptionVersion: 1, codec: .aac,
            mediaType: .audio,
            configuration: [0x11, 0x90], sampleRate: 48_000, channelCount: 2),
        Entry(
            name: "WebVTT: its header", handler: "text",
            entry: BoxWriter.textEntry("wvtt", BoxWriter.box("vttC", Array("WEBVTT".utf8))), codec: .webVTT,
            mediaType: .text, configuration: Array("WEBVTT".utf8)),
        Entry(
            name: "TTML: three strings before the boxes", handler: "subt",
            entry: BoxWriter.textEntry("stpp", Array("http://www.w3.org/ns/ttml\0\0image/png\0".utf8)), codec: .ttml,
            mediaType: .text),
        Entry(
            name: "3GPP timed text: flags, style and fonts", handler: "sbtl",
            entry: BoxWriter.textEntry("tx3g", BoxWriter.zeros(30)), codec: .tx3g, mediaType: .text,
            configuration: BoxWriter.zeros(30)),
        Entry(
            name: "QuickTime's text", handler: "text", entry: BoxWriter.textEntry("text", [1, 2, 3]),
            codec: .quickTimeText, mediaType: .text, configuration: [1, 2, 3]),
        Entry(
            name: "CEA-608", handler: "clcp", entry: BoxWriter.textEntry("c608"), codec: .cea608, mediaType: .text),
    ]

    private static func withoutRate(_ entry: [UInt8]) -> [UInt8] { entry[..<32] + [0, 0, 0, 0] + entry[36...] }

    @Test("a sample entry gives codec and configuration", arguments: videoEntries + otherEntries)
    func sampleEntry(_ entry: Entry) throws {
        let track = BoxWriter.Track(
            handler: entry.handler, entries: [entry.entry], descriptionVersion: entry.descriptionVersion)
        let section = try section([track])
        let parsed = try #require(section.tracks.first)
        #expect(section.notes.isEmpty)
        #expect(parsed.codec == entry.codec)
        #expect(parsed.mediaType == entry.mediaType)
        #expect(parsed.configuration == entry.configuration)
        #expect(parsed.sampleRate == entry.sampleRate)
        #expect(parsed.channelCount == entry.channelCount)
        #expect(parsed.gapless == (entry.codec == .opus ? GaplessInfo(leadingSampleCount: 312) : nil))
        #expect(parsed.width == (entry.mediaType == .video ? 64 : 0))
        #expect(parsed.height == (entry.mediaType == .video ? 48 : 0))
        #expect(parsed.sampleEntry.utf8.elementsEqual(entry.entry[4..<8]))
    }

    @Test("colour, pixel aspect ratio and clean aperture become values")
    func visualDescription() throws {
        let colr = BoxWriter.box(
            "colr", Array("nclx".utf8), BoxWriter.be16(9), BoxWriter.be16(16), BoxWriter.be16(9), [0x80])
        let profile = BoxWriter.box("colr", Array("prof".utf8), [1, 2, 3])
        let pasp = BoxWriter.box("pasp", BoxWriter.be32(4), BoxWriter.be32(3))
        let clap = BoxWriter.box("clap", [60, 1, 80, 2, -4, 2, 0, 1].flatMap { BoxWriter.be32($0) })
        let track = BoxWriter.Track(entries: [BoxWriter.visualEntry("avc1", colr, profile, pasp, clap)])
        let parsed = try #require(try section([track]).tracks.first)
        #expect(
            parsed.colorInformation
                == ColorInformation(
                    colorPrimaries: 9, transferCharacteristics: 16, matrixCoefficients: 9, isFullRange: true))
        #expect(parsed.pixelAspectRatio == PixelAspectRatio(horizontalSpacing: 4, verticalSpacing: 3))
        #expect(parsed.cleanAperture == CleanAperture(width: 60, height: 40, horizontalOffset: -2, verticalOffset: 0))
    }

    @Test("J08: mastering display and light levels become values, from MPEG's and VP9's boxes")
    func highDynamicRange() throws {
        // BT.2020 displays with 0.005 to 1000 cd/m². MPEG has green first and counts in 1/50,000. VP9 has red first and
        // counts in 1/65,536.
        let mdcv = BoxWriter.box(
            "mdcv", [8500, 39850, 6550, 2300, 35400, 14600, 15635, 16450].flatMap { BoxWriter.be16($0) },
            BoxWriter.be32(10_000_000), BoxWriter.be32(50))
        let clli = BoxWriter.box("clli", BoxWriter.be16(1000), BoxWriter.be16(400))
        let smdm = BoxWriter.fullBox(
            "SmDm", version: 1, [32768, 16384, 8192, 49152, 4096, 2048, 20480, 21504].flatMap { BoxWriter.be16($0) },
            BoxWriter.be32(1000 << 8), BoxWriter.be32(1 << 13))
        let coll = BoxWriter.fullBox("CoLL", version: 1, BoxWriter.be16(900), BoxWriter.be16(300))
        let section = try section([
            BoxWriter.Track(id: 1, entries: [BoxWriter.visualEntry("hvc1", mdcv, clli)]),
            BoxWriter.Track(id: 2, entries: [BoxWriter.visualEntry("vp09", smdm, coll)]),
            BoxWriter.Track(id: 3, entries: [BoxWriter.visualEntry("hvc1", BoxWriter.box("mdcv", [1]))]),
        ])
        typealias Volume = MasteringDisplayColorVolume
        let (mpeg, vp9) = (section.tracks[0], section.tracks[1])
        #expect(
            mpeg.masteringDisplayColorVolume
                == Volume(
                    primaries: Volume.Primaries(
                        red: .init(x: 0.708, y: 0.292), green: .init(x: 0.17, y: 0.797),
                        blue: .init(x: 0.131, y: 0.046), whitePoint: .init(x: 0.3127, y: 0.329)),
                    luminance: 0.005...1000))
        #expect(
            mpeg.contentLightLevelInfo
                == ContentLightLevelInfo(maximumContentLightLevel: 1000, maximumFrameAverageLightLevel: 400))
        #expect(
            vp9.masteringDisplayColorVolume
                == Volume(
                    primaries: Volume.Primaries(
                        red: .init(x: 0.5, y: 0.25), green: .init(x: 0.125, y: 0.75),
                        blue: .init(x: 0.0625, y: 0.03125), whitePoint: .init(x: 0.3125, y: 0.328125)),
                    luminance: 0.5...1000))
        #expect(vp9.contentLightLevelInfo?.maximumContentLightLevel == 900)
        #expect(section.tracks[2].masteringDisplayColorVolume == nil)
        #expect(section.notes.count == 1)
    }

    @Test("a malformed extension of a sample entry is dropped with a note")
    func malformedExtension() throws {
        let track = BoxWriter.Track(
            entries: [BoxWriter.visualEntry("avc1", BoxWriter.box("colr", [1]), BoxWriter.box("avcC", [7]))])
        let section = try section([track])
        #expect(section.tracks.first?.configuration == [7])
        #expect(section.tracks.first?.colorInformation == nil)
        #expect(section.notes.count == 1)
    }

    @Test(
        "the language is the extended tag, or the three letters without a tag, or nil without both",
        arguments: [
            ([21, 14, 4], nil, nil), ([4, 5, 21], nil, "deu"), ([4, 5, 21], "pt-BR", "pt-BR"), ([0, 0, 0], nil, nil),
            ([4, 5, 21], "und", "deu"),
        ] as [([Int], String?, String?)])
    func language(letters: [Int], extended: String?, expected: String?) throws {
        let track = BoxWriter.Track(language: letters, extendedLanguage: extended)
        #expect(try section([track]).tracks.first?.language == expected)
    }

    private static func kind(_ role: String, scheme: String = "urn:mpeg:dash:role:2011") -> [UInt8] {
        BoxWriter.fullBox("kind", Array("\(scheme)\0\(role)\0".utf8))
    }

    @Test("the user data of a track contains its name and roles")
    func label() throws {
        let data = [
            BoxWriter.box("name", Array("Director's cut".utf8)) + Self.kind("description"),
            Self.kind("forced-subtitle") + Self.kind("caption") + BoxWriter.box("name", Array("Alle\0 x".utf8)),
            // Other schemes, incomplete boxes and blanks say nothing.
            Self.kind("caption", scheme: "about:html-kind") + BoxWriter.box("kind", [0, 0]),
            BoxWriter.box("name", Array("  ".utf8)) + [0, 0, 0, 99] + Array("name".utf8),
        ]
        let labels = try section(data.enumerated().map { BoxWriter.Track(id: $0 + 1, userData: $1) }).tracks.map(
            \.label)
        #expect(labels.map(\.name) == ["Director's cut", "Alle", nil, nil])
        #expect(labels.map(\.describesVideo) == [true, false, false, false])
        #expect(labels.map(\.describesAudio) == [false, true, false, false])
        #expect(labels.map(\.isForced) == [false, true, false, false])
        let long = BoxWriter.Track(userData: BoxWriter.box("name", [UInt8](repeating: 0x61, count: 9999)))
        #expect(try section([long]).tracks.first?.label.name?.count == 500)
    }

    @Test(
        "the enabled tracks of a kind are its default, unless all are enabled",
        arguments: [
            ([3, 3], [false, false]), ([3, 2], [true, false]), ([2, 2], [false, false]), ([7, 6], [true, false]),
        ])
    func enabled(flags: [Int], isDefault: [Bool]) throws {
        let entry = BoxWriter.audioEntry("ac-3", BoxWriter.box("dac3", [0x10, 0x3D, 0x40]))
        let tracks = flags.enumerated().map { index, flags in
            BoxWriter.Track(id: index + 1, flags: flags, handler: "soun", entries: [entry])
        }
        let video = BoxWriter.Track(id: 9, flags: 2)
        let found = try section(tracks + [video]).tracks
        #expect(found.map(\.label.isDefault) == isDefault + [false])
        var bytes = BoxWriter.header(tracks)
        let count = bytes.count
        MP4InitializationSection.disable([2], in: &bytes)
        #expect(bytes.count == count)
        let disabled = try MP4InitializationSection(parsing: bytes[...]).tracks
        #expect(disabled.map(\.label.isDefault) == [flags[0] & 1 == 1, false])
        for count in 0..<bytes.count {
            var part = Array(bytes.prefix(count))
            MP4InitializationSection.disable([1, 2], in: &part)
            #expect(part.count == count)
        }
    }

    @Test(
        "QuickTime files declare languages by number",
        arguments: [
            (0, "eng"), (2, "deu"), (11, "jpn"), (94, "epo"), (95, nil), (127, nil), (128, "cym"), (150, "aze"),
            (151, nil),
            (0x3FF, nil), (0x7FFF, nil), (0x10B5, "deu"),
        ] as [(Int, String?)])
    func macintoshLanguage(number: Int, expected: String?) throws {
        let letters = [number >> 10, number >> 5 & 31, number & 31]
        let movie = BoxWriter.moov([BoxWriter.Track(language: letters)])
        func language(brand: String) throws -> String? {
            let type = BoxWriter.box("ftyp", Array(brand.utf8), BoxWriter.zeros(4))
            return try MP4InitializationSection(parsing: (type + movie)[...]).tracks.first?.language
        }
        #expect(try language(brand: "qt  ") == expected)
        #expect(try language(brand: "isom") == (number >= 0x400 ? expected : nil))
    }

    @Test("hint and time code tracks are skipped with a note, all others are returned")
    func tracks() throws {
        let section = try section([
            BoxWriter.Track(id: 1), BoxWriter.Track(id: 2, handler: "hint", entries: [BoxWriter.textEntry("rtp ")]),
            BoxWriter.Track(id: 7, handler: "soun", entries: [BoxWriter.audioEntry("ac-3")]),
            BoxWriter.Track(id: 8, handler: "meta", entries: [BoxWriter.textEntry("mett")]),
        ])
        #expect(section.tracks.map(\.id) == [1, 7, 8])
        #expect(section.tracks.map(\.mediaType) == [.video, .audio, .metadata])
        #expect(section.notes == ["track 2: a 'hint' track is skipped"])
        #expect(section.isFragmented)
    }

    static let unreadable: [(name: String, track: BoxWriter.Track)] = [
        ("a timescale of 0", BoxWriter.Track(id: 2, timescale: 0)),
        (
            "an unknown codec with a child longer than its parent",
            BoxWriter.Track(
                id: 2, handler: "soun",
                entries: [BoxWriter.audioEntry("xyzw", BoxWriter.be32(100) + Array("abcd".utf8))])
        ),
        ("no sample entry but its type", BoxWriter.Track(id: 2, entries: [BoxWriter.box("avc1", [1])])),
        (
            "an edit list that is cut short",
            BoxWriter.Track(id: 2, edits: BoxWriter.box("edts", BoxWriter.fullBox("elst", [0])))
        ),
    ]

    @Test("an unreadable track does not affect the others", arguments: unreadable.indices)
    func unreadableTrack(index: Int) throws {
        let track = Self.unreadable[index].track
        for tracks in [[BoxWriter.Track(id: 1), track], [track, BoxWriter.Track(id: 1)]] {
            let section = try section(tracks)
            #expect(section.tracks.map(\.id) == [1])
            #expect(section.notes.count == 1)
            #expect(section.notes.first?.hasPrefix("a track is skipped: ") == true)
        }
        let error = #expect(throws: MediaError.self) { try section([track, track]) }
        #expect(error?.code == .malformed)
    }

    @Test("encv and enca give the inner codec and its encryption")
    func encryption() throws {
        let keyID = (0..<16).map { UInt8($0) }
        let vector = (100..<116).map { UInt8($0) }
        func sinf(_ format: String, _ scheme: String, version: UInt8, _ tenc: [UInt8]) -> [UInt8] {
            BoxWriter.box(
                "sinf", BoxWriter.box("frma", Array(format.utf8)),
                BoxWriter.fullBox("schm", Array(scheme.utf8), BoxWriter.be32(0x10000)),
                BoxWriter.box("schi", BoxWriter.fullBox("tenc", version: version, tenc)))
        }
        let section = try section([
            BoxWriter.Track(
                id: 1,
                entries: [
                    BoxWriter.visualEntry(
                        "encv", BoxWriter.box("avcC", [1, 2]),
                        sinf("avc1", "cbcs", version: 1, [0, 0x19, 1, 0] + keyID + [16] + vector))
                ]),
            BoxWriter.Track(
                id: 2, handler: "soun",
                entries: [
                    BoxWriter.audioEntry(
                        "enca", Self.esds, sinf("mp4a", "cenc", version: 0, [0, 0x19, 1, 8] + keyID))
                ]),
        ])
        #expect(section.notes.isEmpty)
        #expect(section.tracks.map(\.codec) == [.h264, .aac])
        #expect(section.tracks.map(\.sampleEntry) == ["avc1", "mp4a"])
        #expect(section.tracks.map(\.configuration) == [[1, 2], [0x11, 0x90]])
        #expect(
            section.tracks[0].encryption
                == TrackEncryption(
                    scheme: .cbcs, defaultKeyID: keyID, initializationVectorSize: 0,
                    constantInitializationVector: vector, cryptByteBlock: 1, skipByteBlock: 9))
        #expect(
            section.tracks[1].encryption
                == TrackEncryption(scheme: .cenc, defaultKeyID: keyID, initializationVectorSize: 8))
    }

    struct Malformed: CustomTestStringConvertible {
        var name: String
        var bytes: [UInt8]
        var code: MediaError.Code
        var testDescription: String { name }
    }

    static let malformed: [Malformed] = [
        Malformed(name: "nothing", bytes: [], code: .truncated),
        Malformed(name: "text", bytes: Array("<!DOCTYPE html><html>".utf8), code: .unknownContainer),
        Malformed(
            name: "a transport stream", bytes: [0x47, 0x40, 0, 0x10] + BoxWriter.zeros(184), code: .unknownContainer),
        Malformed(
            name: "no moov", bytes: BoxWriter.box("ftyp", BoxWriter.zeros(8)), code: .missingInitializationSection),
        Malformed(name: "half of moov", bytes: Array(BoxWriter.header().prefix(200)), code: .truncated),
        Malformed(name: "moov without tracks", bytes: BoxWriter.moov([]), code: .malformed),
        Malformed(name: "timescale 0", bytes: BoxWriter.moov([BoxWriter.Track(timescale: 0)]), code: .malformed),
        Malformed(
            name: "timescale 2^31", bytes: BoxWriter.moov([BoxWriter.Track(timescale: 1 << 31)]), code: .malformed),
        Malformed(
            name: "a child longer than its parent",
            bytes: BoxWriter.box("moov", BoxWriter.be32(100) + Array("trak".utf8)), code: .malformed),
        Malformed(
            name: "a box of 2^63 bytes", bytes: BoxWriter.be32(1) + Array("moov".utf8) + [0x80] + BoxWriter.zeros(7),
            code: .truncated),
        Malformed(name: "a box of 7 bytes", bytes: BoxWriter.be32(7) + Array("moov".utf8), code: .malformed),
        Malformed(
            name: "257 tracks", bytes: BoxWriter.moov((1...257).map { BoxWriter.Track(id: $0) }), code: .limitExceeded),
    ]

    @Test("an invalid initialization section is an error that says so", arguments: malformed)
    func fails(_ malformed: Malformed) {
        let error = #expect(throws: MediaError.self) { try MP4InitializationSection(parsing: malformed.bytes[...]) }
        #expect(error?.code == malformed.code)
        #expect(error?.byteOffset != nil)
    }

    @Test("boxes nested a hundred thousand deep are not followed")
    func deepNesting() throws {
        var nested: [UInt8] = []
        for depth in (1...100_000).reversed() {
            nested += BoxWriter.be32((100_001 - depth) * 8).reversed() + Array("kart".utf8).reversed()
        }
        // The bytes are built in reverse order from the innermost box. Reversed again, they are 'trak' in 'trak' in
        // 'trak'.
        let header = BoxWriter.box("moov", nested.reversed())
        #expect(throws: MediaError.self) { try MP4InitializationSection(parsing: header[...]) }
    }
}
