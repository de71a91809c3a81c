import HLSKitMedia
import Testing

/// Tests small streams that are cut at each byte, or have one byte changed. Nothing may trap, the events may not depend
/// on the pieces, and each error must have a byte offset.
@Suite struct DemuxerDamageTests {
    struct Stream: CustomTestStringConvertible, Sendable {
        var format: DemuxerChecks.Format
        var bytes: [UInt8]
        var testDescription: String { format.rawValue }
    }

    static let streams: [Stream] = {
        var writer = TransportStreamWriter(streams: [.init(pid: 256, type: 0x1b), .init(pid: 257, type: 0x0f)])
        writer.add(.init(pid: 256, pts: 6000, dts: 3000, payload: TinyVideo.unit(isIDR: true), hasLength: true))
        writer.add(.init(pid: 257, streamID: 0xc0, pts: 3000, payload: TinyAudio.frame(fill: 1), hasLength: true))
        let tag = Array("ID3".utf8) + [4, 0, 0, 0, 0, 0, 13] + Array("TIT2".utf8) + [0, 0, 0, 3, 0, 0, 3, 0x41, 0x42]
        let text = "WEBVTT\nX-TIMESTAMP-MAP=LOCAL:00:00:00.000,MPEGTS:9\n\n1\n00:01.000 --> 00:02.000 line:1\n<b>a\n"
        return [
            Stream(format: .transportStream, bytes: writer.bytes),
            Stream(
                format: .fragmentedMP4, bytes: BoxWriter.header() + BoxWriter.fragment(sizes: [5, 9])),
            Stream(
                format: .packedAudio, bytes: tag + TinyAudio.frame(fill: 1) + TinyAudio.frame(fill: 2)),
            Stream(format: .webVTT, bytes: Array(text.utf8)),
            Stream(format: .video, bytes: TinyVideo.unit(isIDR: true)),
        ]
    }()

    @Test("a stream truncated at any byte satisfies the invariants", arguments: streams)
    func truncation(_ stream: Stream) throws {
        for count in 0...stream.bytes.count {
            let cut = Array(stream.bytes.prefix(count))
            try DemuxerChecks.check(cut, as: stream.format)
            if let error = Self.error(of: cut, as: stream.format) {
                #expect(error.byteOffset != nil && error.byteOffset ?? -1 <= count, "cut at \(count): \(error)")
            }
        }
    }

    @Test("a stream with any byte changed satisfies the invariants", arguments: streams, [0x00, 0x7f, 0xff] as [UInt8])
    func corruption(_ stream: Stream, _ value: UInt8) throws {
        for index in stream.bytes.indices {
            var damaged = stream.bytes
            damaged[index] = value == 0x7f ? damaged[index] ^ value : value
            try DemuxerChecks.check(damaged, as: stream.format)
            if let error = Self.error(of: damaged, as: stream.format) {
                #expect(error.byteOffset != nil, "byte \(index): \(error)")
            }
        }
    }

    private static func error(of bytes: [UInt8], as format: DemuxerChecks.Format) -> MediaError? {
        switch format {
        case .transportStream: DemuxerTrace(TransportStreamDemuxer(), bytes).error
        case .fragmentedMP4: DemuxerTrace(FragmentedMP4Demuxer(initialization: nil), bytes).error
        case .packedAudio: DemuxerTrace(PackedAudioDemuxer(), bytes).error
        case .progressiveMP4, .webVTT, .webVTTSample, .video: nil
        }
    }

    @Test("HEVC: a new parameter set announces the new size before its frame")
    func newSizeOfHEVC() {
        func bytes(_ hex: String) -> [UInt8] {
            stride(from: 0, to: hex.count, by: 2).compactMap { at in
                let start = hex.index(hex.startIndex, offsetBy: at)
                return UInt8(hex[start...hex.index(after: start)], radix: 16)
            }
        }
        let sets = [
            bytes("420101022000000300900000030000030078a003c08010e4d96566924caf016a12201208000003000800000300c040"),
            bytes("42010201600000030090000003000003005a0000a005020171f2659598acd249caf0168080000003008000001904"),
        ]
        var writer = TransportStreamWriter(streams: [.init(pid: 256, type: 0x24)])
        for (number, set) in sets.enumerated() {
            var unit: [UInt8] = [0, 0, 0, 1, 0x46, 1, 0x50, 0, 0, 1]
            unit += set
            unit += [0, 0, 1, 0x26, 1, 0x80]
            unit += [UInt8](repeating: 0xaa, count: 30)
            writer.add(.init(pid: 256, pts: Int64(number), payload: unit))
        }
        let trace = DemuxerTrace(TransportStreamDemuxer(), writer.bytes)
        let sizes = sets.compactMap { try? HEVCSPS(parsing: $0) }.map { "\($0.width)x\($0.height)" }
        #expect(Set(sizes).count == 2)
        let lines = trace.lines.map { $0.split(separator: " ").prefix(5).joined(separator: " ") }
        #expect(
            lines == [
                "track 256 video hevc \(sizes[0])", "sample 256 pts 0 dts", "track 256 video hevc \(sizes[1])",
                "sample 256 pts 1 dts",
            ])
        #expect(trace.samples.map(\.isSync) == [true, true])
    }
}
