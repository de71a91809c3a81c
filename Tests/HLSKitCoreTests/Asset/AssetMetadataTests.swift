import Foundation
import HLSKitCore
import HLSKitMedia
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(10))) struct AssetMetadataTests {
    private static let base = "http://a.example/"
    private static let master = """
        #EXTM3U
        #EXT-X-SESSION-DATA:DATA-ID="com.apple.hls.title",VALUE="A title",LANGUAGE="en"
        #EXT-X-SESSION-DATA:DATA-ID="com.apple.hls.title",VALUE="Ein Titel",LANGUAGE="de"
        #EXT-X-SESSION-DATA:DATA-ID="com.example.more",URI="more.json"
        #EXT-X-SESSION-DATA:DATA-ID="com.example.raw",URI="raw",FORMAT=RAW
        #EXT-X-SESSION-DATA:DATA-ID="com.example.bad",URI="bad.json"
        #EXT-X-SESSION-DATA:DATA-ID="com.apple.hls.chapters",URI="chapters.json"
        #EXT-X-STREAM-INF:BANDWIDTH=1000
        v.m3u8
        """
    private static let chapters = """
        [{"chapter":2,"start-time":10,"titles":[{"language":"en","title":"Two"}]},
         {"chapter":1,"start-time":0,"duration":9.5,
          "titles":[{"language":"en","title":"One"},{"language":"de","title":"Eins"}],
          "images":[{"image-category":"poster","url":"http://a.example/1.jpg"}],
          "metadata":[{"key":"mood","value":"calm","language":"en"}]},
         {"start-time":"never"}]
        """

    private func makeAsset() -> (Asset, TableTransport) {
        let transport = TableTransport(texts: [
            Self.base + "m.m3u8": Self.master, Self.base + "more.json": #"{"a":[1,2.5,"x",null,true]}"#,
            Self.base + "raw": "raw bytes", Self.base + "bad.json": "{", Self.base + "chapters.json": Self.chapters,
        ])
        return (Asset(urlString: Self.base + "m.m3u8", options: .table(transport)), transport)
    }

    @Test("A09: a value that is a number, also as text or JSON, loads as a number")
    func numbers() async throws {
        let transport = TableTransport(texts: [
            Self.base + "m.m3u8": """
            #EXTM3U
            #EXT-X-SESSION-DATA:DATA-ID="com.example.text",VALUE="2.5"
            #EXT-X-SESSION-DATA:DATA-ID="com.example.json",URI="n.json"
            #EXT-X-SESSION-DATA:DATA-ID="com.example.words",VALUE="two"
            #EXT-X-STREAM-INF:BANDWIDTH=1000
            v.m3u8

            """, Self.base + "n.json": "-7",
        ])
        let items = try await Asset(urlString: Self.base + "m.m3u8", options: .table(transport)).load(.metadata)
        let values = try await [items[0].load(.numberValue), items[1].load(.numberValue), items[2].load(.numberValue)]
        #expect(values == [2.5, -7, nil])
    }

    @Test("A09: session data become metadata items; a value at a URL is loaded once, on request")
    func sessionData() async throws {
        let (asset, transport) = makeAsset()
        let items = try await asset.load(.metadata)
        #expect(items.count == 6)
        #expect(transport.urls.count == 1)
        let titles = try await asset.load(.commonMetadata)
        #expect(titles.map(\.commonKey) == [.title, .title])
        #expect(titles.map(\.extendedLanguageTag) == ["en", "de"])
        #expect(try await titles.first?.load(.stringValue) == "A title")
        let german = MetadataItem.metadataItems(
            from: titles, filteredAndSortedAccordingToPreferredLanguages: ["fr", "de"])
        #expect(try await german.first?.load(.stringValue) == "Ein Titel")

        let more = try #require(items.first { $0.key == "com.example.more" })
        let expected = JSONDocument.object(["a": .array([.number(1), .number(2.5), .string("x"), .null, .bool(true)])])
        #expect(try await more.load(.value) == .json(expected))
        #expect(try await more.load(.value) == .json(expected))
        #expect(transport.urls == [Self.base + "m.m3u8", Self.base + "more.json"])
        let raw = try #require(items.first { $0.key == "com.example.raw" })
        #expect(try await raw.load(.dataValue) == Array("raw bytes".utf8))
        let bad = try #require(items.first { $0.key == "com.example.bad" })
        await #expect(throws: HLSError.self) { try await bad.load(.value) }
        #expect(try await asset.loadMetadata(for: .hlsMetadata).count == 6)
        #expect(try await asset.loadMetadata(for: .id3Metadata).isEmpty)
    }

    @Test("A10: chapters are in order of time, with titles in the best language")
    func chapters() async throws {
        let (asset, _) = makeAsset()
        #expect(Set(try await asset.load(.availableChapterLocales)) == ["en", "de"])
        let english = try await asset.loadChapterMetadataGroups(bestMatchingPreferredLanguages: ["fr", "en-GB"])
        #expect(english.map(\.timeRange.start.seconds) == [0, 10])
        #expect(english.first?.timeRange.duration == MediaTime(value: 19, timescale: 2))
        #expect(english.last?.timeRange.duration == .indefinite)
        var titles: [String?] = []
        for group in english {
            titles.append(try await group.items.first { $0.commonKey == .title }?.load(.stringValue))
        }
        #expect(titles == ["One", "Two"])
        #expect(english.first?.items.map(\.key) == ["title", "poster", "mood"])
        let german = try await asset.loadChapterMetadataGroups(withTitleLocale: "de")
        #expect(try await german.first?.items.first?.load(.stringValue) == "Eins")
        #expect(german.last?.items.isEmpty == true)
        #expect(try await asset.loadChapterMetadataGroups(withTitleLocale: "fr").isEmpty)
        #expect(try await asset.loadChapterMetadataGroups(bestMatchingPreferredLanguages: ["fr"]).count == 2)
    }

    @Test("S03: titles and chapters in the preferred language are the metadata of files", arguments: ["de", "fr"])
    func fileMetadata(_ language: String) async throws {
        let (asset, transport) = makeAsset()
        let (metadata, failure) = try await asset.loadFileMetadata([language])
        #expect(failure == nil)
        #expect(metadata.tags == [FileMetadata.Tag(name: "title", value: language == "de" ? "Ein Titel" : "A title")])
        #expect(metadata.chapters.map(\.title) == (language == "de" ? ["Eins", ""] : ["One", "Two"]))
        #expect(metadata.chapters.map(\.start) == [.zero, .seconds(10)])
        #expect(metadata.chapters.map(\.end) == [.milliseconds(9500), nil])
        #expect(transport.urls == [Self.base + "m.m3u8", Self.base + "chapters.json"])
    }

    @Test("S03: without chapters that can be read, files still get the title")
    func missingChapters() async throws {
        let transport = TableTransport(texts: [Self.base + "m.m3u8": Self.master, Self.base + "chapters.json": "{"])
        let asset = Asset(urlString: Self.base + "m.m3u8", options: .table(transport))
        let (metadata, failure) = try await asset.loadFileMetadata(["en"])
        #expect(metadata.tags.map(\.value) == ["A title"] && metadata.chapters.isEmpty)
        #expect(failure?.cause == "malformed chapter document")
    }

    @Test("A09, S03: the creation time of an MP4 file is metadata", arguments: [false, true])
    func creationTime(hasDate: Bool) async throws {
        var bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: "\(SampleMedia.fixtures)/media/mp4/tagged.mp4")))
        let mvhd = try #require(bytes.indices.first { bytes[$0...].starts(with: "mvhd".utf8) })
        // 2024-05-06T07:08:09Z, in seconds since 1904.
        let seconds = UInt32(1_714_979_289 + 2_082_844_800)
        bytes.replaceSubrange(mvhd + 8..<mvhd + 12, with: withUnsafeBytes(of: seconds.bigEndian) { Array($0) })
        if hasDate {
            let artist = try #require(bytes.indices.first { bytes[$0...].starts(with: [0xA9] + "ART".utf8) })
            bytes.replaceSubrange(artist + 1..<artist + 4, with: "day".utf8)
        }
        let url = Self.base + "film.mp4"
        let asset = Asset(urlString: url, options: .table(TableTransport([url: bytes])))
        let item = try await asset.loadMetadata(for: .isoUserData).first { $0.key == "mvhd" }
        #expect((item == nil) == hasDate)
        let (metadata, failure) = try await asset.loadFileMetadata([])
        #expect(failure == nil)
        let values = Dictionary(metadata.tags.map { ($0.name, $0.value) }) { first, _ in first }
        #expect(values["title"] == "A test" && values["comment"] == "ü")
        #expect(values["creation_time"] == "2024-05-06T07:08:09.000Z")
        #expect(values[hasDate ? "date" : "artist"] == "Some one")
        #expect(metadata.chapters.map(\.start) == [.zero, .milliseconds(200)])
        #expect(metadata.chapters.map(\.title) == ["One", "Two"])
    }

    @Test("A09, A10: user data, keys and chapters of an MP4 file are read")
    func mp4() async throws {
        for (name, format) in [
            ("tagged.mp4", MetadataFormat.iTunesMetadata), ("tagged-3gp.mp4", .isoUserData),
            ("tagged-keys.mov.mp4", .quickTimeMetadata),
        ] {
            let url = "file://\(SampleMedia.fixtures)/media/mp4/\(name)"
            let asset = Asset(urlString: url, options: AssetOptions(transport: PlayerConfiguration.unpaced().transport))
            let items = try await asset.loadMetadata(for: format)
            let title = items.first { $0.key.hasSuffix("nam") || $0.key.hasPrefix("tit") }
            #expect(try await title?.load(.stringValue) == "A test", "\(name) \(items.map(\.key))")
            let chapters = try await asset.loadChapterMetadataGroups(withTitleLocale: "und")
            #expect(chapters.map(\.timeRange.start.seconds) == (name == "tagged.mp4" ? [0, 0.2] : []))
        }
    }

    private static func describedFile() throws -> [UInt8] {
        var bytes = Array(try Data(contentsOf: URL(fileURLWithPath: SampleMedia.fixtures + "/media/mp4/tagged.mp4")))
        func start(of type: String) throws -> Int {
            try #require(bytes.indices.first { bytes[$0...].starts(with: type.utf8) }) - 4
        }
        func size(at place: Int) -> Int { bytes[place..<place + 4].reduce(0) { $0 << 8 | Int($1) } }
        func setSize(_ size: Int, at place: Int) {
            for index in 0..<4 { bytes[place + index] = UInt8(truncatingIfNeeded: size >> (24 - 8 * index)) }
        }
        let header = try start(of: "mvhd")
        // 2024-02-29 12:00:00
        bytes.replaceSubrange(header + 12..<header + 16, with: [0xE2, 0x06, 0x22, 0x40])
        let (movie, track) = (try start(of: "moov"), try start(of: "trak"))
        let text: [UInt8] = [0, 0, 0, 0, 0x15, 0xC7] + Array("Commentary".utf8) + [0]
        let title = [0, 0, 0, UInt8(8 + text.count)] + Array("titl".utf8) + text
        let userData = [0, 0, 0, UInt8(8 + title.count)] + Array("udta".utf8) + title
        bytes.insert(contentsOf: userData, at: track + size(at: track))
        setSize(size(at: track) + userData.count, at: track)
        setSize(size(at: movie) + userData.count, at: movie)
        return bytes
    }

    @Test("A07, A09: a track's user data is its metadata, and the movie header has the creation date")
    func described() async throws {
        let url = Self.base + "a.mp4"
        let asset = Asset(urlString: url, options: .table(TableTransport([url: try Self.describedFile()])))
        let (date, tracks, common) = try await asset.load(.creationDate, .tracks, .commonMetadata)
        #expect(try await date?.load(.stringValue) == "2024-02-29T12:00:00.000Z")
        #expect(common.contains { $0.commonKey == .creationDate && $0.identifier == date?.identifier })
        let items = try await tracks.first?.loadMetadata(for: .isoUserData) ?? []
        #expect(items.map(\.commonKey) == [.title])
        #expect(try await items.first?.load(.stringValue) == "Commentary")
        #expect(items.first?.extendedLanguageTag == "eng")
        for track in tracks.dropFirst() { #expect(try await track.loadMetadata(for: .isoUserData).isEmpty) }
        // A stream declares its creation date as session data.
        let (stream, _) = makeAsset()
        #expect(try await stream.load(.creationDate) == nil)
    }

    @Test("A09: ID3 tags of packed audio are read in every text encoding")
    func id3() async throws {
        func frame(_ id: String, _ content: [UInt8]) -> [UInt8] {
            Array(id.utf8) + [0, 0, 0, UInt8(content.count), 0, 0] + content
        }
        let frames =
            frame("TIT2", [0] + Array("A b".utf8)) + frame("TPE1", [1, 0xFF, 0xFE, 0xFC, 0])
            + frame("TALB", [3] + Array("ü".utf8)) + frame("TXXX", [3] + Array("k\0v".utf8))
            + frame("COMM", [0] + Array("eng\0said".utf8))
        let tag = Array("ID3".utf8) + [4, 0, 0, 0, 0, 0, UInt8(frames.count)] + frames
        let audio = Array(try Data(contentsOf: URL(fileURLWithPath: SampleMedia.fixtures + "/media/packed.aac")))
        let url = Self.base + "a.aac"
        let asset = Asset(urlString: url, options: .table(TableTransport([url: tag + audio])))
        var values: [String: String] = [:]
        for item in try await asset.loadMetadata(for: .id3Metadata) {
            values[item.commonKey?.rawValue ?? item.key] = try await item.load(.stringValue)
        }
        #expect(values["title"] == "A b")
        #expect(values["artist"] == "ü")
        #expect(values["albumName"] == "ü")
        #expect(values["TXXX:k"] == "v")
        #expect(values["description"] == "said")
    }
}

@Suite struct JSONDocumentTests {
    @Test(
        "metadata texts are parsed to their values",
        arguments: [
            ("null", JSONDocument.null), (" [ ] ", .array([])), ("{}", .object([:])), ("-0.5e+2", .number(-50)),
            (#""a\"\\\/\b\f\n\r\t""#, .string("a\"\\/\u{8}\u{C}\n\r\t")), (#""\u00e9\ud83d\ude00""#, .string("é😀")),
            (#""\ud83dx""#, .string("\u{FFFD}x")), ("\u{FEFF}true", .bool(true)),
            (#"{"a":{"b":[false,1]}}"#, .object(["a": .object(["b": .array([.bool(false), .number(1)])])])),
        ])
    func parses(text: String, value: JSONDocument) {
        #expect(JSONDocument(parsing: text.utf8) == value)
    }

    @Test(
        "invalid JSON is parsed to nil",
        arguments: [
            "", "nul", "01", "1.", "+1", "[1,]", "{\"a\"}", "{a:1}", "\"\n\"", "\"", "[", "1 2", "1e999", #""\x""#,
            #""\u12""#, String(repeating: "[", count: 100_000),
        ])
    func refuses(text: String) {
        #expect(JSONDocument(parsing: text.utf8) == nil)
    }
}
