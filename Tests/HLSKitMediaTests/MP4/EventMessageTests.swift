import HLSKitMedia
import Testing

@Suite struct EventMessageTests {
    private typealias Writer = BoxWriter

    private func messages(_ bytes: [UInt8]) throws -> [EventMessage] {
        let demuxed = try Demuxed(fragments: bytes + Writer.fragment(sizes: [1]))
        #expect(demuxed.error == nil)
        #expect(demuxed.samples.count == 1)
        return demuxed.events.compactMap { event in
            if case .eventMessage(let message) = event { message } else { nil }
        }
    }

    @Test("version 0 counts from the segment's start, version 1 on the timeline")
    func versions() throws {
        let strings = Array("urn:x\0v\0".utf8)
        let relative = Writer.fullBox("emsg", strings, [90_000, 180, 270, 7].flatMap { Writer.be32($0) }, [1, 2])
        let absolute = Writer.fullBox(
            "emsg", version: 1, Writer.be32(1000), Writer.be64(1 << 40), Writer.be32(0xFFFF_FFFF), Writer.be32(8),
            strings)
        #expect(
            try messages(relative + absolute) == [
                EventMessage(
                    schemeIDURI: "urn:x", value: "v", id: 7, timescale: 90_000, timing: .afterSegmentStart(180),
                    duration: 270, messageData: [1, 2]),
                EventMessage(
                    schemeIDURI: "urn:x", value: "v", id: 8, timescale: 1000, timing: .presentationTime(1 << 40)),
            ])
    }

    @Test(
        "a malformed or unknown event message loses no media",
        arguments: [
            BoxWriter.fullBox("emsg", version: 9, BoxWriter.zeros(30)), BoxWriter.fullBox("emsg", Array("no end".utf8)),
            BoxWriter.fullBox("emsg", Array("u\0\0".utf8), BoxWriter.zeros(16)), BoxWriter.box("emsg"),
        ])
    func malformed(bytes: [UInt8]) throws {
        #expect(try messages(bytes).isEmpty)
    }
}

@Suite struct SegmentIndexTests {
    private typealias Writer = BoxWriter

    private func indexes(_ bytes: [UInt8]) throws -> [SegmentIndex] {
        var demuxer = FragmentedMP4Demuxer(
            initialization: try MP4InitializationSection(parsing: Writer.header()[...]))
        var events: [DemuxerEvent] = []
        try demuxer.append(bytes[...], to: &events)
        try demuxer.finish(to: &events)
        return demuxer.segmentIndexes
    }

    @Test("offsets count from the start of the segment", arguments: [0, 1] as [UInt8])
    func references(version: UInt8) throws {
        let times = version == 0 ? Writer.be32(500) + Writer.be32(20) : Writer.be64(500) + Writer.be64(20)
        let sidx = Writer.fullBox(
            "sidx", version: version, Writer.be32(1), Writer.be32(1000), times, Writer.be16(0), Writer.be16(2),
            Writer.be32(3000), Writer.be32(4000), Writer.be32(0x9000_0005),
            Writer.be32(Int(UInt32(1) << 31) | 99), Writer.be32(1), Writer.be32(0))
        let free = Writer.box("free", Writer.zeros(4))
        let index = try #require(try indexes(free + sidx).first)
        #expect(index.timescale == 1000)
        #expect(index.earliestPresentationTime == 500)
        #expect(index.firstByteOffset == free.count + sidx.count + 20)
        #expect(index.references.map(\.byteCount) == [3000, 99])
        #expect(index.references.map(\.isIndex) == [false, true])
        #expect(index.references.map(\.duration) == [4000, 1])
        #expect(index.references.map(\.startsWithSAP) == [true, false])
        #expect(index.references.map(\.sapType) == [1, 0])
        #expect(index.references.map(\.sapDeltaTime) == [5, 0])
    }

    @Test("a malformed index is ignored and loses no media")
    func malformed() throws {
        let tooMany = Writer.fullBox("sidx", Writer.be32(1), Writer.be32(1000), Writer.zeros(10), Writer.be16(65_535))
        let farAway = Writer.fullBox(
            "sidx", version: 1, Writer.be32(1), Writer.be32(1), Writer.be64(0), Writer.be64(.max), Writer.zeros(4))
        #expect(try indexes(tooMany + farAway + Writer.fragment(sizes: [1])).isEmpty)
    }
}
