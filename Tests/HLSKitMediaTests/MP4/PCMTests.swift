import Testing

@testable import HLSKitMedia

private typealias Writer = BoxWriter

@Suite("PCM in MP4: format") struct PCMDescriptionTests {
    struct Entry: CustomTestStringConvertible {
        var name: String
        var entry: [UInt8]
        var codec: String
        var rate = 48_000
        var channels = 2
        var testDescription: String { name }
    }

    private static func pcmC(_ flags: UInt8, _ bits: UInt8) -> [UInt8] { Writer.fullBox("pcmC", [flags, bits]) }

    private static func linear(
        bits: Int, flags: Int, packet: Int, frames: Int = 1, channels: Int = 2, rate: Double = 96_000
    ) -> [UInt8] {
        Writer.audioEntry(
            "lpcm", version: 2, channels: 3, rate: 1,
            Writer.be32(72) + Writer.be64(Int(rate.bitPattern)) + Writer.be32(channels)
                + [0x7F00_0000, bits, flags, packet, frames].flatMap { Writer.be32($0) })
    }

    /// Returns a QuickTime audio entry of version 1.
    private static func wave(_ type: String, _ children: [UInt8]...) -> [UInt8] {
        let frma = Writer.box("frma", Array(type.utf8))
        return Writer.audioEntry(
            type, version: 1, Writer.zeros(16),
            Writer.box("wave", frma + children.flatMap { $0 } + [0, 0, 0, 8, 0, 0, 0, 0]))
    }

    private static let little = Writer.box("enda", [0, 1])
    private static let big = Writer.box("enda", [0, 0])

    static let entries = [
        Entry(name: "ipcm 16 le", entry: Writer.audioEntry("ipcm", pcmC(1, 16)), codec: "pcm_s16le"),
        Entry(name: "ipcm 16 be", entry: Writer.audioEntry("ipcm", pcmC(0, 16)), codec: "pcm_s16be"),
        Entry(name: "ipcm 24 le", entry: Writer.audioEntry("ipcm", pcmC(1, 24)), codec: "pcm_s24le"),
        Entry(name: "ipcm 32 be", entry: Writer.audioEntry("ipcm", pcmC(0, 32)), codec: "pcm_s32be"),
        Entry(name: "fpcm 32 le", entry: Writer.audioEntry("fpcm", pcmC(1, 32)), codec: "pcm_f32le"),
        Entry(name: "fpcm 64 be", entry: Writer.audioEntry("fpcm", pcmC(0, 64)), codec: "pcm_f64be"),
        Entry(name: "ipcm without its box", entry: Writer.audioEntry("ipcm"), codec: "ipcm"),
        Entry(name: "fpcm of 16 bits", entry: Writer.audioEntry("fpcm", pcmC(1, 16)), codec: "fpcm"),
        Entry(name: "ipcm of 255 bits", entry: Writer.audioEntry("ipcm", pcmC(1, 255)), codec: "ipcm"),
        Entry(
            name: "a rate that has a box of its own",
            entry: Writer.audioEntry("ipcm", rate: 0, pcmC(1, 16), Writer.fullBox("srat", Writer.be32(192_000))),
            codec: "pcm_s16le", rate: 192_000),
        Entry(
            name: "no rate but the timescale", entry: Writer.audioEntry("ipcm", rate: 0, pcmC(1, 16)),
            codec: "pcm_s16le", rate: 1000),
        Entry(name: "sowt", entry: Writer.audioEntry("sowt"), codec: "pcm_s16le"),
        Entry(name: "twos", entry: Writer.audioEntry("twos"), codec: "pcm_s16be"),
        Entry(name: "twos 8", entry: Writer.audioEntry("twos", bits: 8), codec: "pcm_s8"),
        Entry(name: "sowt 24", entry: Writer.audioEntry("sowt", bits: 24), codec: "pcm_s24le"),
        Entry(name: "raw 8", entry: Writer.audioEntry("raw ", bits: 8), codec: "pcm_u8"),
        Entry(name: "raw 16", entry: Writer.audioEntry("raw ", bits: 16), codec: "pcm_s16be"),
        Entry(name: "NONE", entry: Writer.audioEntry("NONE", bits: 8), codec: "pcm_u8"),
        Entry(name: "in24", entry: wave("in24"), codec: "pcm_s24be"),
        Entry(name: "in24 little", entry: wave("in24", little), codec: "pcm_s24le"),
        Entry(name: "in32 big", entry: wave("in32", big), codec: "pcm_s32be"),
        Entry(name: "fl32 little", entry: wave("fl32", little), codec: "pcm_f32le"),
        Entry(name: "fl64", entry: wave("fl64"), codec: "pcm_f64be"),
        Entry(name: "ulaw", entry: Writer.audioEntry("ulaw"), codec: "pcm_mulaw"),
        Entry(name: "alaw", entry: Writer.audioEntry("alaw"), codec: "pcm_alaw"),
        Entry(name: "lpcm 16 le", entry: linear(bits: 16, flags: 12, packet: 4), codec: "pcm_s16le", rate: 96_000),
        Entry(name: "lpcm 24 be", entry: linear(bits: 24, flags: 14, packet: 6), codec: "pcm_s24be", rate: 96_000),
        Entry(name: "lpcm float", entry: linear(bits: 32, flags: 9, packet: 8), codec: "pcm_f32le", rate: 96_000),
        Entry(
            name: "lpcm of six channels", entry: linear(bits: 64, flags: 11, packet: 48, channels: 6),
            codec: "pcm_f64be", rate: 96_000, channels: 6),
        Entry(name: "lpcm 24 in 32", entry: linear(bits: 24, flags: 20, packet: 8), codec: "lpcm", rate: 96_000),
        Entry(name: "lpcm unsigned 16", entry: linear(bits: 16, flags: 0, packet: 4), codec: "lpcm", rate: 96_000),
        Entry(
            name: "lpcm of 2^32 bits", entry: linear(bits: 0xFFFF_FFFF, flags: 4, packet: 4), codec: "lpcm",
            rate: 96_000),
        Entry(name: "lpcm without a description", entry: Writer.audioEntry("lpcm"), codec: "lpcm"),
    ]

    @Test("a sample entry and its boxes give the format", arguments: entries)
    func form(_ entry: Entry) throws {
        let header = Writer.header([Writer.Track(handler: "soun", entries: [entry.entry])])
        let section = try MP4InitializationSection(parsing: header[...])
        let track = try #require(section.tracks.first)
        #expect(section.notes.isEmpty)
        #expect(track.codec.rawValue == entry.codec)
        #expect(track.sampleRate == entry.rate)
        #expect(track.channelCount == entry.channels)
    }

    @Test("video frames in 'raw ' are not audio")
    func rawFrames() throws {
        let header = Writer.header([Writer.Track(entries: [Writer.visualEntry("raw ")])])
        #expect(try MP4InitializationSection(parsing: header[...]).tracks.first?.codec.rawValue == "raw ")
    }
}

@Suite("PCM in MP4: samples") struct PCMSampleTests {
    private static func table(_ type: String, _ values: Int...) -> [UInt8] {
        Writer.fullBox(type, values.flatMap { Writer.be32($0) })
    }

    /// Returns a track of 16 bit stereo audio, which has four bytes per frame.
    private static func track(_ tables: [UInt8], edits: [UInt8] = [], channels: Int = 2) -> Writer.Track {
        Writer.Track(
            handler: "soun", timescale: 48_000, entries: [Writer.audioEntry("sowt", channels: channels)], edits: edits,
            tables: tables)
    }

    private static func samples(
        _ tables: [UInt8], edits: [UInt8] = [], channels: Int = 2
    ) throws -> [MP4SampleTable.Sample] {
        let header = Writer.header([track(tables, edits: edits, channels: channels)], defaults: nil)
        let table = MP4SampleTable(try MP4InitializationSection(parsing: header[...]))
        for track in table.tracks { #expect(Array(track.samples.prefix(20_000)).count <= track.stepCount) }
        return table.tracks.flatMap { Array($0.samples.prefix(20_000)) }
    }

    /// Two chunks of 2500 frames at offsets 1000 and 20,000.
    private static let places = table("stsc", 1, 1, 2500, 1) + table("stco", 2, 1000, 20_000)

    @Test("frames are read in pieces of 1024 that end with their chunk", arguments: [1, 2, 4])
    func pieces(size: Int) throws {
        let samples = try Self.samples(
            Self.table("stsz", size, 5000) + Self.table("stts", 1, 5000, 1) + Self.places,
            edits: Writer.elst((0, 100)))
        #expect(samples.map(\.offset) == [1000, 5096, 9192, 20_000, 24_096, 28_192])
        #expect(samples.map(\.byteCount) == [4096, 4096, 1808, 4096, 4096, 1808])
        #expect(samples.map(\.pts) == [-100, 924, 1948, 2400, 3424, 4448])
        #expect(samples.map(\.dts) == samples.map(\.pts))
        #expect(samples.map(\.duration) == [1024, 1024, 452, 1024, 1024, 452])
        #expect(samples.allSatisfy { $0.isSync })
    }

    @Test("a piece has one frame duration, and a sync sample table is ignored")
    func durations() throws {
        let samples = try Self.samples(
            Self.table("stsz", 4, 5000) + Self.table("stts", 2, 100, 1, 4900, 2) + Self.table("stss", 1, 1)
                + Self.places)
        #expect(samples.map(\.byteCount) == [400, 4096, 4096, 1408, 4096, 4096, 1808])
        #expect(samples.map(\.pts) == [0, 100, 2148, 4196, 4900, 6948, 8996])
        #expect(samples.map(\.duration) == [100, 2048, 2048, 704, 2048, 2048, 904])
        #expect(samples.allSatisfy { $0.isSync })
    }

    @Test("large samples are kept; small ones with individual sizes are merged")
    func largerSamples() throws {
        let whole = try Self.samples(
            Self.table("stsz", 8192, 3) + Self.table("stts", 1, 3, 2048) + Self.table("stsc", 1, 1, 3, 1)
                + Self.table("stco", 1, 1000))
        #expect(whole.map(\.byteCount) == [8192, 8192, 8192])
        #expect(whole.map(\.pts) == [0, 2048, 4096])
        let listed = try Self.samples(
            Self.table("stsz", 0, 6, 2000, 2000, 2000, 8000, 400, 0) + Self.table("stts", 1, 6, 500)
                + Self.table("stsc", 1, 1, 6, 1) + Self.table("stco", 1, 1000))
        #expect(listed.map(\.byteCount) == [4000, 2000, 8000, 400])
        #expect(listed.map(\.duration) == [1000, 500, 500, 1000])
        #expect(listed.map(\.offset) == [1000, 5000, 7000, 15_000])
    }

    @Test(
        "tables that claim 2^32 samples cost one step per piece",
        arguments: [1, 4, 0x7FFF_FFFF, 0xFFFF_FFFF], [1, 0xFFFF])
    func hugeCounts(size: Int, duration: Int) throws {
        let count = 0xFFFF_FFFF
        let samples = try Self.samples(
            Self.table("stsz", size, count) + Self.table("stts", 1, count, duration)
                + Self.table("stsc", 1, 1, count, 1)
                + Self.table("stco", 1, 1000))
        #expect(samples.count == 20_000)
        #expect(samples.allSatisfy { $0.byteCount == (duration == 1 || size <= 4 ? 4096 : size) })
        let header = Writer.header(
            [
                Self.track(
                    Self.table("stsz", 1, count) + Self.table("stts", 1, count, 1) + Self.table("stsc", 1, 1, 1, 1)
                        + Self.table("stco", 3, 1000, 1004, 1008))
            ], defaults: nil)
        let table = try #require(MP4SampleTable(try MP4InitializationSection(parsing: header[...])).tracks.first)
        #expect(Array(table.samples).map(\.byteCount) == [4, 4, 4])
    }

    @Test("missing samples, empty chunks and zero channels do not trap")
    func nothing() throws {
        #expect(try Self.samples(Self.table("stsz", 4, 0)).isEmpty)
        #expect(
            try Self.samples(
                Self.table("stsz", 1, 9) + Self.table("stts", 1, 9, 1) + Self.table("stsc", 1, 1, 0, 1)
                    + Self.table("stco", 1, 1)
            ).isEmpty)
        #expect(
            try Self.samples(
                Self.table("stsz", 0, 3, 0, 0, 0) + Self.table("stts", 1, 3, 2) + Self.table("stsc", 1, 1, 3, 1)
                    + Self.table("stco", 1, 1)
            ).map(\.byteCount) == [0])
        let channels = try Self.samples(
            Self.table("stsz", 2, 9) + Self.table("stts", 1, 9, 1) + Self.table("stsc", 1, 1, 9, 1)
                + Self.table("stco", 1, 1), channels: 0)
        #expect(channels.map(\.byteCount) == Array(repeating: 2, count: 9))
        let late = try Self.samples(
            Self.table("stsz", 4, 9) + Self.table("stts", 1, 3, 2) + Self.table("stsc", 1, 1, 9, 1)
                + Self.table("stco", 1, 1) + Self.table("ctts", 1, 2, 7))
        #expect(late.count == 9)
    }

    // MARK: Files

    private static func media(_ frames: Range<Int>) -> [UInt8] {
        frames.flatMap { frame -> [UInt8] in [UInt8(frame & 0xFF), UInt8(frame >> 8), 0, 1] }
    }

    private static let file: [UInt8] = {
        func bytes(offsets: [Int]) -> [UInt8] {
            Writer.header(
                [
                    track(
                        table("stsz", 1, 5000) + table("stts", 1, 5000, 1) + table("stsc", 1, 1, 2500, 1)
                            + table("stco", 2, offsets[0], offsets[1]))
                ], defaults: nil)
        }
        let start = bytes(offsets: [0, 0]).count + 8
        return bytes(offsets: [start, start + 10_004])
            + Writer.box("mdat", media(0..<2500), [9, 9, 9, 9], media(2500..<5000))
    }()

    private static func frames(_ samples: [MediaSample]) -> [Int] {
        samples.flatMap { sample in
            let bytes = sample.data.bytes
            return stride(from: 0, to: bytes.count, by: 4).map { Int(bytes[$0]) | Int(bytes[$0 + 1]) << 8 }
        }
    }

    @Test("a file arriving in any pieces gives all frames once", arguments: [1, 1000, 4099, .max])
    func wholeFile(pieceSize: Int) throws {
        let demuxed = Demuxed(Self.file, by: ProgressiveMP4Demuxer()) { pieceSize }
        #expect(demuxed.error == nil)
        #expect(demuxed.samples.map(\.pts) == [0, 1024, 2048, 2500, 3524, 4548])
        #expect(Self.frames(demuxed.samples) == Array(0..<5000))
    }

    @Test(
        "a file read in segments gives all frames once", arguments: [Duration.zero, .milliseconds(50), .seconds(9)])
    func segments(target: Duration) throws {
        var scanner = MP4HeaderScanner()
        let header = try #require(try scanner.append(Self.file[...]))
        let section = try MP4InitializationSection(parsing: header.bytes[...])
        let segments = try #require(MP4FileSegments(section, target: target))
        #expect((segments.starts.count > 1) == (target < .seconds(1)))
        let map = try MP4InitializationSection(
            parsing: MP4InitializationSection.fragmented(header.bytes, keeping: [1])[...])
        var samples: [MediaSample] = []
        for index in segments.starts.indices {
            let fragment = try #require(segments.fragment(index, of: [1], maximumGap: 100))
            let bytes = fragment.head + fragment.ranges.flatMap { Self.file[$0] }
            let demuxed = Demuxed(bytes, by: FragmentedMP4Demuxer(initialization: map))
            #expect(demuxed.error == nil)
            samples += demuxed.samples
        }
        #expect(Self.frames(samples) == Array(0..<5000))
        #expect(samples.map(\.pts) == [0, 1024, 2048, 2500, 3524, 4548])
    }

    // MARK: Fragments

    private static func fragment(
        flags: Int, count: Int, _ fields: [UInt8], size: Int = 4, media: Int
    ) throws -> Demuxed {
        func bytes(_ offset: Int) -> [UInt8] {
            Writer.moof(
                Writer.traf(
                    Writer.tfhd(1, flags: 0x20018, Writer.be32(1), Writer.be32(size)), Writer.tfdt(100),
                    Writer.trun(flags: flags | 1, count: count, Writer.be32(offset), fields)))
        }
        let start = bytes(bytes(0).count + 8)
        return try Demuxed(
            header: Writer.header([track([])]), fragments: start + Writer.box("mdat", Self.media(0..<media / 4)))
    }

    @Test("a fragment's frames are read in pieces of 1024, whatever the declared size", arguments: [1, 2, 4])
    func runOfFrames(size: Int) throws {
        let demuxed = try Self.fragment(flags: 0, count: 2500, [], size: size, media: 10_000)
        #expect(demuxed.error == nil)
        #expect(demuxed.samples.map(\.pts) == [100, 1124, 2148])
        #expect(demuxed.samples.map(\.duration) == [1024, 1024, 452])
        #expect(Self.frames(demuxed.samples) == Array(0..<2500))
    }

    @Test("frames with individual sizes and durations are read so, too; larger samples are kept")
    func runOfFields() throws {
        let frames = (0..<1500).flatMap { _ in Writer.be32(1) + Writer.be32(4) }
        let demuxed = try Self.fragment(
            flags: 0x300, count: 1503,
            frames + Writer.be32(7) + Writer.be32(0) + Writer.be32(2048) + Writer.be32(8192)
                + Writer.be32(1) + Writer.be32(4), media: 14_196)
        #expect(demuxed.error == nil)
        #expect(demuxed.samples.map(\.data.count) == [4096, 1904, 8192, 4])
        #expect(demuxed.samples.map(\.pts) == [100, 1124, 1607, 3655])
    }

    @Test("a run that claims 2^32 frames ends with the media; one without bytes ends at once")
    func hugeRun() throws {
        let demuxed = try Self.fragment(flags: 0, count: 0xFFFF_FFFF, [], media: 10_000)
        #expect(demuxed.error?.code == .truncated || demuxed.error?.code == .malformed)
        #expect(demuxed.samples.count <= 3)
        let empty = try Self.fragment(flags: 0, count: 0xFFFF_FFFF, [], size: 0, media: 8)
        #expect(empty.error == nil && empty.samples.isEmpty)
    }
}
