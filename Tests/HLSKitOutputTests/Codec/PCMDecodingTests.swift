import HLSKitCodec
import HLSKitMedia
import Testing

@Suite("PCM decoding")
struct PCMDecodingTests {
    /// 0.5 and -0.25 of full scale in each format. G.711 has the nearest values.
    private static let values: [(codec: MediaCodec, bytes: [UInt8])] = [
        (.pcmU8, [0xC0, 0x60]), (.pcmS8, [0x40, 0xE0]),
        (.pcmS16LE, [0, 0x40, 0, 0xE0]), (.pcmS16BE, [0x40, 0, 0xE0, 0]),
        (.pcmS24LE, [0, 0, 0x40, 0, 0, 0xE0]), (.pcmS24BE, [0x40, 0, 0, 0xE0, 0, 0]),
        (.pcmS32LE, [0, 0, 0, 0x40, 0, 0, 0, 0xE0]), (.pcmS32BE, [0x40, 0, 0, 0, 0xE0, 0, 0, 0]),
        (.pcmF32LE, [0, 0, 0, 0x3F, 0, 0, 0x80, 0xBE]), (.pcmF32BE, [0x3F, 0, 0, 0, 0xBE, 0x80, 0, 0]),
        (.pcmF64LE, [0, 0, 0, 0, 0, 0, 0xE0, 0x3F, 0, 0, 0, 0, 0, 0, 0xD0, 0xBF]),
        (.pcmF64BE, [0x3F, 0xE0, 0, 0, 0, 0, 0, 0, 0xBF, 0xD0, 0, 0, 0, 0, 0, 0]),
        (.pcmALaw, [0xA5, 0x35]), (.pcmMuLaw, [0x90, 0x20]),
    ]

    @Test("each PCM format gives its values, one buffer per sample", arguments: values.indices)
    func form(index: Int) throws {
        let (codec, bytes) = Self.values[index]
        let track = MediaTrack(
            id: 1, mediaType: .audio, codec: codec, timescale: 48_000, sampleRate: 48_000, channelCount: 2)
        let decoder = try AudioDecoder(track: track)
        var buffers: [AudioBuffer] = []
        for number in 0..<3 {
            let sample = MediaSample(
                trackID: 1, pts: Int64(number * 100), dts: Int64(number * 100), duration: 100, isSync: true,
                data: SampleData(Array(repeating: bytes, count: 100).flatMap { $0 }))
            try decoder.decode(sample, to: &buffers)
        }
        #expect(buffers.map(\.pts) == [0, 100, 200])
        #expect(buffers.map(\.frameCount) == [100, 100, 100])
        #expect(buffers.allSatisfy { $0.channelCount == 2 && $0.sampleRate == 48_000 })
        let audio = try buffers[2].interleavedSamples(as: .float32)
            .withUnsafeBytes { Array($0.bindMemory(to: Float.self)) }
        let slack: Float = codec == .pcmALaw || codec == .pcmMuLaw ? 0.02 : 0
        #expect(audio.count == 200)
        #expect(abs(audio[198] - 0.5) <= slack && abs(audio[199] + 0.25) <= slack)
    }

    @Test(
        "playlists can declare PCM",
        arguments: ["ipcm", "fpcm", "lpcm", "twos", "sowt", "in24", "in32", "fl32", "fl64", "ulaw", "alaw"])
    func codecs(text: String) {
        #expect(CodecRegistry.canDecode(entry: text))
        #expect(CodecString(rawValue: text).mediaType == .audio)
    }
}
