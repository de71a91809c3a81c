import Testing

@testable import HLSKitMedia

/// Audio that begins in one segment and ends in the next.
@Suite struct TransportStreamRestTests {
    private static let streams = [
        TransportStreamWriter.Stream(pid: 256, type: 0x1b), TransportStreamWriter.Stream(pid: 257, type: 0x0f),
    ]

    /// Where packets of audio begin, in frames of 37 bytes.
    struct Layout: Sendable, CustomTestStringConvertible {
        var testDescription: String
        /// Bytes of each packet, in turn.
        var packetSizes: [Int]
        var hasLength = true
        var start: Int64 = 90_000
    }

    private static let layouts = [
        Layout(testDescription: "packets of whole frames", packetSizes: [37 * 12]),
        Layout(testDescription: "packets without a length", packetSizes: [37 * 12], hasLength: false),
        Layout(testDescription: "frames across packets", packetSizes: [400, 301]),
        Layout(testDescription: "the times wrap", packetSizes: [37 * 12], start: (1 << 33) - 20_000),
    ]

    private static let frameCount = 96

    private static func stream(_ layout: Layout) -> TransportStreamWriter {
        var writer = TransportStreamWriter(streams: streams)
        var bytes = (0..<frameCount).flatMap { TinyAudio.frame(fill: UInt8($0)) }
        var (number, position) = (0, 0)
        while !bytes.isEmpty {
            let part = Array(bytes.prefix(layout.packetSizes[number % layout.packetSizes.count]))
            bytes.removeFirst(part.count)
            // The time is that of the first frame that begins in the packet.
            let pts = layout.start + Int64((position + 36) / 37) * 1920
            let video = TinyVideo.unit(isIDR: number.isMultiple(of: 4))
            writer.add(.init(pid: 256, pts: pts & 0x1_ffff_ffff, payload: video, hasLength: true))
            let wrapped = pts & 0x1_ffff_ffff
            writer.add(.init(pid: 257, pts: wrapped, payload: part, hasLength: layout.hasLength))
            (number, position) = (number + 1, position + part.count)
        }
        return writer
    }

    /// Two segments; the second begins with the tables of the first.
    private static func samples(
        _ bytes: [UInt8], cutAt cut: Int, handsOn: Bool = true
    ) throws -> (first: [MediaSample], second: [MediaSample], notes: [String]) {
        var (first, second): ([DemuxerEvent], [DemuxerEvent]) = ([], [])
        var demuxer = TransportStreamDemuxer(continuing: nil)
        try demuxer.append(bytes[..<(cut * 188)], to: &first)
        try demuxer.finish(to: &first)
        var next = TransportStreamDemuxer(continuing: handsOn ? demuxer.rest : nil)
        try next.append(bytes[..<376] + bytes[(cut * 188)...], to: &second)
        try next.finish(to: &second)
        func sound(_ events: [DemuxerEvent]) -> [MediaSample] {
            events.compactMap { event in
                if case .sample(let sample) = event, sample.trackID == 257 { sample } else { nil }
            }
        }
        let notes = (first + second).compactMap { event in
            if case .note(let text) = event { text } else { nil }
        }
        return (sound(first), sound(second), notes)
    }

    @Test("wherever between two packets a stream is cut, no frame is lost, none comes twice", arguments: layouts)
    func everyCut(_ layout: Layout) throws {
        let writer = Self.stream(layout)
        for cut in 3..<writer.packetCount {
            let (first, second, notes) = try Self.samples(writer.bytes, cutAt: cut)
            let samples = first + second
            #expect(samples.map { $0.bytes.first } == (0..<Self.frameCount).map { UInt8($0) }, "cut at packet \(cut)")
            #expect(samples.allSatisfy { $0.bytes.count == 30 && !$0.isDamaged }, "cut at packet \(cut)")
            let times = samples.indices.map { (layout.start + Int64($0) * 1920) & 0x1_ffff_ffff }
            #expect(samples.map { $0.pts & 0x1_ffff_ffff } == times, "cut at packet \(cut)")
            // Within a segment times rise, wrapped or not.
            #expect(zip(second, second.dropFirst()).allSatisfy { $1.pts - $0.pts == 1920 }, "cut at packet \(cut)")
            #expect(notes == [], "cut at packet \(cut)")
        }
    }

    @Test("without what is left over, the same cuts lose frames")
    func withoutRest() throws {
        let writer = Self.stream(Self.layouts[0])
        let counts = try (3..<writer.packetCount).map { cut in
            let (first, second, _) = try Self.samples(writer.bytes, cutAt: cut, handsOn: false)
            return (first + second).count
        }
        #expect(try #require(counts.min()) < Self.frameCount)
    }

    @Test("a segment whose packets are counted again, and that begins with a frame, loses nothing of its own")
    func countedAnew() throws {
        let whole = Self.stream(Self.layouts[0])
        // Ends within a frame that no one continues with.
        let cut = whole.packetCount - 1
        var first: [DemuxerEvent] = []
        var demuxer = TransportStreamDemuxer(continuing: nil)
        try demuxer.append(whole.bytes[..<(cut * 188)], to: &first)
        try demuxer.finish(to: &first)
        let rest = try #require(demuxer.rest)
        let next = DemuxerTrace(TransportStreamDemuxer(continuing: rest), whole.bytes)
        let intact = next.samples(of: 257).filter { !$0.isDamaged }
        #expect(intact.map { $0.bytes.first } == (0..<Self.frameCount).map { UInt8($0) })
    }

    @Test("packets that are missing at the joint end the frame that was begun")
    func missing() throws {
        var writer = Self.stream(Self.layouts[0])
        let whole = writer.bytes
        // A cut within a packet of audio, and the next transport packet of it is lost.
        let cut = try #require(
            (10..<writer.packetCount - 2).first { index in
                let packets = (0...1).map { whole[((index + $0) * 188)...].prefix(4) }
                return packets.allSatisfy { $0[$0.startIndex + 2] == 1 && $0[$0.startIndex + 1] & 0x40 == 0 }
            })
        writer.removePacket(at: cut)
        let (first, second, notes) = try Self.samples(writer.bytes, cutAt: cut)
        let intact = (first + second).filter { !$0.isDamaged }
        #expect(intact.count < Self.frameCount && intact.count > Self.frameCount - 13)
        #expect(intact.allSatisfy { sample in sample.bytes.allSatisfy { $0 == sample.bytes.first } })
        #expect(notes.contains { $0.contains("missing") })
    }

    @Test("another programme takes nothing over")
    func otherStreams() throws {
        let whole = Self.stream(Self.layouts[0])
        var events: [DemuxerEvent] = []
        var demuxer = TransportStreamDemuxer(continuing: nil)
        try demuxer.append(whole.bytes[..<((whole.packetCount - 1) * 188)], to: &events)
        try demuxer.finish(to: &events)
        var other = TransportStreamWriter(streams: [.init(pid: 257, type: 0x81)])
        other.add(.init(pid: 257, pts: 5, payload: [1, 2, 3]))
        let trace = DemuxerTrace(TransportStreamDemuxer(continuing: demuxer.rest), other.bytes)
        #expect(trace.samples.isEmpty)
    }
}
