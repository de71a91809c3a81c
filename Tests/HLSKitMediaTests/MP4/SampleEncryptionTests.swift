import HLSKitMedia
import Testing

@Suite struct SampleEncryptionTests {
    private typealias Writer = BoxWriter

    private static let keyID = (0..<16).map { UInt8($0) }
    private static let constantVector = (100..<116).map { UInt8($0) }

    private func header(vectorSize: UInt8, scheme: String = "cenc") -> [UInt8] {
        let constant = vectorSize == 0 ? [16] + Self.constantVector : []
        let sinf = Writer.box(
            "sinf", Writer.box("frma", Array("avc1".utf8)),
            Writer.fullBox("schm", Array(scheme.utf8), Writer.be32(0x10000)),
            Writer.box("schi", Writer.fullBox("tenc", version: 1, [0, 0x19, 1, vectorSize] + Self.keyID + constant)))
        return Writer.header([Writer.Track(entries: [Writer.visualEntry("encv", sinf)])])
    }

    private func demux(header: [UInt8], extra: [UInt8]) throws -> Demuxed {
        try Demuxed(header: header, fragments: Writer.fragment(sizes: [20, 30], extra: extra))
    }

    private static let entries =
        [1, 1, 1, 1, 1, 1, 1, 1] + BoxWriter.be16(2) + BoxWriter.be16(4) + BoxWriter.be32(6) + BoxWriter.be16(0)
        + BoxWriter.be32(10) + [2, 2, 2, 2, 2, 2, 2, 2] + BoxWriter.be16(1) + BoxWriter.be16(14) + BoxWriter.be32(16)

    private func expectEntries(_ demuxed: Demuxed) {
        #expect(demuxed.error == nil)
        #expect(
            demuxed.samples.map(\.encryption?.initializationVector)
                == [Array(repeating: 1, count: 8), Array(repeating: 2, count: 8)])
        #expect(
            demuxed.samples.map(\.encryption?.subsamples)
                == [
                    [
                        .init(clearByteCount: 4, protectedByteCount: 6),
                        .init(clearByteCount: 0, protectedByteCount: 10),
                    ],
                    [.init(clearByteCount: 14, protectedByteCount: 16)],
                ])
    }

    @Test("senc gives each sample its vector and subsamples")
    func senc() throws {
        let senc = Writer.fullBox("senc", flags: 2, Writer.be32(2), Self.entries)
        let demuxed = try demux(header: header(vectorSize: 8), extra: senc)
        expectEntries(demuxed)
        #expect(demuxed.samples[0].encryption?.keyID == Self.keyID)
        #expect(demuxed.samples[0].encryption?.scheme == .cenc)
        #expect(demuxed.samples[0].encryption?.cryptByteBlock == 1)
        #expect(demuxed.samples[0].encryption?.skipByteBlock == 9)
    }

    @Test("PIFF's uuid box is read like senc, with its own key")
    func piff() throws {
        let uuid: [UInt8] = [
            0xA2, 0x39, 0x4F, 0x52, 0x5A, 0x9B, 0x4F, 0x14, 0xA2, 0x44, 0x6C, 0x42, 0x7C, 0x64, 0x8D, 0xF4,
        ]
        let key = Array(repeating: UInt8(9), count: 16)
        let box = Writer.box("uuid", uuid, [0, 0, 0, 3], [0, 0, 1, 8] + key, Writer.be32(2), Self.entries)
        let demuxed = try demux(header: header(vectorSize: 16), extra: box)
        expectEntries(demuxed)
        #expect(demuxed.samples.first?.encryption?.keyID == key)
    }

    @Test("saiz and saio alone are enough if they point into the fragment")
    func auxiliaryInformation() throws {
        let saiz = Writer.fullBox("saiz", [0], Writer.be32(2), [22, 16])
        func boxes(_ offset: Int) -> [UInt8] {
            saiz + Writer.fullBox("saio", Writer.be32(1), Writer.be32(offset)) + Writer.box("abcd", Self.entries)
        }
        let before = Writer.fragment(sizes: [20, 30]).count - 8 - 50
        let offset = before + boxes(0).count - Self.entries.count
        expectEntries(try demux(header: header(vectorSize: 8), extra: boxes(offset)))
        let outside = try demux(header: header(vectorSize: 8), extra: boxes(100_000))
        #expect(outside.error?.code == .unsupported)
    }

    @Test("saiz and saio may point into the media", arguments: [1, 7, 1000])
    func auxiliaryInformationInMedia(pieces: Int) throws {
        func fragment(_ start: Int) -> [UInt8] {
            Writer.moof(
                Writer.traf(
                    Writer.tfhd(), Writer.tfdt(0),
                    Writer.trun(
                        flags: 0x201, count: 2, Writer.be32(start + Self.entries.count), Writer.be32(20),
                        Writer.be32(30)),
                    Writer.fullBox("saiz", [0], Writer.be32(2), [22, 16]),
                    Writer.fullBox("saio", Writer.be32(1), Writer.be32(start))))
        }
        let bytes =
            fragment(fragment(0).count + 8) + Writer.box("mdat", Self.entries + [UInt8](repeating: 7, count: 50))
        let section = try MP4InitializationSection(parsing: header(vectorSize: 8)[...])
        let demuxer = FragmentedMP4Demuxer(initialization: section)
        let trace = DemuxerTrace(demuxer, bytes + bytes, pieces: [pieces])
        #expect(trace.error == nil)
        #expect(trace.samples.map(\.data.count) == [20, 30, 20, 30])
        #expect(trace.samples.map { $0.encryption?.initializationVector.first } == [1, 2, 1, 2])
        #expect(trace.samples.map { $0.encryption?.subsamples.count } == [2, 1, 2, 1])
    }

    @Test("a constant vector needs no box, and is used if senc has none")
    func constantVector() throws {
        let none = try demux(header: header(vectorSize: 0, scheme: "cbcs"), extra: [])
        #expect(none.samples.map(\.encryption?.initializationVector) == [Self.constantVector, Self.constantVector])
        #expect(none.samples.map(\.encryption?.subsamples) == [[], []])
        let subsamples = Writer.fullBox(
            "senc", flags: 2, Writer.be32(2), Writer.be16(1) + Writer.be16(4) + Writer.be32(16),
            Writer.be16(1) + Writer.be16(14) + Writer.be32(16))
        let some = try demux(header: header(vectorSize: 0, scheme: "cbcs"), extra: subsamples)
        #expect(some.samples.map(\.encryption?.initializationVector) == [Self.constantVector, Self.constantVector])
        #expect(some.samples.map(\.encryption?.subsamples.count) == [1, 1])
    }

    @Test("each run continues in the encryption data where the previous one ended")
    func severalRuns() throws {
        func fragment(_ offset: Int) -> [UInt8] {
            let vectors = (1...4).flatMap { Array(repeating: UInt8($0), count: 8) }
            // In the media, the second run is before the first.
            return Writer.moof(
                Writer.traf(
                    Writer.tfhd(), Writer.tfdt(0),
                    Writer.trun(flags: 0x201, count: 2, Writer.be32(offset + 2), Writer.be32(1), Writer.be32(1)),
                    Writer.trun(flags: 0x201, count: 2, Writer.be32(offset), Writer.be32(1), Writer.be32(1)),
                    Writer.fullBox("senc", Writer.be32(4), vectors)))
        }
        let bytes = fragment(fragment(0).count + 8) + Writer.box("mdat", [0, 0, 0, 0])
        let demuxed = try Demuxed(header: header(vectorSize: 8), fragments: bytes)
        #expect(demuxed.error == nil)
        #expect(demuxed.samples.map { $0.encryption?.initializationVector.first } == [3, 4, 1, 2])
    }

    @Test("sample groups with their own keys are refused, not decrypted wrongly")
    func keyGroups() throws {
        let group = Writer.fullBox("sbgp", Array("seig".utf8), [1, 2, 0x10001].flatMap { Writer.be32($0) })
        #expect(try demux(header: header(vectorSize: 0, scheme: "cbcs"), extra: group).error?.code == .unsupported)
        let roll = Writer.fullBox("sbgp", Array("roll".utf8), [1, 2, 1].flatMap { Writer.be32($0) })
        #expect(try demux(header: header(vectorSize: 0, scheme: "cbcs"), extra: roll).error == nil)
    }

    struct Malformed: CustomTestStringConvertible {
        var name: String
        var extra: [UInt8]
        var testDescription: String { name }
    }

    static let malformed: [Malformed] = [
        Malformed(name: "none at all", extra: []),
        Malformed(
            name: "of fewer samples than there are",
            extra: BoxWriter.fullBox("senc", BoxWriter.be32(1), BoxWriter.zeros(8))),
        Malformed(
            name: "of 2^32 samples", extra: BoxWriter.fullBox("senc", BoxWriter.be32(0xFFFF_FFFF), BoxWriter.zeros(8))),
        Malformed(
            name: "with vectors of 4 bytes",
            extra: BoxWriter.fullBox(
                "senc", flags: 1, BoxWriter.zeros(3), [4], BoxWriter.zeros(16), BoxWriter.be32(2), BoxWriter.zeros(8))),
        Malformed(
            name: "of 65 535 subsamples that are not there",
            extra: BoxWriter.fullBox(
                "senc", flags: 2, BoxWriter.be32(2), BoxWriter.zeros(8), BoxWriter.be16(65_535), BoxWriter.zeros(20))),
    ]

    @Test("encrypted samples without their data are an error", arguments: malformed)
    func fails(_ malformed: Malformed) throws {
        let demuxed = try demux(header: header(vectorSize: 8), extra: malformed.extra)
        #expect(demuxed.error?.code == .malformed)
        #expect(demuxed.samples.isEmpty)
    }
}
