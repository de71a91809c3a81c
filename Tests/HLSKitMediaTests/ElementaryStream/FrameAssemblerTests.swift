import HLSKitMedia
import Testing

private let audio = TransportStreamWriter.Stream(pid: 257, type: 0x0f)

private func demux(_ writer: TransportStreamWriter) -> DemuxerTrace {
    let trace = DemuxerTrace(TransportStreamDemuxer(), writer.bytes)
    #expect(DemuxerTrace(TransportStreamDemuxer(), writer.bytes, pieces: [1]) == trace)
    return trace
}

@Suite struct FrameAssemblerTests {
    @Test("a frame may span two packets and has the first packet's time", arguments: 1..<37)
    func spanning(cut: Int) {
        let frames = (0..<4).map { TinyAudio.frame(fill: UInt8($0)) }
        let all = frames.flatMap { $0 }
        var writer = TransportStreamWriter(streams: [audio])
        // The first packet has two frames and a part of the third. The second has the rest and the time of the fourth
        // frame.
        let split = 2 * 37 + cut
        writer.add(.init(pid: 257, pts: 0, payload: Array(all.prefix(split)), hasLength: true))
        writer.add(.init(pid: 257, pts: 5760, payload: Array(all.dropFirst(split)), hasLength: true))
        let trace = demux(writer)
        #expect(trace.samples.map(\.bytes) == frames.map { Array($0.dropFirst(7)) })
        #expect(trace.samples.map(\.pts) == [0, 1920, 3840, 5760])
        #expect(trace.notes.isEmpty)
    }

    @Test("times are counted in samples and never drift")
    func noDrift() {
        var writer = TransportStreamWriter(streams: [audio])
        let frames = (0..<441).flatMap { TinyAudio.frame(fill: UInt8($0 & 127), sampleRateIndex: 4) }
        writer.add(.init(pid: 257, pts: 10, payload: frames))
        let samples = demux(writer).samples
        #expect(samples.count == 441)
        for (index, sample) in samples.enumerated() {
            let exact = Double(index) * 1024 * 90_000 / 44_100
            #expect(abs(Double(sample.pts - 10) - exact) <= 0.5)
        }
        // 441 × 1024 samples at 44.1 kHz last exactly 10.24 s.
        #expect(samples.last.map { $0.pts + $0.duration } == Int64(921_610))
        #expect(zip(samples, samples.dropFirst()).allSatisfy { $0.pts + $0.duration == $1.pts })
    }

    @Test("a header change announces a new configuration before its frame")
    func configurationChange() {
        var writer = TransportStreamWriter(streams: [audio])
        writer.add(.init(pid: 257, pts: 0, payload: TinyAudio.frame(fill: 1)))
        writer.add(
            .init(
                pid: 257, pts: 1920,
                payload: TinyAudio.frame(fill: 2) + TinyAudio.frame(fill: 3, sampleRateIndex: 4)
                    + TinyAudio.frame(fill: 4, sampleRateIndex: 4)))
        let trace = demux(writer)
        let lines = trace.lines.filter { $0.hasPrefix("track") }
        #expect(
            lines == ["track 257 audio aac 48000 Hz 2 ch 1190", "track 257 audio aac 44100 Hz 2 ch 1210"])
        #expect(trace.samples.map(\.pts) == [0, 1920, 3840, 5930])
    }

    @Test("a lost packet damages one frame; the stream continues at the next header with a time")
    func lostPacket() {
        var writer = TransportStreamWriter(streams: [audio])
        for index in 0..<3 {
            let frames = (0..<2).flatMap { TinyAudio.frame(count: 200, fill: UInt8(10 * index + $0)) }
            writer.add(.init(pid: 257, pts: Int64(index) * 3840, payload: frames, hasLength: true))
        }
        writer.removePacket(at: 3)
        let trace = demux(writer)
        #expect(trace.samples.map(\.isDamaged) == [true, false, false, false, false])
        #expect(trace.samples.map(\.pts) == [0, 3840, 5760, 7680, 9600])
        #expect(trace.samples.allSatisfy { Set($0.bytes).count == 1 })
    }

    @Test("garbage between frames is skipped with a note, and the next time is right")
    func garbage() {
        var writer = TransportStreamWriter(streams: [audio])
        let junk = [UInt8](repeating: 0xff, count: 50)
        writer.add(.init(pid: 257, pts: 0, payload: TinyAudio.frame(fill: 1) + junk))
        writer.add(.init(pid: 257, pts: 1920, payload: TinyAudio.frame(fill: 2)))
        let trace = demux(writer)
        #expect(trace.samples.map(\.pts) == [0, 1920])
        #expect(trace.notes == ["PID 257: 50 bytes before byte 87 are not aac"])
    }

    @Test("a frame with a wrong length is cut where the next packet begins with a frame")
    func lyingFrameLength() {
        var long = TinyAudio.frame(fill: 1)
        long[4] += 2  // 16 bytes more
        var writer = TransportStreamWriter(streams: [audio])
        writer.add(.init(pid: 257, pts: 0, payload: TinyAudio.frame(fill: 9) + long))
        writer.add(.init(pid: 257, pts: 3840, payload: TinyAudio.frame(fill: 2) + TinyAudio.frame(fill: 3)))
        let trace = demux(writer)
        #expect(trace.samples.map(\.pts) == [0, 1920, 3840, 5760])
        #expect(trace.samples.map(\.isDamaged) == [false, true, false, false])
        #expect(trace.samples.allSatisfy { Set($0.bytes).count == 1 })
    }

    @Test("ID3 tags are whole metadata samples, however many packets they span")
    func metadata() {
        func tag(_ count: Int) -> [UInt8] {
            Array("ID3".utf8) + [4, 0, 0, 0, 0, UInt8(count >> 7), UInt8(count & 127)]
                + [UInt8](repeating: 0x41, count: count)
        }
        var writer = TransportStreamWriter(streams: [audio, .init(pid: 300, type: 0x15)])
        writer.add(.init(pid: 300, streamID: 0xbd, pts: 500, payload: tag(300), hasLength: true))
        let long = tag(1000)
        writer.add(.init(pid: 300, streamID: 0xbd, pts: 900, payload: Array(long.prefix(400)), hasLength: true))
        writer.add(.init(pid: 300, streamID: 0xbd, payload: Array(long.dropFirst(400)), hasLength: true))
        // A tag that declares more bytes than it has must not consume the next tag.
        writer.add(.init(pid: 300, streamID: 0xbd, pts: 1200, payload: Array(long.prefix(100)), hasLength: true))
        writer.add(.init(pid: 300, streamID: 0xbd, pts: 1300, payload: tag(20), hasLength: true))
        let trace = demux(writer)
        #expect(trace.tracks.map(\.mediaType) == [.audio, .metadata])
        #expect(trace.samples.map(\.pts) == [500, 900, 1200, 1300])
        #expect(trace.samples.map(\.data.count) == [310, 1010, 100, 30])
        #expect(trace.samples.map(\.isDamaged) == [false, false, true, false])
    }

    @Test("an access unit of many frames is parsed once, not again with each packet", .timeLimit(.minutes(10)))
    func manySubstreams() {
        func frame(_ type: UInt8) -> [UInt8] { [0x0b, 0x77, type << 6, 4, 0x3f, 0x87, 0xc0, 0, 1, 2] }
        let unit = frame(0) + Array(repeating: frame(1), count: 26_000).flatMap { $0 }
        var writer = TransportStreamWriter(streams: [.init(pid: 257, type: 0x87)])
        for number in 0..<2 { writer.add(.init(pid: 257, pts: Int64(number) * 2880, payload: unit)) }
        let samples = DemuxerTrace(TransportStreamDemuxer(), writer.bytes).samples
        #expect(samples.map(\.data.count) == [unit.count, unit.count])
        #expect(samples.map(\.pts) == [0, 2880])
    }

    /// Returns a LATM frame (48 kHz, two channels) that has the configuration or refers to the previous one.
    private static func loas(_ fill: UInt8, isConfigured: Bool = false) -> [UInt8] {
        let element = (isConfigured ? [0x20, 0, 0x11, 0x90] : [0x80]) + [UInt8](repeating: fill, count: 30)
        return [0x56, 0xe0, UInt8(element.count)] + element
    }

    @Test("LATM: frames before the configuration wait for it and are then given to the decoder")
    func lateConfiguration() {
        let frames = (1...6).map { Self.loas($0, isConfigured: $0 == 4) }
        var writer = TransportStreamWriter(streams: [.init(pid: 257, type: 0x11)])
        writer.add(.init(pid: 257, pts: 900, payload: frames[0] + frames[1]))
        writer.add(.init(pid: 257, pts: 4740, payload: frames[2] + frames[3] + frames[4] + frames[5]))
        let trace = demux(writer)
        #expect(trace.samples.map(\.bytes) == frames)
        #expect(trace.samples.map(\.pts) == [900, 2820, 4740, 6660, 8580, 10_500])
        #expect(trace.tracks.first?.sampleRate == 48_000)
        #expect(trace.notes.isEmpty)
    }

    struct Unconfigured: CustomTestStringConvertible, Sendable {
        var testDescription: String
        var frameCount: Int
        /// The number of frames before a lost packet.
        var lossAfter: Int?
        var hasConfiguration = true
        var sampleCount: Int
        var note: String
    }

    @Test(
        "LATM: frames without a configuration are dropped with a note",
        arguments: [
            Unconfigured(
                testDescription: "none comes", frameCount: 5, hasConfiguration: false, sampleCount: 0,
                note: "PID 257: 5 frames before the first configuration were skipped"),
            Unconfigured(
                testDescription: "it comes behind a gap", frameCount: 5, lossAfter: 3, sampleCount: 3,
                note: "PID 257: 3 frames before the first configuration were skipped"),
            Unconfigured(
                testDescription: "it comes too late", frameCount: 1025, sampleCount: 1025,
                note: "PID 257: a frame before the first configuration was skipped"),
        ])
    func noConfiguration(_ test: Unconfigured) {
        var writer = TransportStreamWriter(streams: [.init(pid: 257, type: 0x11)])
        for number in 0..<test.frameCount {
            if number == test.lossAfter { writer.lose(pid: 257) }
            writer.add(
                .init(pid: 257, pts: Int64(number) * 1920, payload: Self.loas(UInt8(number & 127)), hasLength: true))
        }
        if test.hasConfiguration {
            writer.add(.init(pid: 257, pts: 9_000_000, payload: Self.loas(1, isConfigured: true), hasLength: true))
        }
        let trace = demux(writer)
        #expect(trace.samples.count == test.sampleCount)
        #expect(trace.notes.last == test.note)
    }

    @Test("MPEG audio layers 2 and 3 have different codecs")
    func layers() {
        for (second, codec) in [(0xfd, MediaCodec.mp2), (0xfb, .mp3)] as [(UInt8, MediaCodec)] {
            // 48 kHz, with 192 kbit/s for layer 2 and 160 kbit/s for layer 3.
            let frame = [0xff, second, 0xa4, 0] + [UInt8](repeating: 0, count: (codec == .mp2 ? 576 : 480) - 4)
            var writer = TransportStreamWriter(streams: [.init(pid: 257, type: 0x03)])
            writer.add(.init(pid: 257, pts: 0, payload: frame + frame))
            let trace = demux(writer)
            #expect(trace.tracks.map(\.codec) == [codec])
            #expect(trace.samples.map(\.pts) == [0, 2160])
        }
    }

    @Test("frames before the first timestamp are dropped with a note")
    func untimed() {
        var writer = TransportStreamWriter(streams: [audio])
        writer.add(.init(pid: 257, payload: TinyAudio.frame(fill: 1)))
        writer.add(.init(pid: 257, pts: 1920, payload: TinyAudio.frame(fill: 2)))
        let trace = demux(writer)
        #expect(trace.samples.map(\.pts) == [1920])
        #expect(trace.notes.count == 1)
    }
}
