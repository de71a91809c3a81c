import Testing

@testable import HLSKitMedia

@Suite struct AudioHeaderTests {
    struct Case: CustomStringConvertible, Sendable {
        var description: String
        var framing: AudioFraming
        var bytes: [UInt8]
        var frame: AudioFrameHeader?
    }

    @Test(
        "headers give length, samples, rate and channels",
        arguments: [
            Case(
                description: "ADTS, 48 kHz stereo", framing: .adts, bytes: [0xff, 0xf1, 0x4c, 0x80, 0x04, 0xbf, 0xfc],
                frame: .init(
                    codec: .aac, byteCount: 37, strippedByteCount: 7, sampleCount: 1024, sampleRate: 48_000,
                    channelCount: 2)),
            Case(
                description: "ADTS with checksum, MPEG-2, 7.1", framing: .adts,
                bytes: [0xff, 0xf8, 0x51, 0xc0, 0x04, 0xbf, 0xfc],
                frame: .init(
                    codec: .aac, byteCount: 37, strippedByteCount: 9, sampleCount: 1024, sampleRate: 44_100,
                    channelCount: 8)),
            Case(
                description: "ADTS shorter than its header", framing: .adts,
                bytes: [0xff, 0xf1, 0x4c, 0x80, 0x00, 0xff, 0xfc]),
            Case(
                description: "ADTS with a reserved rate", framing: .adts,
                bytes: [0xff, 0xf1, 0x74, 0x80, 0x04, 0xbf, 0xfc]),
            Case(
                description: "layer III, 128 kbit/s, 44.1 kHz, padded", framing: .mpegAudio,
                bytes: [0xff, 0xfb, 0x92, 0x64],
                frame: .init(codec: .mp3, byteCount: 418, sampleCount: 1152, sampleRate: 44_100, channelCount: 2)),
            Case(
                description: "layer III, MPEG-2, 22.05 kHz mono", framing: .mpegAudio, bytes: [0xff, 0xf3, 0x40, 0xc0],
                frame: .init(codec: .mp3, byteCount: 104, sampleCount: 576, sampleRate: 22_050, channelCount: 1)),
            Case(
                description: "layer II, 192 kbit/s, 48 kHz", framing: .mpegAudio, bytes: [0xff, 0xfd, 0xa4, 0x00],
                frame: .init(codec: .mp2, byteCount: 576, sampleCount: 1152, sampleRate: 48_000, channelCount: 2)),
            Case(
                description: "layer I, 32 kbit/s, 32 kHz", framing: .mpegAudio, bytes: [0xff, 0xff, 0x18, 0x00],
                frame: .init(codec: .mp3, byteCount: 48, sampleCount: 384, sampleRate: 32_000, channelCount: 2)),
            Case(description: "free format", framing: .mpegAudio, bytes: [0xff, 0xfb, 0x02, 0x64]),
            Case(description: "AAC is no MPEG audio", framing: .mpegAudio, bytes: [0xff, 0xf1, 0x4c, 0x80]),
            Case(
                description: "AC-3, 64 kbit/s mono", framing: .ac3,
                bytes: [0x0b, 0x77, 0x6b, 0xf1, 0x08, 0x40, 0x2f, 0x84],
                frame: .init(codec: .ac3, byteCount: 256, sampleCount: 1536, sampleRate: 48_000, channelCount: 1)),
            Case(
                description: "AC-3, 44.1 kHz, 5.1, odd size", framing: .ac3,
                bytes: [0x0b, 0x77, 0, 0, 0x40 | 29, 0x40, 0xe1, 0],
                frame: .init(
                    codec: .ac3, byteCount: 1672 + 2 - 2, sampleCount: 1536, sampleRate: 44_100, channelCount: 6)),
            Case(
                description: "E-AC-3, mono", framing: .ac3, bytes: [0x0b, 0x77, 0x00, 0x7f, 0x32, 0x87, 0xc0, 0x00],
                frame: .init(
                    codec: .eac3, byteCount: 256, sampleCount: 1536, sampleRate: 48_000, channelCount: 1,
                    mayContinue: true)),
            Case(
                description: "E-AC-3, dependent, one block, 24 kHz or not", framing: .ac3,
                bytes: [0x0b, 0x77, 0x40, 0x7f, 0x0f, 0x80, 0, 0],
                frame: .init(
                    codec: .eac3, byteCount: 256, sampleCount: 256, sampleRate: 48_000, channelCount: 6,
                    isContinuation: true, mayContinue: true)),
            Case(
                description: "LOAS", framing: .loas, bytes: [0x56, 0xe0, 0x10],
                frame: .init(codec: .aacLATM, byteCount: 19, sampleCount: 0, sampleRate: 0, channelCount: 0)),
        ])
    func headers(_ test: Case) {
        #expect(test.framing.header(at: 0, in: test.bytes) == test.frame)
        #expect(test.framing.header(at: 0, in: test.bytes.dropLast()) == nil)
    }

    @Test("a program config element becomes part of the configuration")
    func programConfigElement() throws {
        // id 5, tag 0, LC, 48 kHz, one front pair, one back pair, no others; no mixdowns; pair flags; comment "ab".
        var bits = "101" + "0000" + "01" + "0011" + "0001" + "0000" + "0001" + "00" + "000" + "0000" + "000"
        bits += "1" + "0000" + "1" + "0001"
        while bits.count % 8 != 0 { bits += "0" }
        bits += "00000010" + "01100001" + "01100010" + "11111111"
        let digits = bits.map { $0 == "1" ? UInt8(1) : 0 }
        let payload = stride(from: 0, to: digits.count, by: 8).map { digits[$0..<$0 + 8].reduce(0) { $0 << 1 | $1 } }
        let header = try #require(ADTSHeader(parsing: [0xff, 0xf1, 0x4c, 0x00, 0x04, 0xbf, 0xfc]))
        let configuration = header.configuration(payload: payload[...])
        #expect(configuration.channelCount == 4)
        let parsed = try AudioSpecificConfig(parsing: configuration.bytes)
        #expect(parsed.channelCount == 4 && parsed.sampleRate == 48_000 && parsed.objectType == 2)
        #expect(parsed.bitCount == configuration.bytes.count * 8)
    }

    @Test("AudioSpecificConfig: plain, explicit SBR and custom rates are read")
    func configurations() throws {
        let plain = try AudioSpecificConfig(parsing: [0x12, 0x10])
        #expect(plain.objectType == 2 && plain.sampleRate == 44_100 && plain.channelCount == 2)
        #expect(plain.samplesPerFrame == 1024)
        // HE-AAC: type 5, core 24 kHz, stereo, output 48 kHz, core type 2.
        let highEfficiency = try AudioSpecificConfig(parsing: [0x2b, 0x11, 0x88, 0x00])
        #expect(highEfficiency.objectType == 2)
        #expect(highEfficiency.coreSampleRate == 24_000 && highEfficiency.sampleRate == 48_000)
        #expect(throws: MediaError.self) { try AudioSpecificConfig(parsing: [0x12]) }
        #expect(throws: MediaError.self) { try AudioSpecificConfig(parsing: []) }
    }
}
