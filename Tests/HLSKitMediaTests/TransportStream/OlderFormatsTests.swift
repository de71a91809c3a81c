import Testing

@testable import HLSKitMedia

@Suite struct OlderFormatsTests {
    private struct Bits {
        var bits: [UInt8] = []
        mutating func add(_ value: Int, _ count: Int) {
            bits += (0..<count).map { UInt8(value >> (count - 1 - $0) & 1) }
        }
        var bytes: [UInt8] {
            stride(from: 0, to: bits.count, by: 8).map { start in
                (0..<8).reduce(UInt8(0)) { $0 << 1 | (start + $1 < bits.count ? bits[start + $1] : 0) }
            }
        }
    }

    // MARK: Video

    private static let fill = [UInt8](repeating: 0xaa, count: 70)
    /// A sequence header with 64 by 48 pixels and 25 frames a second.
    private static let sequence: [UInt8] = [0, 0, 1, 0xb3, 0x04, 0x00, 0x30, 0x13, 0xff, 0xff, 0xe0, 0x18]

    /// - Parameter structure: 3 for a frame, 1 or 2 for a field.
    private static func frame(type: UInt8, structure: UInt8 = 3) -> [UInt8] {
        let head: [UInt8] = [
            0, 0, 1, 0x00, 0, type << 3, 0xff, 0xf8, 0, 0, 1, 0xb5, 0x8f, 0xff, 0xf0 | structure, 0x80,
        ]
        let slice: [UInt8] = [0, 0, 1, 0x01]
        return head + slice + fill
    }

    private static let layer: [UInt8] = {
        var bits = Bits()
        bits.add(0, 1)
        bits.add(1, 8)
        bits.add(0, 1)
        bits.add(1, 4)
        bits.add(0, 1)
        bits.add(0, 2)
        bits.add(1, 1)
        bits.add(25, 16)
        bits.add(1, 1)
        bits.add(1, 1)
        bits.add(1, 5)
        bits.add(1, 1)
        bits.add(64, 13)
        bits.add(1, 1)
        bits.add(48, 13)
        bits.add(1, 1)
        return [0, 0, 1, 0x20] + bits.bytes
    }()

    private static func plane(type: UInt8) -> [UInt8] { [0, 0, 1, 0xb6, type << 6 | 0x10] + fill }

    struct Video: CustomTestStringConvertible, Sendable {
        var testDescription: String
        var type: UInt8
        var codec: MediaCodec
        var units: [[UInt8]]
        var isSync: [Bool]
    }

    private static let videos = [
        Video(
            testDescription: "MPEG-2", type: 0x02, codec: .mpeg2Video,
            units: [sequence + frame(type: 1), frame(type: 2), [0, 0, 1, 0xb8, 0, 8, 0, 64] + frame(type: 1)],
            isSync: [true, false, false]),
        Video(
            testDescription: "MPEG-2 of fields", type: 0x02, codec: .mpeg2Video,
            units: [
                sequence + frame(type: 1, structure: 1) + frame(type: 2, structure: 2),
                frame(type: 2, structure: 1) + frame(type: 2, structure: 2),
            ], isSync: [true, false]),
        Video(
            testDescription: "MPEG-1", type: 0x01, codec: .mpeg1Video,
            units: [sequence + [0, 0, 1, 0, 0, 8, 0, 0] + fill, [0, 0, 1, 0, 0, 16, 0, 0] + fill],
            isSync: [true, false]),
        Video(
            testDescription: "MPEG-4 part 2", type: 0x10, codec: .mpeg4Video,
            units: [layer + plane(type: 0), plane(type: 1), plane(type: 2)], isSync: [true, false, false]),
    ]

    @Test("frames are cut at their start codes, however packets are split", arguments: videos, [1, 3])
    func video(_ video: Video, unitsInPacket: Int) {
        var writer = TransportStreamWriter(streams: [.init(pid: 256, type: video.type)])
        for start in stride(from: 0, to: video.units.count, by: unitsInPacket) {
            let units = video.units[start...].prefix(unitsInPacket).flatMap { $0 }
            writer.add(.init(pid: 256, pts: 90_000 + Int64(start) * 3600, payload: units))
        }
        for pieces in [[], [1], [200]] {
            let trace = DemuxerTrace(TransportStreamDemuxer(), writer.bytes, pieces: pieces)
            #expect(trace.samples.map(\.bytes) == video.units)
            #expect(trace.samples.map(\.isSync) == video.isSync)
            #expect(trace.samples.map(\.pts) == video.units.indices.map { 90_000 + Int64($0) * 3600 })
            #expect(trace.tracks.map(\.codec) == [video.codec])
            #expect(trace.tracks.map(\.width) == [64])
            #expect(trace.tracks.map(\.height) == [48])
            #expect(trace.notes == [])
        }
    }

    @Test("a stream whose packets do not begin with frames may be cut between any two packets")
    func cuts() throws {
        let frames = (0..<12).map { ($0 == 0 ? Self.sequence : []) + Self.frame(type: $0 % 4 == 0 ? 1 : 2) }
        var writer = TransportStreamWriter(streams: [.init(pid: 256, type: 0x02)])
        var bytes = frames.flatMap(\.self)
        while !bytes.isEmpty {
            let isFirst = writer.packetCount == 2
            writer.add(
                .init(pid: 256, pts: isFirst ? 90_000 : nil, payload: Array(bytes.prefix(70)), hasLength: true))
            bytes.removeFirst(min(70, bytes.count))
        }
        // Only after the second frame does the demuxer know that packets do not begin with frames.
        let first = 3 + (frames[0].count + frames[1].count + 140) / 70
        for cut in first..<writer.packetCount {
            var events: [DemuxerEvent] = []
            var demuxer = TransportStreamDemuxer(continuing: nil)
            try demuxer.append(writer.bytes[..<(cut * 188)], to: &events)
            try demuxer.finish(to: &events)
            var next = TransportStreamDemuxer(continuing: demuxer.rest)
            try next.append(writer.bytes[(cut * 188)...], to: &events)
            try next.finish(to: &events)
            if let rest = next.rest { events += rest.finish() }
            let found = events.compactMap { if case .sample(let sample) = $0 { sample.bytes } else { nil } }
            #expect(found == frames, "cut at packet \(cut)")
        }
    }

    // MARK: DTS

    /// Returns a core frame with 512 samples of two channels at 48 kHz in 96 bytes.
    private static func core(fill: UInt8) -> [UInt8] {
        var bits = Bits()
        for (value, count) in [(1, 1), (31, 5), (0, 1), (15, 7), (95, 14), (2, 6), (13, 4), (0, 15), (0, 2)] {
            bits.add(value, count)
        }
        let head: [UInt8] = [0x7f, 0xfe, 0x80, 0x01] + bits.bytes
        return head + [UInt8](repeating: fill, count: 96 - head.count)
    }

    private static func substream(fill: UInt8) -> [UInt8] {
        var bits = Bits()
        for (value, count) in [(0, 8), (0, 2), (0, 1), (11, 8), (39, 16)] { bits.add(value, count) }
        let head: [UInt8] = [0x64, 0x58, 0x20, 0x25] + bits.bytes
        return head + [UInt8](repeating: fill, count: 40 - head.count)
    }

    @Test(
        "DTS frames include their following extensions",
        arguments: [
            TransportStreamWriter.Stream(pid: 257, type: 0x82), .init(pid: 257, type: 0x8a),
            .init(pid: 257, type: 0x06, descriptors: [0x7b, 0]),
            .init(pid: 257, type: 0x06, descriptors: [0x05, 4] + Array("DTS1".utf8)),
        ], [false, true])
    func dts(_ stream: TransportStreamWriter.Stream, isExtended: Bool) {
        let frames = (1...6 as ClosedRange<UInt8>).map {
            Self.core(fill: $0) + (isExtended ? Self.substream(fill: $0) : [])
        }
        var writer = TransportStreamWriter(streams: [stream])
        for start in stride(from: 0, to: 6, by: 2) {
            writer.add(
                .init(
                    pid: 257, streamID: 0xbd, pts: Int64(start) * 960, payload: frames[start] + frames[start + 1],
                    hasLength: true))
        }
        for pieces in [[], [1], [500]] {
            let trace = DemuxerTrace(TransportStreamDemuxer(), writer.bytes, pieces: pieces)
            #expect(trace.samples.map(\.bytes) == frames)
            #expect(trace.samples.map(\.pts) == (0..<6).map { $0 * 960 })
            #expect(trace.samples.allSatisfy { $0.duration == 960 && !$0.isDamaged })
            #expect(
                trace.tracks.map { [$0.codec.rawValue, "\($0.sampleRate)", "\($0.channelCount)"] } == [
                    ["dts", "48000", "2"]
                ])
        }
    }

    // MARK: Opus

    /// Returns packets of 20 ms with two channels.
    private static func opus(count: Int, fill: UInt8, trims: Bool = false) -> [UInt8] {
        let size = [UInt8](repeating: 0xff, count: count / 255) + [UInt8(count % 255)]
        let trim: [UInt8] = trims ? [0x01, 0x38] : []
        var unit: [UInt8] = [0x7f, trims ? 0xf0 : 0xe0]
        unit += size + trim
        unit.append(0xfc)
        return unit + [UInt8](repeating: fill, count: count - 1)
    }

    @Test("Opus access units are output without their control headers", arguments: [false, true])
    func opus(hasLength: Bool) {
        let stream = TransportStreamWriter.Stream(
            pid: 257, type: 0x06, descriptors: [0x05, 4] + Array("Opus".utf8) + [0x7f, 2, 0x80, 2])
        var writer = TransportStreamWriter(streams: [stream])
        let counts = [3, 254, 255, 600, 10, 20]
        for start in stride(from: 0, to: counts.count, by: 2) {
            let units = [start, start + 1].flatMap { Self.opus(count: counts[$0], fill: UInt8($0), trims: $0 == 0) }
            writer.add(.init(pid: 257, streamID: 0xbd, pts: Int64(start) * 1800, payload: units, hasLength: hasLength))
        }
        for pieces in [[], [1], [500]] {
            let trace = DemuxerTrace(TransportStreamDemuxer(), writer.bytes, pieces: pieces)
            #expect(trace.samples.map(\.data.count) == counts)
            #expect(trace.samples.map(\.pts) == (0..<6).map { $0 * 1800 })
            #expect(trace.samples.map(\.duration) == Array(repeating: 1800, count: 6))
            #expect(trace.samples.compactMap(\.bytes.first) == Array(repeating: 0xfc, count: 6))
            #expect(trace.tracks.first?.configuration.starts(with: Array("OpusHead".utf8) + [1, 2]) == true)
            #expect(trace.notes == [])
        }
    }

    @Test("truncated Opus packets give whole units only, with a note")
    func cutOpus() {
        let stream = TransportStreamWriter.Stream(pid: 257, type: 0x06, descriptors: [0x05, 4] + Array("Opus".utf8))
        let units = Self.opus(count: 30, fill: 1) + Self.opus(count: 300, fill: 2)
        for count in 1..<units.count {
            var writer = TransportStreamWriter(streams: [stream])
            writer.add(.init(pid: 257, streamID: 0xbd, pts: 0, payload: Array(units.prefix(count)), hasLength: true))
            let trace = DemuxerTrace(TransportStreamDemuxer(), writer.bytes)
            #expect(trace.samples.map(\.data.count) == (count < 33 ? [] : [30]))
            #expect(trace.notes.count == (count == 33 ? 0 : 1))
        }
    }
}
