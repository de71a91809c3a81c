import HLSKitMedia
import Testing

@Suite struct CodecStringTests {
    struct Case: CustomTestStringConvertible {
        var text: String
        var codec: MediaCodec?
        var mediaType: MediaKind?
        var level: Int?
        var bitDepth: Int?
        var testDescription: String { text }

        init(
            _ text: String, _ codec: MediaCodec?, _ mediaType: MediaKind?, level: Int? = nil, bitDepth: Int? = nil
        ) {
            self.text = text
            self.codec = codec
            self.mediaType = mediaType
            self.level = level
            self.bitDepth = bitDepth
        }
    }

    static let cases: [Case] = [
        Case("avc1.640028", .h264, .video, level: 40),
        Case("avc1.4d401f", .h264, .video, level: 31),
        Case("avc3.42E01E", .h264, .video, level: 30),
        Case("avc1.66.30", .h264, .video, level: 30),
        Case("avc1", .h264, .video),
        Case("avc1.xyz", .h264, .video),
        Case("hvc1.2.4.L123.B0", .hevc, .video, level: 123),
        Case("hev1.A1.6.H150", .hevc, .video, level: 150),
        Case("dvh1.05.06", .hevc, .video, level: 6),
        Case("dvhe.08.09", .hevc, .video, level: 9),
        Case("av01.0.08M.10", .av1, .video, level: 8, bitDepth: 10),
        Case("vp09.02.10.10.01", .vp9, .video, level: 10, bitDepth: 10),
        Case("mp4a.40.2", .aac, .audio),
        Case("mp4a.40.5", .aac, .audio),
        Case("mp4a.40.29", .aac, .audio),
        Case("mp4a.40.33", .mp2, .audio),
        Case("mp4a.40.34", .mp3, .audio),
        Case("mp4a.69", .mp3, .audio),
        Case("mp4a.6B", .mp3, .audio),
        Case("mp4a.6b", .mp3, .audio),
        Case("mp4a.66", .aac, .audio),
        Case("mp4a.a5", .ac3, .audio),
        Case("mp4a.A6", .eac3, .audio),
        Case("mp4a", .aac, .audio),
        Case("mp4a.zz", nil, .audio),
        Case("mp4a.-1", nil, .audio),
        Case("mp4a.ffff", nil, .audio),
        Case("ac-3", .ac3, .audio),
        Case("ec-3", .eac3, .audio),
        Case("Opus", .opus, .audio),
        Case("opus", .opus, .audio),
        Case("fLaC", .flac, .audio),
        Case("alac", .alac, .audio),
        Case("ipcm", .pcmS16LE, .audio),
        Case("fpcm", .pcmF32LE, .audio),
        Case("lpcm", .pcmS16LE, .audio),
        Case("twos", .pcmS16BE, .audio),
        Case("sowt", .pcmS16LE, .audio),
        Case("wvtt", .webVTT, .text),
        Case("stpp.ttml.im1t", .ttml, .text),
        Case("dtse", .dts, .audio),
        Case("dtsx", nil, .audio),
        Case("mp4v.20.9", .mpeg4Video, .video),
        Case("vvc1.1.L51", nil, .video),
        Case("zzzz.1.2", nil, nil),
        Case(".", nil, nil),
        Case("99999999999999999999", nil, nil),
        Case("av01.99999999999999999999.1", .av1, .video, level: 1),
    ]

    @Test("a codec string gives format, kind of media and level", arguments: cases)
    func parse(_ testCase: Case) {
        let string = CodecString(rawValue: testCase.text)
        #expect(string.codec == testCase.codec)
        #expect(string.mediaType == testCase.mediaType)
        #expect(string.level == testCase.level)
        #expect(string.bitDepth == testCase.bitDepth)
        #expect(string.description == testCase.text)
    }

    @Test(
        "an attribute is split at commas; white space and empty elements are dropped",
        arguments: [
            ("avc1.640028,mp4a.40.2", ["avc1.640028", "mp4a.40.2"]),
            (" avc1.640028 ,\tmp4a.40.2 ", ["avc1.640028", "mp4a.40.2"]),
            ("", []), (",, ,", []), ("unknown.1", ["unknown.1"]),
        ])
    func list(attribute: String, expected: [String]) {
        #expect(CodecString.list(parsing: attribute).map(\.rawValue) == expected)
    }
}
