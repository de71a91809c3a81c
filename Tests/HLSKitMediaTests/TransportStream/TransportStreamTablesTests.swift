import Testing

@testable import HLSKitMedia

@Suite struct TransportStreamTablesTests {
    private static let streams = [
        TransportStreamWriter.Stream(pid: 256, type: 0x1b), TransportStreamWriter.Stream(pid: 257, type: 0x0f),
    ]

    private static func add(_ numbers: Range<Int>, to writer: inout TransportStreamWriter) {
        for number in numbers {
            let pts = Int64(90_000 + number * 3000)
            writer.add(
                .init(
                    pid: 256, pts: pts, payload: TinyVideo.unit(isIDR: number == 0, fill: UInt8(number)),
                    hasLength: true))
            writer.add(
                .init(
                    pid: 257, streamID: 0xc0, pts: pts, payload: TinyAudio.frame(fill: UInt8(number)), hasLength: true))
        }
    }

    private static func times(_ numbers: Range<Int>) -> [Int64] { numbers.map { Int64(90_000 + $0 * 3000) } }

    private static func late(_ count: Int) -> [UInt8] {
        var writer = TransportStreamWriter()
        add(0..<count, to: &writer)
        writer.associate([1: 4096])
        writer.map(program: 1, pid: 4096, streams: streams)
        add(count..<count + 3, to: &writer)
        return writer.bytes
    }

    @Test("media before the tables is read when they arrive", arguments: [[], [1], [188], [300, 5]])
    func lateTables(pieces: [Int]) {
        let trace = DemuxerTrace(TransportStreamDemuxer(), Self.late(5), pieces: pieces)
        #expect(trace.samples(of: 256).map(\.pts) == Self.times(0..<8))
        #expect(trace.samples(of: 257).map(\.pts) == Self.times(0..<8))
        #expect(trace.samples.first?.isSync == true)
        #expect(trace.samples.allSatisfy { !$0.isDamaged })
        #expect(trace.error == nil)
    }

    @Test(
        "the first of several programs that has packets is read", arguments: [[256, 257], [256], [257]], [[], [188]])
    func silentPrograms(_ present: [Int], pieces: [Int]) {
        var writer = TransportStreamWriter()
        for turn in 0..<3 {
            writer.associate([5: 4097, 1: 4096, 9: 4098])
            writer.map(program: 5, pid: 4097, streams: [.init(pid: 300, type: 0x1b)])
            writer.map(program: 1, pid: 4096, streams: Self.streams.filter { present.contains($0.pid) })
            writer.map(program: 9, pid: 4098, streams: [.init(pid: 301, type: 0x0f)])
            var media = TransportStreamWriter()
            Self.add(turn * 4..<turn * 4 + 4, to: &media)
            for packet in stride(from: 0, to: media.bytes.count, by: 188) {
                let pid = Int(media.bytes[packet + 1] & 0x1f) << 8 | Int(media.bytes[packet + 2])
                if present.contains(pid) { writer.bytes += media.bytes[packet..<packet + 188] }
            }
        }
        let trace = DemuxerTrace(TransportStreamDemuxer(), writer.bytes, pieces: pieces)
        #expect(trace.error == nil)
        #expect(trace.tracks.map(\.id) == present)
        for pid in present { #expect(trace.samples(of: pid).count == 12) }
    }

    @Test("the data kept while waiting for tables is bounded")
    func bounded() {
        var writer = TransportStreamWriter()
        let payload = [UInt8](repeating: 0xaa, count: 60_000)
        for number in 0..<80 { writer.add(.init(pid: 256, pts: Int64(number) * 3000, payload: payload)) }
        var after = TransportStreamWriter(streams: Self.streams)
        Self.add(0..<2, to: &after)
        let trace = DemuxerTrace(TransportStreamDemuxer(), writer.bytes + after.bytes)
        #expect(trace.notes.contains { $0.hasSuffix("packets before the tables were skipped") })
        #expect(trace.samples(of: 257).count == 2)
    }

    /// Demuxes the second of two segments with the tables that the first has left.
    private static func second(_ bytes: [UInt8], after first: [UInt8]) -> DemuxerTrace {
        var demuxer = TransportStreamDemuxer(continuing: nil)
        var events: [DemuxerEvent] = []
        try? demuxer.append(first[...], to: &events)
        try? demuxer.finish(to: &events)
        return DemuxerTrace(TransportStreamDemuxer(continuing: demuxer.rest), bytes)
    }

    @Test("a segment without tables uses the previous segment's tables")
    func noTables() {
        var first = TransportStreamWriter(streams: Self.streams)
        Self.add(0..<3, to: &first)
        var next = TransportStreamWriter()
        Self.add(3..<6, to: &next)
        let trace = Self.second(next.bytes, after: first.bytes)
        #expect(trace.error == nil)
        #expect(trace.tracks.map(\.id) == [256, 257])
        #expect(trace.samples(of: 256).count == 3)
        #expect(trace.samples(of: 257).map(\.pts) == Self.times(3..<6))
    }

    @Test("tables in the middle of a segment change nothing unless they differ")
    func tablesInTheMiddle() {
        var first = TransportStreamWriter(streams: Self.streams)
        Self.add(0..<3, to: &first)
        let same = Self.second(Self.late(4), after: first.bytes)
        #expect(same.samples(of: 256).count == 7)
        #expect(same.notes == [])

        var other = TransportStreamWriter()
        other.associate([1: 4096], version: 1)
        other.map(program: 1, pid: 4096, streams: [.init(pid: 300, type: 0x0f)], version: 1)
        other.add(.init(pid: 300, pts: 0, payload: TinyAudio.frame(fill: 1), hasLength: true))
        let changed = Self.second(other.bytes, after: first.bytes)
        #expect(changed.samples.map(\.trackID) == [300])
        #expect(changed.tracks.map(\.id) == [300])
    }

    struct Unread: CustomTestStringConvertible, Sendable {
        var testDescription: String { name }
        var type: UInt8
        var descriptors: [UInt8] = []
        var name: String
    }

    @Test(
        "unsupported streams are named in a note, and in the error if there are no others",
        arguments: [
            Unread(type: 0x2d, name: "MPEG-H 3D Audio"), Unread(type: 0x33, name: "VVC video"),
            Unread(type: 0x83, name: "Dolby TrueHD"), Unread(type: 0x06, descriptors: [0x7f, 1, 0x15], name: "AC-4"),
            Unread(type: 0x06, descriptors: [0x7f, 1, 0x21], name: "DTS-UHD"),
            Unread(type: 0x06, descriptors: [0x56, 0], name: "teletext"),
            Unread(type: 0x06, descriptors: [0x59, 0], name: "DVB subtitles"),
            Unread(type: 0x06, descriptors: [0x05, 4] + Array("KLVA".utf8), name: "KLV metadata"),
            Unread(type: 0x7e, name: "unknown stream type"),
        ])
    func unread(_ unread: Unread) {
        let stream = TransportStreamWriter.Stream(pid: 300, type: unread.type, descriptors: unread.descriptors)
        let alone = DemuxerTrace(TransportStreamDemuxer(), TransportStreamWriter(streams: [stream]).bytes)
        let named = "\(unread.name) (stream type 0x\(String(unread.type, radix: 16)))"
        #expect(alone.error?.code == .unsupported)
        #expect(alone.error?.text == "no readable track: \(named)")
        #expect(alone.notes == ["PID 300 is skipped: \(named)"])

        var writer = TransportStreamWriter(streams: Self.streams + [stream])
        Self.add(0..<2, to: &writer)
        let neighbor = DemuxerTrace(TransportStreamDemuxer(), writer.bytes)
        #expect(neighbor.error == nil)
        #expect(neighbor.notes == ["PID 300 is skipped: \(named)"])
        #expect(neighbor.samples(of: 256).count == 2)
    }

    @Test("H.263, which muxers write as private data, is reported and not read as another format")
    func h263() {
        var writer = TransportStreamWriter(streams: [.init(pid: 300, type: 0x06)])
        for number in 0..<8 {
            // The start code of a picture of 176 by 144, with its number, then the first bits of its macroblocks.
            let picture: [UInt8] = [0, 0, 0x80 | UInt8(number >> 6), UInt8(number << 2) | 2, 0x0c, 0x04, 0x27]
            writer.add(
                .init(
                    pid: 300, pts: Int64(number) * 3600, payload: picture + [UInt8](repeating: 0x5a, count: 300),
                    hasLength: true))
        }
        let trace = DemuxerTrace(TransportStreamDemuxer(), writer.bytes)
        #expect(trace.samples.isEmpty)
        #expect(trace.error?.code == .unsupported)
        #expect(trace.error?.text == "no readable track: private data (stream type 0x6)")
    }

    @Test(
        "packets with lengths modulo 65 536 keep their bytes, however small the length", arguments: [2, 40])
    func wrappedLength(declared: Int) {
        var writer = TransportStreamWriter(streams: [Self.streams[0]])
        for number in 0..<4 {
            let unit = TinyVideo.unit(isIDR: number == 0, count: 400)
            writer.add(
                .init(pid: 256, pts: Int64(number) * 3000, payload: unit, declaredLength: number == 0 ? declared : nil))
        }
        let trace = DemuxerTrace(TransportStreamDemuxer(), writer.bytes)
        #expect(trace.samples.map(\.pts) == [0, 3000, 6000, 9000])
        #expect(trace.samples.first?.bytes == TinyVideo.unit(isIDR: true, count: 400))
        #expect(trace.notes.count == 1)
    }

    @Test("audio declared as another format is read as its actual format", arguments: [0x03, 0x11, 0x81] as [UInt8])
    func declaredWrongly(type: UInt8) {
        var writer = TransportStreamWriter(streams: [.init(pid: 257, type: type)])
        for number in 0..<4 {
            let frames = TinyAudio.frame(fill: 1) + TinyAudio.frame(fill: 2)
            writer.add(.init(pid: 257, streamID: 0xc0, pts: Int64(number) * 3840, payload: frames, hasLength: true))
        }
        for pieces in [[], [1], [200]] {
            let trace = DemuxerTrace(TransportStreamDemuxer(), writer.bytes, pieces: pieces)
            #expect(trace.tracks.map(\.codec) == [.aac])
            #expect(trace.samples.count == 8)
            #expect(trace.notes.count == 1)
        }
    }
}
