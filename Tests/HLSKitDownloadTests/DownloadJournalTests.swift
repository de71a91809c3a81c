import HLSKitCodec
import HLSKitMedia
import HLSKitPlaylist
import Testing

@testable import HLSKitDownload

@Suite("Download journal")
struct DownloadJournalTests {
    private static var entries: [DownloadJournal.Entry] {
        var lane = DownloadJournal.Lane(id: "audio|\"g\"|Englisch\n\u{1}", kind: .audio)
        (lane.language, lane.name, lane.isDefault, lane.bandwidth) = ("en", "Englisch", true, 128_000)
        (lane.videoRange, lane.isLive, lane.isListed) = ("PQ", true, true)
        lane.characteristics = "public.accessibility.describes-video"
        let file = DownloadJournal.File(
            name: "main-1/000001.ts", byteCount: 1 << 33, digest: FileDigest(algorithm: .murmur3, text: "0123"))
        var segment = DownloadJournal.Segment(
            lane: "main", sequence: 1 << 40, name: "a b.ts", start: -5, duration: 4_004_000)
        (segment.epoch, segment.range, segment.file, segment.discontinuity) = (2, 5..<(1 << 40), file, 3)
        segment.map = "main-1/map.mp4"
        segment.key = DownloadJournal.Key(
            method: "AES-128", file: "key.bin", vector: "000102030405060708090a0b0c0d0e0f")
        segment.mapKey = segment.key
        segment.namedKeys = [
            DownloadJournal.NamedKey(method: "AES-128", uri: "https://h/k?t=\"1\"", vector: segment.key?.vector),
            DownloadJournal.NamedKey(
                method: "SAMPLE-AES", uri: "skd://a", vector: nil, format: "com.example", formatVersions: "1/2"),
        ]
        segment.namedMapKeys = [segment.namedKeys[0]]
        segment.date = "2024-02-29T12:00:00.000Z"
        let gap = DownloadJournal.Segment(lane: "main", sequence: 7, name: "g.ts", start: 0, duration: 0)
        return [
            .header(url: "https://h/ä\\x.m3u8", identity: "0a1b2c3d"),
            .lane(DownloadJournal.Lane(id: "main", kind: .main)), .lane(lane),
            .resource(
                DownloadJournal.File(
                    name: "key.bin", byteCount: 16, digest: FileDigest(algorithm: .murmur3, text: "ff"))),
            .segment(segment), .metadata(metadata),
            .segment(gap), .written(byteCount: 1 << 40),
        ]
    }

    private static var metadata: FileMetadata {
        var metadata = FileMetadata()
        metadata.add("A \"film\"\n", for: "title")
        metadata.add("2024-05-06T07:08:09.000Z", for: "creation_time")
        metadata.add(FileMetadata.Chapter(start: .zero, end: .milliseconds(2500), title: "Eins"))
        metadata.add(FileMetadata.Chapter(start: .seconds(1 << 30), title: ""))
        return metadata
    }

    private static func journal(_ entries: some Sequence<DownloadJournal.Entry>) -> DownloadJournal {
        var journal = DownloadJournal()
        for entry in entries { journal.add(entry) }
        return journal
    }

    @Test("S02: journal entries read back unchanged")
    func roundTrip() throws {
        let bytes = Self.entries.flatMap(\.line)
        var journal = try #require(DownloadJournal(parsing: bytes))
        #expect(journal.validByteCount == bytes.count)
        var expected = Self.journal(Self.entries)
        #expect(journal.segments == expected.segments)
        #expect(journal.lanes == expected.lanes)
        #expect(journal.resources == expected.resources)
        #expect(journal.url == expected.url)
        #expect(journal.identity == "0a1b2c3d")
        #expect(journal.metadata == Self.metadata)
        #expect(journal.writtenByteCount == 1 << 40)
        #expect(journal.byteCount == 1 << 33)
        for segment in journal.segments(of: "main") { journal.remove(segment) }
        for segment in expected.segments(of: "main") { expected.remove(segment) }
        #expect(journal.segments(of: "main").isEmpty)
    }

    @Test("S01: a removed lane leaves the journal, and a changed lane keeps its place")
    func removed() throws {
        var again = DownloadJournal.Lane(id: "main", kind: .main)
        again.isListed = true
        let entries = Self.entries + [.lane(again), .removed(lane: "main")]
        let before = try #require(DownloadJournal(parsing: entries.dropLast().flatMap(\.line)))
        #expect(before.lanes.map(\.kind) == [.main, .audio])
        #expect(before.listedLanes.map(\.kind) == [.main, .audio])
        let journal = try #require(DownloadJournal(parsing: entries.flatMap(\.line)))
        #expect(journal.validByteCount == entries.flatMap(\.line).count)
        #expect(journal.lanes.map(\.kind) == [.audio])
        #expect(journal.segments(of: "main").isEmpty && !journal.hasMedia)
    }

    @Test("S02: a line with an overflowing number ends the journal")
    func extremes() throws {
        let header = #"{"v":1,"url":"https://h/x.m3u8","identity":"0a"}"#
        func segment(_ sequence: String, _ start: String, _ duration: String, more: String = "") -> String {
            #"{"in":"main","sequence":\#(sequence),"name":"a.ts","start":\#(start),"duration":\#(duration)\#(more)}"#
        }
        let large = #""9223372036854775807""#
        let good = [segment(#""-9223372036854775808""#, "0", "1"), segment(large, "5", "1")]
        let bad = [
            segment("1", large, "1"), segment("1", "0", large), segment("1", "0", "1", more: #","epoch":\#(large)"#),
            segment("1", "0", "1", more: #","file":"main-1/000001.ts","bytes":\#(large),"md5":"0""#),
        ]
        for line in bad {
            let text = ([header] + good + [line]).joined(separator: "\n") + "\n"
            let journal = try #require(DownloadJournal(parsing: Array(text.utf8)))
            #expect(journal.segments(of: "main").count == 2)
            #expect(journal.validByteCount == text.utf8.count - line.utf8.count - 1)
        }
        let journal = try #require(
            DownloadJournal(parsing: Array(([header] + good).joined(separator: "\n").utf8) + [10]))
        let list = DownloadPlaylist(DownloadJournal.Lane(id: "main", kind: .main), journal)
        #expect(try MediaPlaylist(parsing: list.text, url: "https://h/x.m3u8").segments.count == 2)
    }

    @Test("S02: an earlier version's journal with MD5 is read; a line without a digest ends it")
    func earlierDigests() throws {
        let header = #"{"v":1,"url":"https://h/x.m3u8","identity":"0a"}"#
        let line = #"{"file":"main-1/000001.ts","bytes":3,"md5":"900150983cd24fb0d6963f7d28e17f72"}"#
        let none = #"{"file":"main-1/000002.ts","bytes":3}"#
        let journal = try #require(DownloadJournal(parsing: Array("\(header)\n\(line)\n\(none)\n".utf8)))
        #expect(journal.resources.count == 1)
        let digest = try #require(journal.resources["main-1/000001.ts"]?.digest)
        var bytes = Array("abc".utf8)
        for algorithm in LibraryDigest.Algorithm.allCases {
            let hasher = try LibraryDigest(algorithm)
            bytes.withUnsafeBytes { hasher.update($0) }
            #expect((FileDigest(algorithm: algorithm, text: hasher.finish()) == digest) == (algorithm == .md5))
        }
        bytes[0] += 1
        let hasher = try LibraryDigest(.md5)
        bytes.withUnsafeBytes { hasher.update($0) }
        #expect(hasher.finish() != digest.text)
    }

    @Test("S02: a journal truncated anywhere keeps its complete lines")
    func torn() throws {
        let lines = Self.entries.map(\.line)
        let bytes = lines.flatMap(\.self)
        for end in bytes.indices {
            let journal = try #require(DownloadJournal(parsing: Array(bytes[..<end])))
            var count = 0
            var length = 0
            while count < lines.count, length + lines[count].count <= end {
                length += lines[count].count
                count += 1
            }
            #expect(journal.validByteCount == length)
            #expect(journal.segments == Self.journal(Self.entries.prefix(count)).segments)
        }
    }

    @Test(
        "a journal names only the download's files inside its folder",
        arguments: [
            "../x", "/etc/passwd", "a/../../x", "", "a//b", "./a", "a/\0", "notes.txt", "journal.ndjson", "output.mp4",
            "mine/a.ts", "main-/a.ts", "main-0/.a", "main-0/..", "main-0/a/b", "main-0/", "main-g/a.ts", "key-0.bin/a",
            "key-../x.bin", "main-0/" + String(repeating: "a", count: 101),
        ])
    func hostileNames(name: String) throws {
        let file = DownloadJournal.File(name: name, byteCount: 1, digest: FileDigest(algorithm: .murmur3, text: "0"))
        var segment = DownloadJournal.Segment(lane: "main", sequence: 1, name: "a", start: 0, duration: 1)
        segment.file = file
        var mapped = DownloadJournal.Segment(lane: "main", sequence: 2, name: "a", start: 0, duration: 1)
        mapped.map = name
        for entry in [DownloadJournal.Entry.resource(file), .segment(segment), .segment(mapped)] {
            let bytes = DownloadJournal.Entry.header(url: "u", identity: "").line + entry.line
            let journal = try #require(DownloadJournal(parsing: bytes))
            #expect(journal.segments.isEmpty)
            #expect(journal.resources.isEmpty)
        }
    }

    @Test(
        "another version, or another file, is refused",
        arguments: ["{\"v\":2,\"url\":\"x\"}\n", "hello\n", "[]\n"])
    func refused(text: String) { #expect(DownloadJournal(parsing: Array(text.utf8)) == nil) }

    @Test("R35: numbers of any size are read as written", arguments: [0, 9_000_000_000_000_001, Int.max, -5])
    func wideNumbers(number: Int) throws {
        var segment = DownloadJournal.Segment(
            lane: "main", sequence: number, name: "a", start: Int64(number) % (1 << 60), duration: 0)
        segment.range = 1..<UInt64(Int.max)
        let bytes = Self.entries[0].line + DownloadJournal.Entry.segment(segment).line
        let journal = try #require(DownloadJournal(parsing: bytes))
        #expect(journal.segments(of: "main") == [segment])
    }

    @Test("a journal damaged anywhere is read up to there and names only a download's files")
    func damaged() throws {
        let seed = Self.entries.flatMap(\.line)
        // The constants of Knuth's MMIX generator.
        var state: UInt64 = 1
        func random(_ bound: Int) -> Int {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Int(state >> 33) % bound
        }
        let pieces = [
            "../", "/", "..", "main-1/", "\\u002e", "9223372036854775808", "-1", "1e308", "{", "}", "[", "\n", "null",
        ]
        for _ in 0..<3000 {
            var bytes = seed
            for _ in 0...random(3) {
                let place = random(bytes.count)
                if random(2) == 0 {
                    bytes[place] = UInt8(random(256))
                } else {
                    bytes.insert(contentsOf: Array(pieces[random(pieces.count)].utf8), at: place)
                }
            }
            guard let journal = DownloadJournal(parsing: bytes) else { continue }
            let segments = journal.segments.values.flatMap(\.values)
            let names = segments.compactMap { $0.file?.name } + segments.flatMap(\.resources) + journal.resources.keys
            for name in names {
                #expect(
                    DownloadName.isOfMedia(name) && !name.split(separator: "/").contains("..") && !name.hasPrefix("/"))
            }
        }
    }
}
