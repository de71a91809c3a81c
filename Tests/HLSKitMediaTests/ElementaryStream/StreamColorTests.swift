import Testing

@testable import HLSKitMedia

@Suite struct StreamColorTests {
    private static func bytes(_ hex: String) -> [UInt8] {
        stride(from: 0, to: hex.count, by: 2).compactMap { at in
            let start = hex.index(hex.startIndex, offsetBy: at)
            return UInt8(hex[start...hex.index(after: start)], radix: 16)
        }
    }

    /// Declares ten bits, BT.2020 and PQ. ParameterSetTests uses the same set.
    private static let hevc = bytes(
        "420101022000000300900000030000030078a003c08010e4d96566924caf016a12201208000003000800000300c040")
    /// Declares colour and full range.
    private static let h264 = bytes("6764002aacd940780227a9b0e6e020202800001f48000ea60078c18cb0")
    /// Declares nothing.
    private static let plain = bytes("6742c00ada11e4")

    private static func avcC(_ set: [UInt8]) -> [UInt8] {
        let head: [UInt8] = [1, 0x64, 0, 42, 0xff, 0xe1, 0, UInt8(set.count)]
        return head + set + [1, 0, 0]
    }

    private static func hvcC(_ set: [UInt8]) -> [UInt8] {
        var bytes = [1] + [UInt8](repeating: 0, count: 21)
        bytes += [2, 32, 0, 1, 0, 2, 0x40, 1, 33, 0, 1, 0, UInt8(set.count)]
        return bytes + set
    }

    struct Case: CustomTestStringConvertible, Sendable {
        var name: String
        var codec = MediaCodec.h264
        var configuration: [UInt8]
        var container: ColorInformation?
        var color: [Int]?
        var testDescription: String { name }
    }

    private static let pq = ColorInformation(
        colorPrimaries: 9, transferCharacteristics: 16, matrixCoefficients: 9, isFullRange: false)

    static let cases: [Case] = {
        let usability = (try? H264SPS(parsing: h264))?.usability
        let own = usability.map { [$0.colourPrimaries, $0.transferCharacteristics, $0.matrixCoefficients] }
        let wide = (try? HEVCSPS(parsing: hevc))?.usability
        let ten = wide.map { [$0.colourPrimaries, $0.transferCharacteristics, $0.matrixCoefficients] }
        return [
            Case(name: "nothing", configuration: [], color: nil),
            Case(name: "the container alone", configuration: [], container: pq, color: [9, 16, 9]),
            Case(name: "the stream alone", configuration: avcC(h264), color: own),
            Case(name: "the stream before the container", configuration: avcC(h264), container: pq, color: own),
            Case(name: "HEVC", codec: .hevc, configuration: hvcC(hevc), color: ten),
            Case(name: "a stream that says nothing", configuration: avcC(plain), container: pq, color: [9, 16, 9]),
            Case(name: "a cut box", configuration: Array(avcC(h264).prefix(12)), container: pq, color: [9, 16, 9]),
            Case(name: "no such box", codec: .av1, configuration: avcC(h264), container: pq, color: [9, 16, 9]),
        ]
    }()

    @Test("J08: the parameter set's colour overrides the container's", arguments: cases)
    func order(_ test: Case) {
        var track = MediaTrack(
            id: 1, mediaType: .video, codec: test.codec, timescale: 1, configuration: test.configuration)
        track.colorInformation = test.container
        let color = track.declaredColor.map { [$0.colorPrimaries, $0.transferCharacteristics, $0.matrixCoefficients] }
        #expect(color == test.color)
    }

    @Test("J08: the test data contain the declared colours")
    func samples() throws {
        #expect(try HEVCSPS(parsing: Self.hevc).usability.transferCharacteristics == 16)
        #expect(try H264SPS(parsing: Self.h264).usability.colorInformation != nil)
        #expect(try H264SPS(parsing: Self.plain).usability.colorInformation == nil)
    }

    @Test("J08: VP9's box gives the colour if nothing else does")
    func vp9() throws {
        func color(_ boxes: [UInt8]...) throws -> ColorInformation? {
            let entry = BoxWriter.visualEntry("vp09", boxes.flatMap { $0 })
            let section = try MP4InitializationSection(
                parsing: BoxWriter.header([BoxWriter.Track(entries: [entry])])[...])
            return section.tracks.first?.colorInformation
        }
        let vpcC = BoxWriter.fullBox("vpcC", version: 1, [2, 10, 0xa3, 9, 16, 9, 0, 0])
        let colr = BoxWriter.box("colr", Array("nclx".utf8) + [0, 1, 0, 1, 0, 1, 0])
        #expect(try color(vpcC)?.transferCharacteristics == 16)
        #expect(try color(vpcC)?.isFullRange == true)
        #expect(try color(vpcC, colr)?.transferCharacteristics == 1)
        #expect(try color(colr, vpcC)?.transferCharacteristics == 1)
        #expect(try color(BoxWriter.fullBox("vpcC", version: 1, [0, 10, 0x82, 2, 2, 2, 0, 0])) == nil)
    }

    @Test(
        "J08: VP9's box gives depth and chroma",
        arguments: [
            (0x80, 8, .yuv420), (0x82, 8, .yuv420), (0xA2, 10, .yuv420), (0xA4, 10, .yuv422), (0xC6, 12, .yuv444),
            (0x92, nil, .yuv420), (0x88, nil, .yuv420),
        ] as [(UInt8, Int?, PictureSampleStructure.Chroma)])
    func vp9Samples(fields: UInt8, depth: Int?, chroma: PictureSampleStructure.Chroma) throws {
        let entry = BoxWriter.visualEntry(
            "vp09", BoxWriter.fullBox("vpcC", version: 1, [2, 10, fields, 1, 1, 1, 0, 0]))
        let section = try MP4InitializationSection(
            parsing: BoxWriter.header([BoxWriter.Track(entries: [entry])])[...])
        let found = section.tracks.first?.sampleStructure
        #expect(found == depth.map { PictureSampleStructure(bitDepth: $0, chroma: chroma) })
    }
}
