import HLSKitCodec
import HLSKitMedia
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(10)))
struct AudioDecoderTests {
    static let streams = [
        "aac", "aac-mono-44100", "aac-latm", "he-aac", "mp2", "mp3", "ac3", "eac3", "opus", "flac", "alac",
    ]

    @Test("J02: samples equal ffmpeg's, except for the last bit", arguments: streams)
    func samples(name: String) throws {
        let fixture = try PacketFixture(name)
        let bytes = try fixture.audio().flatMap { try $0.interleavedSamples(as: .int16) }
        let samples = bytes.withUnsafeBytes { Array($0.bindMemory(to: Int16.self)) }
        let found = stride(from: 0, to: samples.count, by: 97).map { Int(samples[$0]) }
        #expect(found.count == fixture.expectedSamples.count)
        #expect(zip(found, fixture.expectedSamples).allSatisfy { abs($0 - $1) <= 1 })
        #expect(found.contains { abs($0) > 1000 })
    }

    @Test("lossy formats decode to floats, lossless ones and layer 2 to integers, as in ffmpeg")
    func sampleFormats() throws {
        for name in Self.streams {
            let buffer = try #require(try PacketFixture(name).audio().first)
            let expected = ["flac": "s32", "alac": "s32p", "mp2": "s16p"][name] ?? "fltp"
            #expect(buffer.sampleFormatName == expected, "\(name)")
        }
    }

    @Test("J02: AAC with declared SBR has twice its core's rate, and the same duration")
    func doubledRate() throws {
        let fixture = try PacketFixture("he-aac")
        let buffers = try fixture.audio()
        #expect(fixture.track.timescale == 24_000)
        #expect(buffers.allSatisfy { $0.sampleRate == 48_000 && $0.frameCount == 2048 })
        #expect(buffers.map(\.duration) == fixture.samples.map { _ in 1024 })
    }

    @Test("a buffer has rate, channels and length and exposes its planes")
    func bufferFields() throws {
        let buffer = try #require(try PacketFixture("ac3").audio().first)
        #expect(buffer.sampleRate == 48_000)
        #expect(buffer.channelCount == 6)
        #expect(buffer.channelLayoutName == "5.1(side)")
        #expect(buffer.frameCount == 1536)
        #expect(buffer.duration == 2880)
        #expect(buffer.isPlanar)
        buffer.withPlanes { planes in
            #expect(planes.count == 6)
            #expect(planes.allSatisfy { $0.count == 1536 * 4 })
        }
    }

    @Test("interleaved floats contain the planes' samples in turn")
    func interleavedFloats() throws {
        let buffer = try #require(try PacketFixture("aac").audio().dropFirst(3).first)
        let bytes = try buffer.interleavedSamples(as: .float32)
        #expect(bytes.count == buffer.frameCount * 2 * 4)
        let interleaved = bytes.withUnsafeBytes { Array($0.bindMemory(to: Float.self)) }
        buffer.withPlanes { planes in
            for (channel, plane) in planes.enumerated() {
                let samples = Array(plane.bindMemory(to: Float.self))
                #expect(samples == stride(from: channel, to: interleaved.count, by: 2).map { interleaved[$0] })
                #expect(samples.contains { abs($0) > 0.1 })
            }
        }
        #expect(try buffer.interleavedSamples(as: .int16).count == buffer.frameCount * 2 * 2)
    }

    @Test("a damaged sample is an error, and the audio continues")
    func damagedSample() throws {
        let fixture = try PacketFixture("aac")
        let decoder = try AudioDecoder(track: fixture.track)
        var buffers: [AudioBuffer] = []
        var errors = 0
        for (index, var sample) in fixture.samples.enumerated() {
            if index == 5 { sample.data = sample.data.withUnsafeBytes { SampleData($0.prefix($0.count / 3)) } }
            do { try decoder.decode(sample, to: &buffers) } catch { errors += 1 }
        }
        try decoder.drain(to: &buffers)
        #expect(errors == 1)
        #expect(buffers.count == fixture.samples.count - 1)
        #expect(buffers.map(\.pts).contains(fixture.samples[6].pts))
    }

    @Test("arbitrary sample bytes do not trap the decoder", arguments: streams)
    func anyBytes(name: String) throws {
        let fixture = try PacketFixture(name)
        for seed in 0..<30 {
            let decoder = try AudioDecoder(track: fixture.track)
            var buffers: [AudioBuffer] = []
            for (index, var sample) in fixture.samples.enumerated() {
                var bytes = sample.data.withUnsafeBytes { Array($0) }
                let place = (seed * 31 + index * 17) % max(bytes.count, 1)
                if !bytes.isEmpty { bytes[place] ^= UInt8(truncatingIfNeeded: 1 + seed * 7) }
                if seed % 3 == 0 { bytes.removeLast(bytes.count * (seed % 10) / 10) }
                sample.data = SampleData(bytes)
                try? decoder.decode(sample, to: &buffers)
            }
            try? decoder.drain(to: &buffers)
            #expect(buffers.count <= 8 * fixture.samples.count)
        }
    }
}
