import HLSKitMedia
import HLSKitTime
import TestSupport
import Testing

@testable import HLSKitCodec

@Suite(.timeLimit(.minutes(10)))
struct VideoDecoderTests {
    static let streams = [
        "h264-annexb", "h264-avcc", "h264-422-10", "h264-two-sizes", "h264-undeclared-reordering", "hevc", "av1", "vp9",
    ]

    @Test("J02: frames equal ffmpeg's bit by bit and in order", arguments: streams, [1, 4])
    func frames(name: String, threadCount: Int) throws {
        let fixture = try PacketFixture(name)
        let frames = try fixture.frames(threadCount: threadCount)
        #expect(try hashes(of: frames, track: fixture.track) == fixture.expectedHashes)
        #expect(frames.map(\.pts) == fixture.samples.map(\.pts).sorted())
        #expect(frames.allSatisfy { $0.timescale == fixture.track.timescale })
        #expect(frames.first?.isKey == true)
    }

    @Test("a drain in the middle returns every frame, and decoding continues at the next sync sample")
    func drainInTheMiddle() throws {
        let fixture = try PacketFixture("h264-annexb")
        let middle = try #require(fixture.samples.indices.dropFirst().first { fixture.samples[$0].isSync })
        let decoder = try VideoDecoder(track: fixture.track, threadCount: 4)
        var frames: [VideoFrame] = []
        for sample in fixture.samples[..<middle] { try decoder.decode(sample, to: &frames) }
        #expect(frames.count < middle)
        try decoder.drain(to: &frames)
        #expect(frames.count == middle)
        try decoder.drain(to: &frames)
        #expect(frames.count == middle)
        for sample in fixture.samples[middle...] { try decoder.decode(sample, to: &frames) }
        try decoder.drain(to: &frames)
        #expect(try hashes(of: frames, track: fixture.track) == fixture.expectedHashes)
    }

    @Test("a single sample's frame is returned by the drain")
    func singleSample() throws {
        let fixture = try PacketFixture("h264-annexb")
        let decoder = try VideoDecoder(track: fixture.track, threadCount: 1)
        var frames: [VideoFrame] = []
        try decoder.decode(fixture.samples[0], to: &frames)
        #expect(frames.isEmpty)
        try decoder.drain(to: &frames)
        #expect(try hashes(of: frames, track: fixture.track) == [fixture.expectedHashes[0]])
    }

    @Test("J02: the first frame can be output before a second sample arrives, once", arguments: streams, [1, 4])
    func firstFrame(name: String, threadCount: Int) throws {
        let fixture = try PacketFixture(name)
        let decoder = try VideoDecoder(track: fixture.track, threadCount: threadCount)
        var frames: [VideoFrame] = []
        decoder.decodeFirstFrame(to: &frames)
        try decoder.decode(fixture.samples[0], to: &frames)
        decoder.decodeFirstFrame(to: &frames)
        // AV1 and VP9 without reordering output frames at once. HEVC may have frames that are shown before its first.
        if fixture.track.codec == .h264 { #expect(frames.count == 1) }
        decoder.decodeFirstFrame(to: &frames)
        for sample in fixture.samples.dropFirst() { try decoder.decode(sample, to: &frames) }
        decoder.decodeFirstFrame(to: &frames)
        try decoder.drain(to: &frames)
        #expect(try hashes(of: frames, track: fixture.track) == fixture.expectedHashes)
        #expect(frames.map(\.pts) == fixture.samples.map(\.pts).sorted())
    }

    @Test("J02: no early frame is output if it may not be the first, is damaged, or precedes a flush")
    func noFirstFrame() throws {
        let fixture = try PacketFixture("h264-annexb")
        let decoder = try VideoDecoder(track: fixture.track, threadCount: 1)
        var frames: [VideoFrame] = []
        let dependent = try #require(fixture.samples.first { !$0.isSync })
        try? decoder.decode(dependent, to: &frames)
        #expect(!decoder.hasFirstFrame)
        decoder.flush()
        try decoder.decode(fixture.samples[0], to: &frames)
        #expect(decoder.hasFirstFrame)
        decoder.flush()
        #expect(!decoder.hasFirstFrame)
        var damaged = fixture.samples[0]
        damaged.data = SampleData(damaged.data.withUnsafeBytes { Array($0.prefix($0.count / 2)) })
        try? decoder.decode(damaged, to: &frames)
        decoder.decodeFirstFrame(to: &frames)
        #expect(frames.isEmpty)
        #expect(!decoder.hasFirstFrame)
    }

    @Test("after a flush no earlier sample's frame is output", arguments: [1, 3], [1, 4])
    func flush(sampleCount: Int, threadCount: Int) throws {
        let fixture = try PacketFixture("h264-annexb")
        let middle = try #require(fixture.samples.indices.dropFirst().first { fixture.samples[$0].isSync })
        let decoder = try VideoDecoder(track: fixture.track, threadCount: threadCount)
        var frames: [VideoFrame] = []
        for sample in fixture.samples[..<sampleCount] { try decoder.decode(sample, to: &frames) }
        decoder.flush()
        frames = []
        for sample in fixture.samples[middle...] { try decoder.decode(sample, to: &frames) }
        try decoder.drain(to: &frames)
        #expect(try hashes(of: frames, track: fixture.track) == Array(fixture.expectedHashes[middle...]))
    }

    @Test("a damaged sample is an error, and frames are complete from the next sync sample on", arguments: [1, 4])
    func damagedSample(threadCount: Int) throws {
        let fixture = try PacketFixture("h264-avcc")
        let decoder = try VideoDecoder(track: fixture.track, threadCount: threadCount)
        var samples = fixture.samples
        samples[1].data = SampleData([0x7F, 0xFF, 0xFF, 0xFF] + Array(repeating: 0x55, count: 40))
        var frames: [VideoFrame] = []
        var errors: [CodecError] = []
        for sample in samples + fixture.samples {
            do { try decoder.decode(sample, to: &frames) } catch { errors.append(error) }
        }
        do { try decoder.drain(to: &frames) } catch { errors.append(error) }
        #expect(errors.count == 1)
        #expect(errors.first?.description.contains("Invalid data found when processing input") == true)
        let found = try hashes(of: Array(frames.suffix(fixture.samples.count)), track: fixture.track)
        #expect(found == fixture.expectedHashes)
    }

    @Test("arbitrary sample bytes do not trap the decoder", arguments: streams)
    func anyBytes(name: String) throws {
        let fixture = try PacketFixture(name)
        var random = SplitMix64(seed: 7)
        for round in 0..<20 {
            let decoder = try VideoDecoder(track: fixture.track, threadCount: 1 + round % 2)
            var frames: [VideoFrame] = []
            for var sample in fixture.samples {
                var bytes = sample.data.withUnsafeBytes { Array($0) }
                for _ in 0..<Int.random(in: 0...3, using: &random) where !bytes.isEmpty {
                    let place = Int.random(in: bytes.indices, using: &random)
                    bytes[place] = UInt8.random(in: 0...255, using: &random)
                }
                if round % 5 == 0 { bytes.removeLast(min(bytes.count, Int.random(in: 0...20, using: &random))) }
                sample.data = SampleData(bytes)
                try? decoder.decode(sample, to: &frames)
            }
            try? decoder.drain(to: &frames)
            #expect(frames.count <= 2 * fixture.samples.count)
        }
    }

    @Test("times at the limits of the range do not trap")
    func extremeTimes() throws {
        let fixture = try PacketFixture("h264-annexb")
        let decoder = try VideoDecoder(track: fixture.track, threadCount: 1)
        var frames: [VideoFrame] = []
        for (index, var sample) in fixture.samples.enumerated() {
            sample.pts = index % 2 == 0 ? .max : .min + 1
            sample.dts = index % 2 == 0 ? .min : .max
            sample.duration = index % 3 == 0 ? .max : .min
            try? decoder.decode(sample, to: &frames)
        }
        try? decoder.drain(to: &frames)
        #expect(frames.count == fixture.samples.count)
    }

    @Test("an unusable track is an error with the library's message")
    func unusableTracks() throws {
        let webVTT = MediaTrack(id: 0, mediaType: .text, codec: .webVTT, timescale: 90_000)
        let noTimescale = MediaTrack(id: 0, mediaType: .video, codec: .h264, timescale: 0)
        let unknown = MediaTrack(id: 0, mediaType: .video, codec: MediaCodec(rawValue: "dvh9"), timescale: 1)
        for track in [webVTT, noTimescale, unknown] {
            #expect(throws: CodecError.self) { _ = try VideoDecoder(track: track) }
        }
        let error = #expect(throws: CodecError.self) { _ = try VideoDecoder(track: unknown) }
        #expect(error?.text == "no decoder for dvh9")
    }

    @Test("a frame has format, shape and colours and exposes its planes")
    func frameFields() throws {
        let plain = try #require(try PacketFixture("h264-avcc").frames().first)
        #expect(plain.pixelFormatName == "yuv420p")
        #expect((plain.width, plain.height) == (64, 48))
        #expect(plain.sampleAspectRatio == VideoFrame.Ratio(numerator: 4, denominator: 3))
        #expect(plain.duration == Int64(plain.timescale) / 30)
        #expect(plain.colorTags.matrix == 2)
        #expect(plain.colorTags.chromaLocation == 0)
        plain.withPlanes { planes in
            #expect(planes.map(\.rowCount) == [48, 24, 24])
            #expect(planes.map(\.pictureBytesPerRow) == [64, 32, 32])
            #expect(planes.allSatisfy { $0.bytes.count == $0.bytesPerRow * ($0.rowCount - 1) + $0.pictureBytesPerRow })
        }
        let deep = try #require(try PacketFixture("h264-422-10").frames().first)
        #expect(deep.pixelFormatName == "yuv422p10le")
        deep.withPlanes { planes in
            #expect(planes.map(\.rowCount) == [48, 48, 48])
            #expect(planes.map(\.pictureBytesPerRow) == [128, 64, 64])
        }
    }

    @Test("the container's pixel aspect ratio overrides the stream's; its colours fill the stream's gaps")
    func containerFields() throws {
        var fixture = try PacketFixture("h264-avcc")
        fixture.track.pixelAspectRatio = PixelAspectRatio(horizontalSpacing: 8, verticalSpacing: 9)
        fixture.track.colorInformation = ColorInformation(
            colorPrimaries: 9, transferCharacteristics: 16, matrixCoefficients: 9, isFullRange: false)
        let frame = try #require(try fixture.frames().first)
        #expect(frame.sampleAspectRatio == VideoFrame.Ratio(numerator: 8, denominator: 9))
        #expect(frame.colorTags.primaries == 9)
        #expect(frame.colorTags.transfer == 16)
        #expect(frame.colorTags.matrix == 9)
        #expect(frame.colorTags.isFullRange == false)
        fixture.track.pixelAspectRatio = PixelAspectRatio(horizontalSpacing: -1, verticalSpacing: 1 << 40)
        fixture.track.colorInformation?.colorPrimaries = -7
        fixture.track.colorInformation?.matrixCoefficients = 1 << 40
        let odd = try #require(try fixture.frames().first)
        #expect(odd.sampleAspectRatio == VideoFrame.Ratio(numerator: 4, denominator: 3))
        #expect(odd.colorTags.primaries == 2)
        #expect(odd.colorTags.matrix == 2)
    }

    @Test("each frame has its own size if the stream changes it")
    func sizeChange() throws {
        let frames = try PacketFixture("h264-two-sizes").frames(threadCount: 4)
        #expect(frames.map(\.width) == Array(repeating: 64, count: 8) + Array(repeating: 96, count: 8))
    }

    @Test("without a container's duration the stream's frame rate determines it")
    func declaredDuration() throws {
        let fixture = try PacketFixture("h264-annexb")
        let decoder = try VideoDecoder(track: fixture.track, threadCount: 1)
        var frames: [VideoFrame] = []
        for var sample in fixture.samples {
            sample.duration = 0
            try decoder.decode(sample, to: &frames)
        }
        try decoder.drain(to: &frames)
        #expect(frames.count == fixture.samples.count)
        #expect(frames.allSatisfy { $0.duration == 3000 })
    }

    @Test("J02: HLS formats are decodable, captions are not")
    func registry() {
        let expected: Set<MediaCodec> = [
            .h264, .hevc, .av1, .vp9, .aac, .aacLATM, .mp2, .mp3, .ac3, .eac3, .opus, .flac, .alac, .dts, .mpeg1Video,
            .mpeg2Video, .mpeg4Video, .jpeg, .pcmU8, .pcmS8, .pcmS16LE, .pcmS16BE, .pcmS24LE, .pcmS24BE, .pcmS32LE,
            .pcmS32BE, .pcmF32LE, .pcmF32BE, .pcmF64LE, .pcmF64BE, .pcmALaw, .pcmMuLaw,
        ]
        #expect(expected.filter { !CodecRegistry.canDecode($0) } == [])
        #expect(!CodecRegistry.canDecode(.webVTT))
    }

    @Test("decoders share the machine's cores, with at least one thread each")
    func sharing() {
        #expect([1, 2, 3, 8, 9, 200].map { VideoDecoder.share(of: $0, cores: 8) } == [0, 4, 2, 1, 1, 1])
        #expect([1, 2, 3].map { VideoDecoder.share(of: $0, cores: 2) } == [0, 1, 1])
    }
}
