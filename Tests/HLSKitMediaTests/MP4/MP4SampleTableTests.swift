import HLSKitMedia
import Testing

@Suite struct MP4SampleTableTests {
    private typealias Writer = BoxWriter

    /// Returns tables of five samples in chunks of two, one and two, at offsets 1000, 2000 and 3000.
    private static func tables(
        sizes: [UInt8] = BoxWriter.fullBox("stsz", [0, 5, 11, 12, 13, 14, 15].flatMap { BoxWriter.be32($0) }),
        offsets: [UInt8] = BoxWriter.fullBox("stco", [3, 1000, 2000, 3000].flatMap { BoxWriter.be32($0) }),
        durations: [UInt8] = BoxWriter.fullBox("stts", [2, 2, 10, 3, 20].flatMap { BoxWriter.be32($0) }),
        more: [UInt8] = []
    ) -> [UInt8] {
        sizes + offsets + durations + more
            + BoxWriter.fullBox("stsc", [3, 1, 2, 1, 2, 1, 1, 3, 2, 1].flatMap { BoxWriter.be32($0) })
    }

    private func samples(_ tables: [UInt8], edits: [UInt8] = []) throws -> [MP4SampleTable.Sample] {
        let header = Writer.header([Writer.Track(edits: edits, tables: tables)], defaults: nil)
        let table = MP4SampleTable(try MP4InitializationSection(parsing: header[...]))
        return table.tracks.flatMap { Array($0.samples) }
    }

    @Test("offset, times and sync of each sample come from their tables")
    func allTables() throws {
        let more =
            Writer.fullBox("ctts", [2, 1, 30, 4, -5].flatMap { Writer.be32($0) })
            + Writer.fullBox("stss", [2, 1, 4].flatMap { Writer.be32($0) })
        let samples = try samples(Self.tables(more: more), edits: Writer.elst((0, 30)))
        #expect(samples.map(\.offset) == [1000, 1011, 2000, 3000, 3014])
        #expect(samples.map(\.byteCount) == [11, 12, 13, 14, 15])
        #expect(samples.map(\.dts) == [-35, -25, -15, 5, 25])
        #expect(samples.map(\.pts) == [0, -25, -15, 5, 25])
        #expect(samples.map(\.duration) == [10, 10, 20, 20, 20])
        #expect(samples.map(\.isSync) == [true, false, false, true, false])
    }

    @Test("sizes of 4, 8 and 16 bits, one common size, and 64-bit offsets are read")
    func sizeForms() throws {
        let offsets = Writer.fullBox("co64", Writer.be32(3), [1 << 40, 2000, 3000].flatMap { Writer.be64($0) })
        let forms: [(sizes: [UInt8], expected: [Int])] = [
            (Writer.fullBox("stz2", Writer.be32(4), Writer.be32(5), [0x12, 0x34, 0x50]), [1, 2, 3, 4, 5]),
            (Writer.fullBox("stz2", Writer.be32(8), Writer.be32(5), [1, 2, 3, 4, 5]), [1, 2, 3, 4, 5]),
            (
                Writer.fullBox("stz2", Writer.be32(16), Writer.be32(5), [256, 2, 3, 4, 5].flatMap { Writer.be16($0) }),
                [256, 2, 3, 4, 5]
            ),
            (Writer.fullBox("stsz", Writer.be32(7), Writer.be32(5)), [7, 7, 7, 7, 7]),
        ]
        for form in forms {
            let samples = try samples(Self.tables(sizes: form.sizes, offsets: offsets))
            #expect(samples.map(\.byteCount) == form.expected)
            #expect(samples.first?.offset == 1 << 40)
            #expect(samples.allSatisfy { $0.isSync })
        }
    }

    @Test("2^32 samples of one size cost nothing, and end with the chunks")
    func hugeCount() throws {
        let sizes = Writer.fullBox("stsz", Writer.be32(7), Writer.be32(0xFFFF_FFFF))
        #expect(try samples(Self.tables(sizes: sizes)).count == 5)  // 2 + 1 + 2 in the chunks that have an offset
    }

    @Test(
        "missing tables are an error",
        arguments: [
            tables(sizes: BoxWriter.fullBox("stsz", BoxWriter.be32(0), BoxWriter.be32(0xFFFF_FFFF))),
            tables(offsets: BoxWriter.fullBox("stco", BoxWriter.be32(1 << 30))), tables(offsets: []),
            tables(durations: BoxWriter.fullBox("stts", [1, 0xFFFF_FFFF, 0xFFFF_FFFF].flatMap { BoxWriter.be32($0) })),
        ])
    func malformed(tables: [UInt8]) {
        let error = #expect(throws: MediaError.self) { try samples(tables) }
        #expect(error?.code == .malformed)
    }

    @Test("header position changes only the offsets in the sample table")
    func headerLast() throws {
        func table(_ name: String) throws -> MP4SampleTable {
            MP4SampleTable(try MP4InitializationSection(parsing: try MP4Fixture.bytes(name)[...]))
        }
        let first = try table("progressive")
        let last = try table("moov-last")
        #expect(first.tracks.map(\.sampleCount) == [25, 25])
        #expect(first.tracks.map(\.duration) == last.tracks.map(\.duration))
        for (one, other) in zip(first.tracks, last.tracks) {
            #expect(one.samples.map(\.byteCount) == other.samples.map(\.byteCount))
            #expect(one.samples.map(\.pts) == other.samples.map(\.pts))
        }
    }
}

@Suite struct ProgressiveMP4DemuxerTests {
    @Test("the demuxed samples equal the sample table in file order")
    func equalsTable() throws {
        let bytes = try MP4Fixture.bytes("progressive")
        let table = MP4SampleTable(try MP4InitializationSection(parsing: bytes[...]))
        let expected = table.tracks.flatMap { track in
            track.samples.map {
                (offset: $0.offset, line: [Int64(track.track.id), $0.pts, $0.dts, Int64($0.byteCount)])
            }
        }
        .sorted { $0.offset < $1.offset }
        let demuxed = Demuxed(bytes, by: ProgressiveMP4Demuxer())
        #expect(demuxed.error == nil)
        #expect(
            demuxed.samples.map { [Int64($0.trackID), $0.pts, $0.dts, Int64($0.data.count)] } == expected.map(\.line))
    }

    @Test("a file with its header last fails at its first media byte")
    func headerLast() throws {
        let demuxed = Demuxed(try MP4Fixture.bytes("moov-last"), by: ProgressiveMP4Demuxer())
        #expect(demuxed.error?.code == .unsupported)
        #expect(demuxed.error?.text.contains("'moov' box follows the media") == true)
    }

    @Test("a fragmented file is read, too")
    func fragmented() throws {
        let bytes = try MP4Fixture.bytes("avc-aac")
        let demuxed = Demuxed(bytes, by: ProgressiveMP4Demuxer())
        #expect(demuxed.dump == MP4Fixture.demux(bytes, of: "avc-aac").dump)
    }
}

@Suite struct MP4HeaderAsMapTests {
    @Test(
        "with the file's header as its map, the part before the header is a segment",
        arguments: [1, 7, 1000, .max])
    func headerLast(pieceSize: Int) throws {
        let bytes = try MP4Fixture.bytes("moov-last")
        var scanner = MP4HeaderScanner()
        let header = try #require(try scanner.append(bytes[...]))
        let section = try MP4InitializationSection(parsing: header.bytes[...])
        let media = Array(bytes[..<header.movieRange.lowerBound])
        let demuxed = Demuxed(media, by: FragmentedMP4Demuxer(initialization: section)) { pieceSize }
        let expected = Demuxed(try MP4Fixture.bytes("progressive"), by: ProgressiveMP4Demuxer())
        #expect(demuxed.error == nil)
        #expect(demuxed.samples.map(\.pts) == expected.samples.map(\.pts))
        #expect(demuxed.samples.map(\.data.count) == expected.samples.map(\.data.count))
        #expect(demuxed.samples.count == 50)
    }

    @Test("a segment with its own header is read by that header")
    func ownHeader() throws {
        let bytes = try MP4Fixture.bytes("progressive")
        let other = try MP4InitializationSection(parsing: try MP4Fixture.bytes("moov-last")[...])
        let demuxed = Demuxed(bytes, by: FragmentedMP4Demuxer(initialization: other))
        #expect(demuxed.error == nil)
        #expect(demuxed.samples.count == 50)
    }
}
