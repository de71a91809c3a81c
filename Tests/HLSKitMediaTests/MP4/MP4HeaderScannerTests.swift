import HLSKitMedia
import Testing

@Suite struct MP4HeaderScannerTests {
    /// Reads a file in ranges from the offsets that the scanner asks for, and counts the bytes.
    private func scan(
        _ file: [UInt8], step: Int
    ) throws(MediaError) -> (header: MP4HeaderScanner.Header, byteCount: Int) {
        var scanner = MP4HeaderScanner()
        var byteCount = 0
        while scanner.offset < file.count {
            let piece = Array(file[scanner.offset..<min(scanner.offset + step, file.count)])
            byteCount += piece.count
            if let header = try scanner.append(piece[...]) { return (header, byteCount) }
        }
        return (try scanner.finish(), byteCount)
    }

    @Test(
        "the header is found at any position and any split",
        arguments: ["progressive", "moov-last", "avc-aac", "indexed"])
    func anySplit(name: String) throws {
        let file = try MP4Fixture.bytes(name)
        let whole = try scan(file, step: file.count).header
        for step in [1, 2, 3, 7, 8, 9, 15, 16, 17, 100, 1000] {
            let header = try scan(file, step: step).header
            #expect(header.bytes == whole.bytes)
            #expect(header.movieRange == whole.movieRange)
            #expect(header.isAfterMedia == (name == "moov-last"))
            #expect(header.index == whole.index)
        }
        let section = try MP4InitializationSection(parsing: whole.bytes[...])
        let direct = try MP4InitializationSection(parsing: file[...])
        #expect(section.tracks == direct.tracks)
        #expect(section.majorBrand == direct.majorBrand)
    }

    @Test("media before the header is not read")
    func passesOverMedia() throws {
        let movie = BoxWriter.header([BoxWriter.Track()], defaults: nil)
        let media = BoxWriter.box("mdat", [UInt8](repeating: 1, count: 1 << 20))
        let (header, byteCount) = try scan(media + movie, step: 256)
        #expect(byteCount < movie.count + 1024)
        #expect(header.isAfterMedia)
        #expect(header.movieRange.upperBound == media.count + movie.count)
    }

    @Test("a fragmented file's index is returned with its header if it has one")
    func index() throws {
        let indexed = try scan(try MP4Fixture.bytes("indexed"), step: 50).header
        let duration = indexed.index?.references.reduce(0) { $0 + Int($1.duration) } ?? 0
        #expect(duration > 0)
        #expect(try scan(try MP4Fixture.bytes("avc-aac"), step: 50).header.index == nil)
    }

    @Test("a missing, truncated or contradictory header is an error")
    func errors() throws {
        let movie = BoxWriter.header([BoxWriter.Track()], defaults: nil)
        let cases: [([UInt8], MediaError.Code)] = [
            (BoxWriter.box("mdat", [1, 2, 3]), .missingInitializationSection),
            ([0, 0, 0, 0] + Array("mdat".utf8) + [1, 2, 3], .missingInitializationSection),
            (Array(movie.dropLast()), .truncated), ([], .missingInitializationSection),
            (Array("<!DOCTYPE html>".utf8), .unknownContainer),
            ([0, 0, 0, 7] + Array("ftyp".utf8), .malformed),
            ([0, 0, 0, 1] + Array("mdat".utf8) + [255, 255, 255, 255, 255, 255, 255, 255], .malformed),
            ([0, 0, 0, 1] + Array("moov".utf8) + [0, 0, 0, 1, 0, 0, 0, 0], .limitExceeded),
            (Array(repeatElement([0, 0, 0, 8] + Array("free".utf8), count: 5000).joined()), .limitExceeded),
        ]
        for (bytes, code) in cases {
            let error = #expect(throws: MediaError.self) { try scan(bytes, step: 16) }
            #expect(error?.code == code, "\(bytes.prefix(16))")
        }
    }
}

@Suite struct MP4UserDataTests {
    private func entries(_ name: String) throws -> [String: MP4UserData.Entry] {
        let data = MP4UserData(parsing: try MP4Fixture.bytes(name)[...])
        return Dictionary(data.entries.map { ($0.key, $0) }) { first, _ in first }
    }

    @Test("iTunes metadata is read")
    func iTunes() throws {
        let entries = try entries("tagged")
        #expect(entries["©nam"]?.value == .string("A test"))
        #expect(entries["©ART"]?.value == .string("Some one"))
        #expect(entries["©cmt"]?.value == .string("ü"))
        #expect(entries["©nam"]?.keySpace == .iTunes)
    }

    @Test("3GPP user data is read with its language")
    func iso() throws {
        let entries = try entries("tagged-3gp")
        #expect(entries["titl"]?.value == .string("A test"))
        #expect(entries["titl"]?.keySpace == .isoUserData)
        #expect(entries["perf"]?.value == .string("Some one"))
    }

    @Test("QuickTime keys are read")
    func keys() throws {
        let entries = try entries("tagged-keys.mov")
        #expect(entries["title"]?.value == .string("A test"))
        #expect(entries["title"]?.keySpace == .quickTimeMetadata)
    }

    @Test("Nero chapters are read in units of 100 ns")
    func chapters() throws {
        let data = MP4UserData(parsing: try MP4Fixture.bytes("tagged")[...])
        #expect(data.chapters.map(\.title) == ["One", "Two"])
        #expect(data.chapters.map(\.start) == [0, 2_000_000])
    }

    @Test("numbers, images and free-form names are read")
    func values() {
        func data(_ type: UInt32, _ content: [UInt8]) -> [UInt8] {
            BoxWriter.box("data", [0, 0, 0, UInt8(type), 0, 0, 0, 0] + content)
        }
        let list = BoxWriter.box(
            "ilst",
            BoxWriter.box("tmpo", data(21, [0xFF, 0xFE])) + BoxWriter.box("rtng", data(22, [200]))
                + BoxWriter.box("covr", data(13, [0xFF, 0xD8]))
                + BoxWriter.box(
                    "----",
                    BoxWriter.fullBox("mean", Array("com.apple.iTunes".utf8))
                        + BoxWriter.fullBox("name", Array("X".utf8))
                        + data(1, Array("free".utf8))))
        let moov = BoxWriter.box("moov", BoxWriter.box("udta", BoxWriter.fullBox("meta", list)))
        let entries = MP4UserData(parsing: moov[...]).entries
        #expect(entries.map(\.key) == ["tmpo", "rtng", "covr", "----:com.apple.iTunes:X"])
        #expect(
            entries.map(\.value) == [.integer(-2), .integer(200), .data([0xFF, 0xD8]), .string("free")])
    }

    private static func movieHeader(_ version: UInt8, creation: [UInt8]) -> [UInt8] {
        BoxWriter.box("mvhd", [version, 0, 0, 0] + creation + [UInt8](repeating: 0, count: 96))
    }

    @Test(
        "the creation time counts from 1904 or, in files of some programs, from 1970",
        arguments: [
            // 2024-02-29 12:00:00
            (0, [0xE2, 0x06, 0x22, 0x40], 1_709_208_000), (1, [0, 0, 0, 0, 0xE2, 0x06, 0x22, 0x40], 1_709_208_000),
            (0, [0x65, 0xE0, 0x71, 0xC0], 1_709_208_000), (0, [0, 0, 0, 0], nil),
            (1, [0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF], nil),
        ] as [(UInt8, [UInt8], Int64?)])
    func creationTime(version: UInt8, bytes: [UInt8], time: Int64?) {
        let moov = BoxWriter.box("moov", Self.movieHeader(version, creation: bytes))
        #expect(MP4UserData(parsing: moov[...]).creationTime == time)
        #expect(
            MP4UserData(parsing: BoxWriter.box("moov", BoxWriter.box("mvhd", [version, 0]))[...]).creationTime == nil)
    }

    @Test("user data of tracks is read separately from the movie's")
    func tracks() {
        func track(_ id: UInt8, version: UInt8, _ userData: [UInt8]) -> [UInt8] {
            let times = [UInt8](repeating: 0, count: version == 1 ? 16 : 8)
            let header = BoxWriter.box("tkhd", [version, 0, 0, 7] + times + [0, 0, 0, id, 0, 0, 0, 0])
            return BoxWriter.box("trak", header + BoxWriter.box("udta", userData))
        }
        let title = BoxWriter.box("titl", [0, 0, 0, 0, 0x15, 0xC7] + Array("Commentary".utf8) + [0])
        let moov = BoxWriter.box(
            "moov",
            BoxWriter.box("udta", BoxWriter.box("dscp", [0, 0, 0, 0, 0x15, 0xC7] + Array("A film".utf8) + [0]))
                + track(3, version: 0, title) + track(4, version: 1, BoxWriter.box("name", Array("Main".utf8)))
                + track(5, version: 0, []) + track(3, version: 0, BoxWriter.box("name", Array("again".utf8))))
        let data = MP4UserData(parsing: moov[...])
        #expect(data.entries.map(\.key) == ["dscp"])
        #expect(data.trackEntries.keys.sorted() == [3, 4])
        #expect(data.trackEntries[3]?.map(\.value) == [.string("Commentary")])
        #expect(data.trackEntries[3]?.map(\.language) == ["eng"])
        #expect(data.trackEntries[3]?.map(\.keySpace) == [.isoUserData])
        #expect(data.trackEntries[4]?.map(\.value) == [.string("Main")])
        #expect(data.trackEntries[4]?.map(\.keySpace) == [.quickTimeUserData])
    }

    @Test(
        "bytes truncated or changed anywhere give less metadata, never a trap",
        arguments: ["tagged", "tagged-3gp", "tagged-keys.mov"])
    func robust(name: String) throws {
        let bytes = try MP4Fixture.bytes(name)
        for end in stride(from: 0, to: bytes.count, by: 7) { _ = MP4UserData(parsing: bytes[..<end]) }
        for index in stride(from: 0, to: bytes.count, by: 3) {
            for value: UInt8 in [0, 1, 0x7F, 0xFF] {
                var changed = bytes
                changed[index] = value
                _ = MP4UserData(parsing: changed[...])
            }
        }
    }
}
