import Testing

@testable import HLSKitMedia

private typealias Writer = BoxWriter

@Suite struct EditListTests {
    /// An edit list with movie units of 1/100 s and track units of 1/1000 s.
    struct Edits: CustomTestStringConvertible, Sendable {
        var testDescription: String
        var box: [UInt8]
        var handler = "vide"
        var shift: Int64
        var shown: Range<Int64>?
    }

    private static let cases = [
        Edits(testDescription: "none", box: [], shift: 0, shown: nil),
        Edits(
            testDescription: "a part", box: BoxWriter.elst((20, 80)), shift: -80, shown: 0..<200),
        Edits(
            testDescription: "a part, later", box: BoxWriter.elst((30, -1), (20, 80)), shift: 220, shown: 300..<500),
        Edits(testDescription: "up to the end", box: BoxWriter.elst((0, 80)), shift: -80, shown: 0..<Int64.max),
        Edits(
            testDescription: "sound, which the movie's units would cut short", box: BoxWriter.elst((20, 80)),
            handler: "soun", shift: -80, shown: 0..<210),
        Edits(
            testDescription: "parts that follow one another", box: BoxWriter.elst((20, 80), (10, 280)), shift: -80,
            shown: 0..<300),
        Edits(
            testDescription: "parts that do not", box: BoxWriter.elst((20, 80), (10, 500)), shift: -80,
            shown: 0..<Int64.max),
        Edits(
            testDescription: "an empty edit at the end", box: BoxWriter.elst((20, 80), (10, -1)), shift: -80,
            shown: 0..<200),
    ]

    private static let tables: [UInt8] =
        BoxWriter.fullBox("stsz", BoxWriter.be32(1), BoxWriter.be32(1))
        + BoxWriter.fullBox("stts", [1, 1, 10].flatMap { BoxWriter.be32($0) })
        + BoxWriter.fullBox("stsc", [1, 1, 1, 1].flatMap { BoxWriter.be32($0) })
        + BoxWriter.fullBox("stco", [1, 1000].flatMap { BoxWriter.be32($0) })

    private func header(_ edits: Edits, tables: [UInt8], isFragmented: Bool) throws -> MP4InitializationSection {
        let entry = edits.handler == "soun" ? Writer.audioEntry("ac-3") : Writer.visualEntry("avc1")
        let track = Writer.Track(handler: edits.handler, entries: [entry], edits: edits.box, tables: tables)
        let bytes =
            Writer.box("ftyp", Array("iso6".utf8), Writer.zeros(4))
            + Writer.moov([track], defaults: isFragmented ? Writer.Defaults() : nil, movieTimescale: 100)
        return try MP4InitializationSection(parsing: bytes[...])
    }

    @Test("a file shows the media from the first edit's start to the last one's end", arguments: cases)
    func file(_ edits: Edits) throws {
        let header = try header(edits, tables: Self.tables, isFragmented: false)
        #expect(header.movieTracks.map(\.editShift) == [edits.shift])
        #expect(header.tracks.map(\.shownRange) == [edits.shown])
    }

    @Test("all of a fragmented file is shown, because its length is unknown", arguments: cases)
    func fragments(_ edits: Edits) throws {
        for tables in [[], Self.tables] {
            let header = try header(edits, tables: tables, isFragmented: true)
            #expect(header.movieTracks.map(\.editShift) == [edits.shift])
            #expect(header.tracks.map(\.shownRange) == [nil])
        }
    }

    @Test("fragments made from a whole file are trimmed like the file", arguments: cases)
    func rewritten(_ edits: Edits) throws {
        let entry = edits.handler == "soun" ? Writer.audioEntry("ac-3") : Writer.visualEntry("avc1")
        let track = Writer.Track(handler: edits.handler, entries: [entry], edits: edits.box, tables: Self.tables)
        let bytes = Writer.moov([track], defaults: nil, movieTimescale: 100)
        let rewritten = try MP4InitializationSection.fragmented(bytes, keeping: [1])
        let header = try MP4InitializationSection(parsing: rewritten[...])
        #expect(header.isFragmented)
        #expect(header.tracks.map(\.shownRange) == [edits.shown])
    }

    @Test("edits out of range are an error, not a trap")
    func outOfRange() {
        let edits = Writer.box(
            "edts",
            Writer.fullBox(
                "elst", version: 1, Writer.be32(2), Writer.be64(.max), Writer.be64(.max), Writer.be32(0x10000),
                Writer.be64(.max), Writer.be64(.max), Writer.be32(0x10000)))
        let bytes = Writer.header([Writer.Track(edits: edits, tables: Self.tables)], defaults: nil)
        #expect(throws: MediaError.self) { try MP4InitializationSection(parsing: bytes[...]) }
    }
}
