import HLSKitMedia
import Testing

private let video = TransportStreamWriter.Stream(pid: 256, type: 0x1b)
private let audio = TransportStreamWriter.Stream(pid: 257, type: 0x0f)

private func demux(_ writer: TransportStreamWriter, program: Int? = nil) -> DemuxerTrace {
    let trace = DemuxerTrace(TransportStreamDemuxer(programNumber: program), writer.bytes)
    #expect(DemuxerTrace(TransportStreamDemuxer(programNumber: program), writer.bytes, pieces: [61]) == trace)
    return trace
}

@Suite struct TransportStreamDemuxerTests {
    @Test("B10, R37: a 33-bit wrap is undone within the segment, equally for all streams")
    func wrap() {
        var writer = TransportStreamWriter(streams: [video, audio])
        let top: Int64 = 1 << 33
        writer.add(.init(pid: 256, pts: top - 2000, dts: top - 5000, payload: TinyVideo.unit(isIDR: true)))
        writer.add(.init(pid: 257, pts: 100, payload: TinyAudio.frame(fill: 1)))
        writer.add(.init(pid: 256, pts: 1000, dts: top - 2000, payload: TinyVideo.unit(isIDR: false)))
        writer.add(.init(pid: 257, pts: top - 1820, payload: TinyAudio.frame(fill: 2)))
        let trace = demux(writer)
        #expect(trace.samples(of: 256).map(\.pts) == [top - 2000, top + 1000])
        #expect(trace.samples(of: 256).map(\.dts) == [top - 5000, top - 2000])
        #expect(trace.samples(of: 257).map(\.pts) == [top + 100, top - 1820])
    }

    @Test("a stream before the first timestamp's wrap has negative times")
    func negative() {
        var writer = TransportStreamWriter(streams: [video, audio])
        writer.add(.init(pid: 256, pts: 500, payload: TinyVideo.unit(isIDR: true)))
        writer.add(.init(pid: 257, pts: (1 << 33) - 300, payload: TinyAudio.frame(fill: 1)))
        #expect(demux(writer).samples(of: 257).map(\.pts) == [-300])
    }

    @Test("R69: a lost packet only damages its access unit, and bytes of two units are not mixed")
    func lostPacket() {
        for lost in 3...9 {
            var writer = TransportStreamWriter(streams: [video])
            for index in 0..<3 {
                let unit = TinyVideo.unit(isIDR: index == 0, count: 500, fill: 0xa1 + UInt8(index))
                writer.add(.init(pid: 256, pts: Int64(index) * 3000, payload: unit))
            }
            // Packets 0 and 1 are tables. Each unit takes three packets.
            writer.removePacket(at: lost)
            let trace = demux(writer)
            let samples = trace.samples
            #expect(trace.notes.contains { $0.contains("missing") })
            for sample in samples {
                let fills = Set(sample.bytes.filter { (0xa1...0xa3).contains($0) })
                #expect(fills.count <= 1)
                #expect(sample.isDamaged || sample.data.count > 500)
            }
            // Without its first packet (5 or 8) a unit is lost, and the previous one may lack its end. Packet 10 is not
            // tested because nothing reveals the loss of the last packet.
            #expect(samples.count == (lost == 5 ? 2 : 3) - (lost == 8 ? 1 : 0))
            #expect(samples.filter(\.isDamaged).count == 1)
        }
    }

    @Test("a loss between packets with declared lengths damages neither")
    func lossBetweenPackets() {
        var writer = TransportStreamWriter(streams: [video])
        for index in 0..<3 {
            writer.add(.init(pid: 256, pts: Int64(index) * 3000, payload: TinyVideo.unit(isIDR: true), hasLength: true))
            if index == 1 { writer.lose(3, pid: 256) }
        }
        let trace = demux(writer)
        #expect(trace.samples.map(\.pts) == [0, 3000, 6000])
        #expect(trace.samples.allSatisfy { !$0.isDamaged })
        #expect(trace.notes == ["PID 256: 3 packets are missing"])
    }

    @Test("duplicate packets and declared discontinuities do not count as losses")
    func duplicates() {
        var writer = TransportStreamWriter(streams: [video])
        writer.add(.init(pid: 256, pts: 0, payload: TinyVideo.unit(isIDR: true, count: 400)))
        let copy = Array(writer.bytes.suffix(188))
        writer.bytes += copy
        writer.lose(5, pid: 256)
        let unit = TinyVideo.unit(isIDR: true)
        writer.packet(
            pid: 256, payload: TransportStreamWriter.header(.init(pid: 256, pts: 9, payload: unit)) + unit,
            startsUnit: true, flags: 0x80)
        let trace = demux(writer)
        #expect(trace.samples.map(\.data.count) == [TinyVideo.unit(isIDR: true, count: 400).count, unit.count])
        #expect(trace.notes.isEmpty && trace.samples.allSatisfy { !$0.isDamaged })
    }

    @Test("garbage before, between and after packets is skipped with a note", arguments: [1, 100, 150, 5000])
    func resync(count: Int) {
        var writer = TransportStreamWriter()
        writer.bytes = [UInt8](repeating: 0x47, count: min(count, 3)) + [UInt8](repeating: 0x11, count: count)
        let lead = writer.bytes.count
        writer.associate([1: 4096])
        writer.map(program: 1, pid: 4096, streams: [video])
        writer.add(.init(pid: 256, pts: 0, payload: TinyVideo.unit(isIDR: true, count: 400)))
        writer.bytes += [UInt8](repeating: 0x33, count: count)
        writer.add(.init(pid: 256, pts: 3000, payload: TinyVideo.unit(isIDR: true, count: 900)))
        let trace = demux(writer)
        #expect(trace.samples.map(\.pts) == [0, 3000])
        #expect(trace.samples.allSatisfy { !$0.isDamaged })
        #expect(trace.notes.first == "byte 0: \(lead) bytes are not transport stream packets")
        #expect(trace.notes.count == 2)
    }

    @Test("bytes that are not a transport stream, and a stream without tables, are errors")
    func errors() {
        #expect(
            DemuxerTrace(TransportStreamDemuxer(), [UInt8](repeating: 7, count: 9000)).error?.code == .unknownContainer)
        #expect(DemuxerTrace(TransportStreamDemuxer(), []).error?.code == .unknownContainer)
        var writer = TransportStreamWriter()
        for index in 0..<5 {
            writer.add(.init(pid: 256, pts: Int64(index), payload: TinyVideo.unit(isIDR: true)))
        }
        #expect(demux(writer).error?.code == .malformed)
        var cut = TransportStreamWriter(streams: [video])
        cut.add(.init(pid: 256, pts: 0, payload: TinyVideo.unit(isIDR: true, count: 700)))
        cut.bytes.removeLast(10)
        let trace = demux(cut)
        #expect(trace.error?.code == .truncated)
        #expect(trace.error?.byteOffset == cut.bytes.count)
        #expect(trace.samples.map(\.isDamaged) == [true])
    }

    @Test("scrambled packets and packets with errors are skipped with one note")
    func scrambled() {
        var writer = TransportStreamWriter(streams: [video])
        writer.add(.init(pid: 256, pts: 0, payload: TinyVideo.unit(isIDR: true), hasLength: true))
        for _ in 0..<20 {
            writer.packet(pid: 256, payload: [UInt8](repeating: 9, count: 184), startsUnit: false, scrambling: 2)
        }
        writer.add(.init(pid: 256, pts: 3000, payload: TinyVideo.unit(isIDR: true), hasLength: true))
        let trace = demux(writer)
        #expect(trace.samples.map(\.pts) == [0, 3000])
        #expect(trace.notes == ["PID 256 is scrambled"])
    }

    @Test("a packet's header may span many transport packets", arguments: [1, 2, 5, 13, 20])
    func tinyPayloads(limit: Int) {
        var writer = TransportStreamWriter(streams: [video, audio])
        writer.payloadLimit = limit
        writer.add(.init(pid: 256, pts: 3000, dts: 0, payload: TinyVideo.unit(isIDR: true), hasLength: true))
        writer.add(.init(pid: 257, pts: 100, payload: TinyAudio.frame(fill: 1)))
        writer.add(.init(pid: 256, pts: 6000, dts: 3000, payload: TinyVideo.unit(isIDR: false)))
        let trace = demux(writer)
        #expect(trace.samples(of: 256).map(\.bytes) == [TinyVideo.unit(isIDR: true), TinyVideo.unit(isIDR: false)])
        #expect(trace.samples(of: 256).map(\.dts) == [0, 3000])
        #expect(trace.samples(of: 257).map(\.pts) == [100])
        #expect(trace.notes.isEmpty)
    }

    @Test("packets of 204 bytes are read, with and without the last checksum", arguments: [0, 16])
    func longPackets(cut: Int) {
        var writer = TransportStreamWriter(streams: [video])
        for index in 0..<3 {
            writer.add(.init(pid: 256, pts: Int64(index), payload: TinyVideo.unit(isIDR: true)))
        }
        var bytes: [UInt8] = []
        for start in stride(from: 0, to: writer.bytes.count, by: 188) {
            bytes += writer.bytes[start..<start + 188] + [UInt8](repeating: 0x47, count: 16)
        }
        let trace = DemuxerTrace(TransportStreamDemuxer(), Array(bytes.dropLast(cut)))
        #expect(trace.samples.count == 3 && trace.error == nil && trace.notes.isEmpty)
    }

    @Test("at most 64 notes are made, however odd the bytes")
    func notes() {
        var writer = TransportStreamWriter(streams: [video])
        for index in 0..<200 {
            writer.add(.init(pid: 256, pts: Int64(index), payload: TinyVideo.unit(isIDR: true)))
            writer.lose(pid: 256)
        }
        #expect(demux(writer).notes.count == 64)
    }

    @Test("an access unit above the limit is dropped, and the next one is whole")
    func limit() {
        var writer = TransportStreamWriter(streams: [video])
        let size = TransportStreamDemuxer.maxAccessUnitByteCount + 1
        writer.add(.init(pid: 256, pts: 0, payload: TinyVideo.unit(isIDR: true, count: size)))
        writer.add(.init(pid: 256, pts: 3000, payload: TinyVideo.unit(isIDR: true)))
        let trace = DemuxerTrace(TransportStreamDemuxer(), writer.bytes)
        #expect(trace.samples.map(\.bytes) == [TinyVideo.unit(isIDR: true)])
        #expect(trace.notes.count == 1)
    }
}

@Suite struct ProgramTableTests {
    @Test("a new map version adds, keeps and ends streams")
    func mapChange() {
        var writer = TransportStreamWriter(streams: [video, audio])
        writer.add(.init(pid: 256, pts: 0, payload: TinyVideo.unit(isIDR: true)))
        writer.add(.init(pid: 257, pts: 0, payload: TinyAudio.frame(fill: 1)))
        writer.map(program: 1, pid: 4096, streams: [video, .init(pid: 300, type: 0x0f)], version: 1)
        writer.add(.init(pid: 257, pts: 1920, payload: TinyAudio.frame(fill: 2)))
        writer.add(.init(pid: 300, pts: 3840, payload: TinyAudio.frame(fill: 3, sampleRateIndex: 4)))
        writer.add(.init(pid: 256, pts: 3000, payload: TinyVideo.unit(isIDR: false)))
        let trace = demux(writer)
        #expect(trace.samples(of: 256).map(\.pts) == [0, 3000])
        #expect(trace.samples(of: 257).count == 1)
        #expect(trace.samples(of: 300).count == 1)
        #expect(trace.tracks.map(\.id) == [256, 300])
        #expect(trace.tracks.last?.sampleRate == 44_100)
    }

    @Test("a stream whose type changes ends, and its last unit is output")
    func typeChange() {
        var writer = TransportStreamWriter(streams: [video])
        writer.add(.init(pid: 256, pts: 0, payload: TinyVideo.unit(isIDR: true)))
        writer.map(program: 1, pid: 4096, streams: [.init(pid: 256, type: 0x0f)], version: 1)
        writer.add(.init(pid: 256, pts: 10, payload: TinyAudio.frame(fill: 1)))
        let trace = demux(writer)
        #expect(trace.samples.map(\.data.count) == [TinyVideo.unit(isIDR: true).count, 30])
        #expect(trace.tracks.map(\.codec) == [.aac])
    }

    struct ProgramCase: CustomStringConvertible, Sendable {
        var description: String
        var wanted: Int?
        var order: [Int]
        var expected: [Int]
    }

    @Test(
        "the first program with media is read unless another is requested",
        arguments: [
            ProgramCase(description: "maps in order", order: [1, 2, 3], expected: [512]),
            ProgramCase(description: "maps in reverse order", order: [3, 2, 1], expected: [512]),
            ProgramCase(description: "the third is wanted", wanted: 3, order: [1, 2, 3], expected: [768]),
            ProgramCase(description: "the map of the second is missing", order: [1, 3], expected: [768]),
            ProgramCase(description: "one that is not there is wanted", wanted: 9, order: [1, 2, 3], expected: []),
        ])
    func programs(_ test: ProgramCase) {
        var writer = TransportStreamWriter()
        for turn in 0..<4 {
            writer.associate([1: 0x100, 2: 0x200 + 0x1000, 3: 0x300 + 0x1000])
            for number in test.order {
                let type: UInt8 = number == 1 ? 0x86 : 0x1b
                let pid = number == 1 ? 0x100 : number * 0x100 + 0x1000
                writer.map(
                    program: number, pid: pid, streams: [.init(pid: number * 0x100 + (number == 1 ? 1 : 0), type: type)]
                )
            }
            for pid in [512, 768] {
                writer.add(.init(pid: pid, pts: Int64(turn) * 3000, payload: TinyVideo.unit(isIDR: true)))
            }
        }
        let trace = demux(writer, program: test.wanted)
        #expect(Set(trace.samples.map(\.trackID)) == Set(test.expected))
    }

    @Test("a new map is read even if the table packets are not counted")
    func constantCounter() {
        var writer = TransportStreamWriter(streams: [video])
        writer.add(.init(pid: 256, pts: 0, payload: TinyVideo.unit(isIDR: true)))
        writer.repeatCounter(pid: 0)
        writer.associate([1: 4096])
        writer.repeatCounter(pid: 4096)
        writer.map(program: 1, pid: 4096, streams: [video, audio], version: 1)
        writer.add(.init(pid: 257, pts: 1920, payload: TinyAudio.frame(fill: 2)))
        let trace = demux(writer)
        #expect(trace.tracks.map(\.id) == [256, 257])
        #expect(trace.samples(of: 257).count == 1)
        #expect(trace.notes.isEmpty)
    }

    @Test("repeated packets of a long table are read once")
    func repeatedTablePackets() {
        let streams = (0..<60).map { TransportStreamWriter.Stream(pid: 256 + $0, type: $0 == 59 ? 0x0f : 0x1b) }
        var once = TransportStreamWriter(streams: streams)
        once.add(.init(pid: 256 + 59, pts: 7, payload: TinyAudio.frame(fill: 1)))
        var twice = TransportStreamWriter()
        for start in stride(from: 0, to: once.bytes.count, by: 188) {
            let packet = once.bytes[start..<start + 188]
            twice.bytes += packet + packet
        }
        #expect(demux(twice) == demux(once))
    }

    struct SectionCase: CustomTestStringConvertible, Sendable {
        var testDescription: String
        /// The numbers of the sections in each repetition. Section 0 has programs 1 and 2, and section 1 has program 3.
        var turns: [[UInt8]]
        var wanted: Int?
        var expected: [Int]
    }

    @Test(
        "a program association table in several sections is one table",
        arguments: [
            SectionCase(testDescription: "the first program", turns: [[0, 1], [0, 1]], expected: [1, 1]),
            SectionCase(
                testDescription: "one of the first section", turns: [[0, 1], [0, 1]], wanted: 2, expected: [2, 2]),
            SectionCase(
                testDescription: "one of the last section", turns: [[0, 1], [0, 1]], wanted: 3, expected: [3, 3]),
            SectionCase(testDescription: "the other order", turns: [[1, 0], [1, 0]], expected: [1, 1]),
            SectionCase(testDescription: "the second section never comes", turns: [[0], [0]], expected: [1, 1]),
        ])
    func sections(_ test: SectionCase) {
        var writer = TransportStreamWriter()
        for (turn, sections) in test.turns.enumerated() {
            for number in sections {
                let programs: KeyValuePairs<Int, Int> = number == 0 ? [1: 0x1001, 2: 0x1002] : [3: 0x1003]
                writer.associate(programs, section: (number, 1))
            }
            for program in 1...3 {
                writer.map(program: program, pid: 0x1000 + program, streams: [.init(pid: 256 + program, type: 0x1b)])
                let pts = Int64(turn) * 3000
                writer.add(.init(pid: 256 + program, pts: pts, payload: TinyVideo.unit(isIDR: true), hasLength: true))
            }
        }
        let trace = demux(writer, program: test.wanted)
        #expect(trace.samples.map { $0.trackID - 256 } == test.expected)
        #expect(trace.notes.isEmpty)
    }

    @Test("a new version of a multi-section table applies when it is complete")
    func newSections() {
        var writer = TransportStreamWriter()
        for version in 0..<3 as Range<UInt8> {
            writer.associate([1: 0x1001], version: version, section: (0, 1))
            writer.associate([2: 0x1002], version: version, section: (1, 1))
            writer.map(program: 2, pid: 0x1002, streams: [video], version: version)
            writer.add(.init(pid: 256, pts: Int64(version) * 3000, payload: TinyVideo.unit(isIDR: true)))
        }
        let trace = demux(writer, program: 2)
        #expect(trace.samples.map(\.pts) == [0, 3000, 6000])
        #expect(trace.notes.isEmpty)
    }

    @Test("a table longer than a packet, with many streams, is assembled")
    func longTable() {
        let streams = (0..<60).map { TransportStreamWriter.Stream(pid: 256 + $0, type: $0 == 59 ? 0x0f : 0x1b) }
        var writer = TransportStreamWriter(streams: streams)
        writer.add(.init(pid: 256 + 59, pts: 7, payload: TinyAudio.frame(fill: 1)))
        let trace = demux(writer)
        #expect(trace.tracks.count == 60)
        #expect(trace.samples.map(\.pts) == [7])
    }

    @Test("R69: tables with wrong checksums are used only until good ones arrive")
    func checksums() {
        var writer = TransportStreamWriter()
        writer.associate([1: 4096], breaksChecksum: true)
        writer.map(program: 1, pid: 4096, streams: [video], breaksChecksum: true)
        writer.add(.init(pid: 256, pts: 0, payload: TinyVideo.unit(isIDR: true)))
        writer.associate([1: 4096])
        writer.map(program: 1, pid: 4096, streams: [video], version: 1)
        writer.map(program: 1, pid: 4096, streams: [audio], version: 2, breaksChecksum: true)
        writer.add(.init(pid: 256, pts: 3000, payload: TinyVideo.unit(isIDR: true)))
        let trace = demux(writer)
        #expect(trace.samples.map(\.pts) == [0, 3000])
        #expect(trace.notes.count == 3)
    }

    struct TypeCase: CustomStringConvertible, Sendable {
        var type: UInt8
        var descriptors: [UInt8] = []
        var codec: MediaCodec?
        var isEncrypted = false
        /// The kind and name of a stream that is skipped.
        var unread: String?
        var description: String { "0x\(String(type, radix: 16)) \(descriptors)" }
    }

    @Test(
        "stream types and descriptors give the codec; unknown ones are skipped with a note",
        arguments: [
            TypeCase(type: 0x03, codec: .mp3), TypeCase(type: 0x04, codec: .mp3), TypeCase(type: 0x0f, codec: .aac),
            TypeCase(type: 0x11, codec: .aacLATM), TypeCase(type: 0x15, codec: .id3),
            TypeCase(
                type: 0x15,
                descriptors: [0x26, 13] + [0xff, 0xff] + Array("ID3 ".utf8) + [0xff] + Array("ID3 ".utf8) + [0, 0xf],
                codec: .id3),
            TypeCase(
                type: 0x15,
                descriptors: [0x26, 13] + [0xff, 0xff] + Array("KLVA".utf8) + [0xff] + Array("KLVA".utf8) + [0, 0xf]),
            TypeCase(type: 0x1b, codec: .h264), TypeCase(type: 0x24, codec: .hevc), TypeCase(type: 0x81, codec: .ac3),
            TypeCase(type: 0x87, codec: .eac3), TypeCase(type: 0x06, descriptors: [0x6a, 1, 0], codec: .ac3),
            TypeCase(type: 0x06, descriptors: [0x7a, 1, 0], codec: .ac3),
            TypeCase(type: 0x06, descriptors: [0x05, 4] + Array("HEVC".utf8), codec: .hevc),
            TypeCase(type: 0x06, descriptors: [0x05, 4] + Array("Opus".utf8), codec: .opus), TypeCase(type: 0x06),
            TypeCase(type: 0xdb, codec: .h264, isEncrypted: true), TypeCase(type: 0xcf, codec: .aac, isEncrypted: true),
            TypeCase(type: 0xc1, codec: .ac3, isEncrypted: true),
            TypeCase(type: 0xc2, codec: .eac3, isEncrypted: true), TypeCase(type: 0x01, codec: .mpeg1Video),
            TypeCase(type: 0x02, codec: .mpeg2Video), TypeCase(type: 0x10, codec: .mpeg4Video),
            TypeCase(type: 0x82, codec: .dts), TypeCase(type: 0xea, unread: "video VC-1 video"),
            TypeCase(type: 0x33, unread: "video VVC video"), TypeCase(type: 0x2d, unread: "audio MPEG-H 3D Audio"),
            TypeCase(type: 0x83, unread: "audio Dolby TrueHD"), TypeCase(type: 0x90),
        ])
    func types(_ test: TypeCase) {
        let writer = TransportStreamWriter(
            streams: [.init(pid: 300, type: test.type, descriptors: test.descriptors), video])
        let trace = demux(writer)
        let track = trace.tracks.first { $0.id == 300 }
        #expect(track?.codec == test.codec)
        #expect((track?.encryption?.scheme == .elementaryStream) == test.isEncrypted)
        #expect(trace.notes.count == (test.codec == nil ? 1 : 0))
        #expect(trace.unread.first == test.unread)
        #expect(trace.error == nil)
    }

    @Test("each sample of an encrypted stream is marked as encrypted")
    func encryptedSamples() {
        var writer = TransportStreamWriter(streams: [.init(pid: 256, type: 0xdb)])
        writer.add(.init(pid: 256, pts: 0, payload: TinyVideo.unit(isIDR: true)))
        writer.add(.init(pid: 256, pts: 3000, payload: TinyVideo.unit(isIDR: false)))
        let trace = demux(writer)
        #expect(trace.samples.count == 2)
        #expect(trace.samples.allSatisfy { $0.encryption == .elementaryStream })
    }

    @Test("the language descriptor gives the language")
    func language() {
        let writer = TransportStreamWriter(streams: [
            .init(pid: 257, type: 0x0f, descriptors: [0x0a, 4] + Array("deu".utf8) + [0]),
            .init(pid: 258, type: 0x0f, descriptors: [0x0a, 4] + Array("und".utf8) + [0]),
        ])
        #expect(demux(writer).tracks.map(\.language) == ["deu", nil])
    }
}

@Suite struct SpliceInformationTests {
    private static let streams = [audio, TransportStreamWriter.Stream(pid: 300, type: 0x86)]

    private func time(_ message: EventMessage) -> UInt64? {
        if case .presentationTime(let time) = message.timing { time } else { nil }
    }

    @Test("K09: sections are events at the previous timestamp, the first ones at the first timestamp")
    func sections() throws {
        var writer = TransportStreamWriter(streams: Self.streams)
        let long = (0..<300).map { UInt8($0 & 127) }
        writer.section(pid: 300, tableID: 0xfc, body: [1])
        writer.add(.init(pid: 257, pts: (1 << 33) - 900, payload: TinyAudio.frame(fill: 1)))
        writer.add(.init(pid: 257, pts: 1020, payload: TinyAudio.frame(fill: 2)))
        writer.section(pid: 300, tableID: 0xfc, body: long)
        writer.section(pid: 300, tableID: 0x42, body: [2])
        let trace = demux(writer)
        #expect(trace.messages.map(time) == [8_589_933_692, 1020])
        // Three bytes of header, the content and four bytes of checksum.
        #expect(trace.messages.map(\.messageData.count) == [3 + 1 + 4, 3 + 300 + 4])
        #expect(trace.messages.last?.messageData.dropFirst(3).prefix(300).elementsEqual(long) == true)
        for message in trace.messages {
            #expect(message.schemeIDURI == "urn:scte:scte35:2013:bin")
            #expect(message.timescale == 90_000 && message.wrapsAt33Bits && message.duration == nil)
        }
        #expect(trace.samples.count == 2)
        #expect(trace.notes.isEmpty)
    }

    @Test("a damaged section, or one without any media, is dropped with a note")
    func omitted() {
        var writer = TransportStreamWriter(streams: Self.streams)
        writer.add(.init(pid: 257, pts: 0, payload: TinyAudio.frame(fill: 1)))
        for _ in 0..<3 { writer.section(pid: 300, tableID: 0xfc, body: [1], breaksChecksum: true) }
        let damaged = demux(writer)
        #expect(damaged.messages.isEmpty)
        #expect(damaged.notes == ["PID 300: wrong checksum of splice information"])
        var alone = TransportStreamWriter(streams: Self.streams)
        for number in 0..<70 as Range<UInt8> { alone.section(pid: 300, tableID: 0xfc, body: [number]) }
        let untimed = demux(alone)
        #expect(untimed.messages.isEmpty)
        #expect(untimed.notes == ["64 sections of splice information without a timestamp were skipped"])
    }

    @Test("a repeated packet is one event")
    func repeated() {
        var writer = TransportStreamWriter(streams: Self.streams)
        writer.add(.init(pid: 257, pts: 0, payload: TinyAudio.frame(fill: 1)))
        writer.section(pid: 300, tableID: 0xfc, body: [1])
        let copy = Array(writer.bytes.suffix(188))
        writer.bytes += copy
        #expect(demux(writer).messages.count == 1)
    }
}
