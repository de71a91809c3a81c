import Foundation
import HLSKitCodec
import TestSupport
import Testing

@testable import HLSKitOutput

@Suite(.timeLimit(.minutes(10)))
struct PCMWriterTests {
    private func write(
        _ buffers: [AudioBuffer], _ format: OutputFormat, notes: Notes = Notes()
    ) throws -> [UInt8] {
        let folder = try TemporaryFolder()
        let writer = try format.makeWriter(path: folder.path("a"), note: notes.collect)
        for buffer in buffers { try writer.write(buffer, ofTrackAt: 0) }
        try writer.finish()
        return try folder.bytes("a")
    }

    private func number(_ bytes: [UInt8], at place: Int, count: Int = 4) -> Int {
        bytes[place..<place + count].reversed().reduce(0) { $0 << 8 | Int($1) }
    }

    @Test("s16le and f32le files contain only the samples", arguments: AudioDecoderTests.streams)
    func rawSamples(name: String) throws {
        let buffers = try PacketFixture(name).audio()
        #expect(try write(buffers, .s16le) == buffers.flatMap { try $0.interleavedSamples(as: .int16) })
        #expect(try write(buffers, .f32le) == buffers.flatMap { try $0.interleavedSamples(as: .float32) })
    }

    @Test("a WAV file declares its format and lengths")
    func wav() throws {
        let buffers = try PacketFixture("aac").audio()
        let bytes = try write(buffers, .wav)
        let samples = try write(buffers, .s16le)
        #expect(String(decoding: bytes[0..<4], as: UTF8.self) == "RIFF")
        #expect(number(bytes, at: 4) == bytes.count - 8)
        #expect(String(decoding: bytes[8..<16], as: UTF8.self) == "WAVEJUNK")
        let format = 12 + 8 + 28
        #expect(String(decoding: bytes[format..<format + 4], as: UTF8.self) == "fmt ")
        #expect(number(bytes, at: format + 4) == 16)
        #expect(number(bytes, at: format + 8, count: 2) == 1)
        #expect(number(bytes, at: format + 10, count: 2) == 2)
        #expect(number(bytes, at: format + 12) == 48_000)
        #expect(number(bytes, at: format + 16) == 192_000)
        #expect(number(bytes, at: format + 20, count: 2) == 4)
        #expect(number(bytes, at: format + 22, count: 2) == 16)
        #expect(String(decoding: bytes[format + 24..<format + 28], as: UTF8.self) == "data")
        #expect(number(bytes, at: format + 28) == samples.count)
        #expect(Array(bytes[(format + 32)...]) == samples)
    }

    @Test("more than two channels use the extensible WAV format with their positions")
    func wavSurround() throws {
        let bytes = try write(try PacketFixture("ac3").audio(), .wav)
        let format = 12 + 8 + 28
        #expect(number(bytes, at: format + 4) == 40)
        #expect(number(bytes, at: format + 8, count: 2) == 0xFFFE)
        #expect(number(bytes, at: format + 10, count: 2) == 6)
        #expect(number(bytes, at: format + 28) == 0x60F)
        #expect(number(bytes, at: format + 32, count: 2) == 1)
    }

    @Test("a WAV file in a pipe leaves its lengths open")
    func wavPipe() throws {
        let folder = try TemporaryFolder()
        #expect(mkfifo(folder.path("pipe"), 0o600) == 0)
        let reader = open(folder.path("pipe"), O_RDONLY | O_NONBLOCK)
        defer { close(reader) }
        let buffers = try PacketFixture("alac").audio()
        let writer = try OutputFormat.wav.makeWriter(path: folder.path("pipe"))
        for buffer in buffers { try writer.write(buffer, ofTrackAt: 0) }
        try writer.finish()
        var bytes = [UInt8](repeating: 0, count: 10_000)
        bytes.removeLast(bytes.count - max(0, read(reader, &bytes, bytes.count)))
        #expect(bytes.count == 44 + 4800)
        #expect(number(bytes, at: 4) == 0xFFFF_FFFF)
        #expect(String(decoding: bytes[8..<16], as: UTF8.self) == "WAVEfmt ")
        #expect(number(bytes, at: 40) == 0xFFFF_FFFF)
    }

    @Test(
        "a length of 4 GiB or more makes the file RF64",
        arguments: [
            (Int64(4_294_967_220), "RIFF"), (4_294_967_224, "RF64"), (20_000_000_000, "RF64"),
        ])
    func longFile(dataByteCount: Int64, name: String) throws {
        let header = try #require(WAVHeader(sampleRate: 48_000, channelCount: 2, channelMask: 3, canGrow: true))
        let bytes = header.bytes(dataByteCount: dataByteCount)
        #expect(Int64(bytes.count) == header.byteCount)
        #expect(String(decoding: bytes[0..<4], as: UTF8.self) == name)
        guard name == "RF64" else { return }
        #expect(number(bytes, at: 4) == 0xFFFF_FFFF)
        #expect(String(decoding: bytes[12..<16], as: UTF8.self) == "ds64")
        #expect(number(bytes, at: 20, count: 8) == Int(dataByteCount) + bytes.count - 8)
        #expect(number(bytes, at: 28, count: 8) == Int(dataByteCount))
        #expect(number(bytes, at: 36, count: 8) == Int(dataByteCount) / 4)
        #expect(number(bytes, at: bytes.count - 4) == 0xFFFF_FFFF)
    }

    @Test("values that do not fit into a header are refused")
    func impossibleHeaders() {
        for (rate, channels) in [(-1, 2), (48_000, 0), (48_000, 40_000), (4_000_000_000, 2), (1 << 40, 1)] {
            #expect(WAVHeader(sampleRate: rate, channelCount: channels, channelMask: 0, canGrow: true) == nil)
        }
    }

    @Test("after a change of rate and channels the first format is kept, and no time is lost")
    func formatChange() throws {
        let stereo = try PacketFixture("aac").audio()
        let mono = try PacketFixture("aac-mono-44100").audio()
        let notes = Notes()
        let bytes = try write(stereo + mono + stereo, .f32le, notes: notes)
        #expect(
            notes.all == [
                "audio 44100 Hz mono after 48000 Hz stereo: written as 48000 Hz stereo",
                "audio 48000 Hz stereo after 44100 Hz mono: written as 48000 Hz stereo",
            ])
        let stereoCount = stereo.reduce(0) { $0 + $1.frameCount }
        let monoCount = mono.reduce(0) { $0 + $1.frameCount } * 48_000 / 44_100
        #expect(abs(bytes.count / 8 - (2 * stereoCount + monoCount)) <= 2)
        let plain = try stereo.flatMap { try $0.interleavedSamples(as: .float32) }
        #expect(Array(bytes.prefix(plain.count)) == plain)
        #expect(Array(bytes.suffix(plain.count)) == plain)
    }

    @Test("the resampler's remaining samples are written at the end")
    func resamplerTail() throws {
        let stereo = try PacketFixture("aac").audio()
        let mono = try PacketFixture("aac-mono-44100").audio()
        let bytes = try write([stereo[0]] + mono, .s16le)
        let monoCount = mono.reduce(0) { $0 + $1.frameCount } * 48_000 / 44_100
        #expect(abs(bytes.count / 4 - (1024 + monoCount)) <= 2)
    }
}
