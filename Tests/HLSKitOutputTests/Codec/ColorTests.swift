import CLibAV
import Foundation
import HLSKitLoading
import HLSKitMedia
import HLSKitOutput
import HLSKitPlayback
import HLSKitPlaylist
import HLSKitSelection
import HLSKitTime
import TestSupport
import Testing

@testable import HLSKitAsset
@testable import HLSKitCodec

@Suite("Colour")
struct ColorTests {
    @Test(
        "J09: H.273 code points have FFmpeg's names, or numbers if FFmpeg has no name",
        arguments: [
            (1, "bt709", "bt709", "bt709"), (2, "unspecified", "unspecified", "unspecified"),
            (5, "bt470bg", "bt470bg", "bt470bg"), (6, "smpte170m", "smpte170m", "smpte170m"),
            (9, "bt2020", "log100", "bt2020nc"), (12, "smpte432", "bt1361e", "chroma-derived-nc"),
            (16, "16", "smpte2084", "16"), (18, "18", "arib-std-b67", "18"), (200, "200", "200", "200"),
        ])
    func names(_ code: Int, _ primaries: String, _ transfer: String, _ matrix: String) {
        #expect(ColorPrimaries(rawValue: code).description == primaries)
        #expect(TransferFunction(rawValue: code).description == transfer)
        #expect(YCbCrMatrix(rawValue: code).description == matrix)
    }

    @Test("J08: a frame keeps the colour that the stream or the container declares")
    func tags() throws {
        var fixture = try PacketFixture("h264-avcc")
        fixture.track.colorInformation = nil
        let bare = try #require(fixture.frames().first).colorTags
        fixture.track.colorInformation = ColorInformation(
            colorPrimaries: 9, transferCharacteristics: 16, matrixCoefficients: 9, isFullRange: false)
        let tagged = try #require(fixture.frames().first).colorTags
        #expect(tagged.primaries == (bare.primaries == 2 ? 9 : bare.primaries))
        #expect(tagged.transfer == (bare.transfer == 2 ? 16 : bare.transfer))
        #expect(tagged.matrix == (bare.matrix == 2 ? 9 : bare.matrix))
        if bare.primaries == 2 { #expect(tagged.colorPrimaries.isWideGamut) }
    }

    @Test("J08: RGB frames are tagged as RGB and keep their primaries", arguments: [PixelFormat.bgra, .rgba])
    func conversion(_ format: PixelFormat) throws {
        let frame = try #require(PacketFixture("h264-avcc").frames().first)
        let converted = try FrameConverter(to: format, convertsToRec709: false).convert(frame)
        #expect(converted.pixelFormatName == format.rawValue)
        #expect(converted.colorTags.yCbCrMatrix == .rgb)
        #expect(converted.colorTags.isFullRange == true)
        #expect(converted.colorTags.primaries == frame.colorTags.primaries)
        #expect(converted.presentationSize == frame.presentationSize)
        #expect(converted.pts == frame.pts)
        converted.withPlanes { planes in
            #expect(planes.count == 1)
            #expect(planes[0].pictureBytesPerRow == 4 * frame.width)
            #expect(planes[0].bytes[3] == 255)
        }
    }

    @Test(
        "J08: the playlist's VIDEO-RANGE applies if nothing else declares the colour",
        arguments: [("PQ", 16), ("HLG", 18), ("SDR", 2), (nil, 2)] as [(String?, Int)])
    func videoRange(_ range: String?, transfer: Int) throws {
        let attribute = range.map { ",VIDEO-RANGE=\($0)" } ?? ""
        let text = "#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=1000000\(attribute)\nvideo-180p.m3u8\n"
        let sample = try VirtualSample(
            end: .seconds(1), quality: nil, path: "range.m3u8", files: ["range.m3u8": Array(text.utf8)])
        let output = VideoOutput()
        try sample.item.add(output)
        let frames = Recorder<VideoFrame>()
        sample.record(output.frames(), in: frames)
        try sample.play()
        #expect(frames.elements.count > 20)
        #expect(frames.elements.allSatisfy { $0.colorTags.transfer == transfer })
    }

    // MARK: Conversion to BT.709

    private static func flat(
        _ y: UInt8, _ u: UInt8, _ v: UInt8, primaries: UInt32, transfer: UInt32, matrix: UInt32
    ) throws -> VideoFrame {
        var frame = HLSKitCodec.av_frame_alloc()
        defer { HLSKitCodec.av_frame_free(&frame) }
        let raw = try #require(frame)
        (raw.pointee.width, raw.pointee.height, raw.pointee.format) = (16, 16, AV_PIX_FMT_YUV444P.rawValue)
        raw.pointee.color_primaries = AVColorPrimaries(rawValue: primaries)
        raw.pointee.color_trc = AVColorTransferCharacteristic(rawValue: transfer)
        raw.pointee.colorspace = AVColorSpace(rawValue: matrix)
        raw.pointee.color_range = AVCOL_RANGE_MPEG
        try #require(HLSKitCodec.av_frame_get_buffer(raw, 0) == 0)
        for (plane, value) in [y, u, v].enumerated() {
            let data = try #require(CLibAV_frame_data(raw, Int32(plane)))
            data.update(repeating: value, count: Int(CLibAV_frame_linesize(raw, Int32(plane))) * 16)
        }
        return try VideoFrame(moving: raw, pts: 7, timescale: 1000, duration: 40)
    }

    private static func color(of frame: VideoFrame) -> [Int] {
        frame.withPlanes { planes in planes.map { Int($0.bytes[5 * $0.bytesPerRow + 5]) } }
    }

    /// Converts a BT.2020 colour to BT.709 by ITU-R BT.2087, for display by BT.1886.
    private static func rec709(ofBT2020 color: [Double]) -> [Int] {
        let (kr, kb) = (0.2627, 0.0593)
        let (y, u, v) = ((color[0] - 16) / 219, (color[1] - 128) / 224, (color[2] - 128) / 224)
        let (red, blue) = (y + 2 * (1 - kr) * v, y + 2 * (1 - kb) * u)
        let wide = [red, (y - kr * red - kb * blue) / (1 - kr - kb), blue].map { $0.sign == .minus ? 0 : pow($0, 2.4) }
        let matrix = [
            [1.6605, -0.5876, -0.0728], [-0.1246, 1.1329, -0.0083], [-0.0182, -0.1006, 1.1187],
        ]
        let rgb = matrix.map { row in
            let light = zip(row, wide).map(*).reduce(0, +)
            return light < 0 ? -pow(-light, 1 / 2.4) : pow(light, 1 / 2.4)
        }
        let luma = 0.2126 * rgb[0] + 0.7152 * rgb[1] + 0.0722 * rgb[2]
        return [16 + 219 * luma, 128 + 224 * (rgb[2] - luma) / 1.8556, 128 + 224 * (rgb[0] - luma) / 1.5748]
            .map { Int($0.rounded()) }
    }

    // All colours are within BT.709. For others, the result of zimg depends on the processor, because its tables cut
    // off values below 0 and its plain code does not.
    @Test(
        "J08: conversion to BT.709 produces BT.709 colours with matching tags",
        arguments: [(80, 112, 144), (100, 105, 150), (176, 128, 128), (235, 128, 128), (90, 140, 120), (150, 120, 140)])
    func wideGamut(_ y: UInt8, _ u: UInt8, _ v: UInt8) throws {
        let frame = try Self.flat(y, u, v, primaries: 9, transfer: 14, matrix: 9)
        let converted = try FrameConverter(to: .native, convertsToRec709: true).convert(frame)
        #expect(converted.colorTags.colorPrimaries == .bt709)
        #expect(converted.colorTags.transferFunction == .bt709)
        #expect(converted.colorTags.yCbCrMatrix == .bt709)
        #expect(converted.colorTags.isFullRange == false)
        #expect(converted.pixelFormatName == "yuv444p")
        #expect((converted.pts, converted.duration) == (7, 40))
        let expected = Self.rec709(ofBT2020: [Double(y), Double(u), Double(v)])
        for (found, expected) in zip(Self.color(of: converted), expected) { #expect(abs(found - expected) <= 1) }
        #expect(try FrameConverter(to: .native, convertsToRec709: false).convert(frame) === frame)
    }

    @Test(
        "J08: HDR is tone-mapped to standard range: greys stay grey and in order", arguments: [16, 18])
    func toneMapping(_ transfer: UInt32) throws {
        let converter = FrameConverter(to: .native, convertsToRec709: true)
        var last = 0
        for luma in stride(from: UInt8(16), through: 235, by: 20) {
            let frame = try Self.flat(luma, 128, 128, primaries: 9, transfer: transfer, matrix: 9)
            let converted = try converter.convert(frame)
            #expect(converted.colorTags.isStandardRange)
            let color = Self.color(of: converted)
            #expect(color[0] > last || luma == 16)
            #expect(abs(color[1] - 128) <= 1 && abs(color[2] - 128) <= 1)
            last = color[0]
        }
        // SDR white, 203 cd/m² (BT.2408), is light but not the brightest.
        let white = try Self.flat(transfer == 16 ? 143 : 180, 128, 128, primaries: 9, transfer: transfer, matrix: 9)
        let light = Self.color(of: try converter.convert(white))[0]
        #expect((130...215).contains(light))
        let image = try StillImage(white)
        #expect(image.pixels[0] > 120)
    }

    @Test("J08: BT.709 frames are not converted, however much of it is declared", arguments: [1, 2])
    func alreadyRec709(_ code: UInt32) throws {
        let frame = try Self.flat(100, 90, 170, primaries: code, transfer: code, matrix: 1)
        #expect(!ColorTransformer.isNeeded(for: frame))
        #expect(try FrameConverter(to: .native, convertsToRec709: true).convert(frame) === frame)
    }

    @Test("J08: frames with unknown colours are not converted")
    func unknownColors() throws {
        let frame = try Self.flat(100, 90, 170, primaries: 200, transfer: 16, matrix: 9)
        #expect(try FrameConverter(to: .native, convertsToRec709: true).convert(frame).colorTags == frame.colorTags)
    }

    @Test(
        "J08: a track has the wide-gamut and HDR characteristics that container or playlist declare",
        arguments: [
            (nil, nil, []), (ColorInformation.of(1, 1), nil, []), (.of(9, 14), nil, [.usesWideGamutColorSpace]),
            (.of(9, 16), nil, [.usesWideGamutColorSpace, .containsHDRVideo]),
            (.of(12, 18), .sdr, [.usesWideGamutColorSpace, .containsHDRVideo]), (nil, .pq, [.containsHDRVideo]),
            (.of(2, 2), .hlg, [.containsHDRVideo]), (.of(1, 1), .pq, []), (nil, .sdr, []),
        ] as [(ColorInformation?, VideoRange?, Set<MediaCharacteristic>)])
    func characteristics(
        _ color: ColorInformation?, _ range: VideoRange?, expected: Set<MediaCharacteristic>
    ) {
        var track = MediaTrack(id: 1, mediaType: .video, codec: .vp9, timescale: 25)
        track.colorInformation = color
        var facts = TrackFacts(track, extent: nil, origin: 0, duration: .indefinite)
        facts.declaredVideoRange = range
        #expect(facts.characteristics.subtracting([.visual, .frameBased]) == expected)
    }

    // MARK: Grading

    private static let volume = MasteringDisplayColorVolume(
        primaries: MasteringDisplayColorVolume.Primaries(
            red: .init(x: 0.708, y: 0.292), green: .init(x: 0.17, y: 0.797), blue: .init(x: 0.131, y: 0.046),
            whitePoint: .init(x: 0.3127, y: 0.329)),
        luminance: 0.005...1000)

    /// The grading as an SEI unit with its length in front (ISO/IEC 23008-2 D.2.28 and D.2.35).
    private static let gradingMessage: [UInt8] = {
        func be16(_ values: Int...) -> [UInt8] { values.flatMap { [UInt8($0 >> 8), UInt8($0 & 255)] } }
        let display =
            be16(8500, 39850, 6550, 2300, 35400, 14600, 15635, 16450) + be16(10_000_000 >> 16, 10_000_000 & 0xFFFF)
            + be16(0, 50)
        var unit: [UInt8] = [39 << 1, 1]
        var zeros = 0
        for byte in [137, 24] + display + [144, 4] + be16(1000, 400) + [0x80] {
            if zeros == 2, byte <= 3 {
                unit.append(3)
                zeros = 0
            }
            unit.append(byte)
            zeros = byte == 0 ? zeros + 1 : 0
        }
        return be16(0, unit.count) + unit
    }()

    @Test("J08: HDR grading metadata is attached to frames, from the stream or else the container")
    func grading() throws {
        let fixture = try PacketFixture("hevc")
        var track = fixture.track
        #expect(try fixture.frames().first?.masteringDisplayColorVolume == nil)
        #expect(try fixture.frames().first?.contentLightLevelInfo == nil)
        let first = try #require(fixture.samples.first)
        let sample = MediaSample(
            trackID: 0, pts: first.pts, dts: first.dts, duration: first.duration, isSync: true,
            data: SampleData(Self.gradingMessage + first.data.withUnsafeBytes { Array($0) }))
        func frame() throws -> VideoFrame {
            let decoder = try VideoDecoder(track: track, threadCount: 1)
            var frames: [VideoFrame] = []
            try decoder.decode(sample, to: &frames)
            try decoder.drain(to: &frames)
            return try #require(frames.first)
        }
        let light = ContentLightLevelInfo(maximumContentLightLevel: 1000, maximumFrameAverageLightLevel: 400)
        #expect(try frame().masteringDisplayColorVolume == Self.volume)
        #expect(try frame().contentLightLevelInfo == light)
        track.masteringDisplayColorVolume = MasteringDisplayColorVolume(primaries: nil, luminance: 1...2)
        track.contentLightLevelInfo = ContentLightLevelInfo(
            maximumContentLightLevel: 1, maximumFrameAverageLightLevel: 1)
        #expect(try frame().masteringDisplayColorVolume == Self.volume)
        #expect(try frame().contentLightLevelInfo == light)
    }

    @Test("J08: HDR grading metadata survives conversion, except to standard range")
    func gradingOfConvertedFrames() throws {
        var fixture = try PacketFixture("h264-avcc")
        fixture.track.masteringDisplayColorVolume = Self.volume
        fixture.track.contentLightLevelInfo = ContentLightLevelInfo(
            maximumContentLightLevel: 1000, maximumFrameAverageLightLevel: 400)
        fixture.track.colorInformation = ColorInformation(
            colorPrimaries: 9, transferCharacteristics: 16, matrixCoefficients: 9, isFullRange: false)
        let frame = try #require(fixture.frames().first)
        #expect(frame.masteringDisplayColorVolume == Self.volume)
        #expect(frame.contentLightLevelInfo?.maximumFrameAverageLightLevel == 400)
        let packed = try FrameConverter(to: .bgra, convertsToRec709: false).convert(frame)
        #expect(packed.masteringDisplayColorVolume == Self.volume)
        try #require(!frame.colorTags.isStandardRange)
        let mapped = try FrameConverter(to: .native, convertsToRec709: true).convert(frame)
        #expect(mapped.masteringDisplayColorVolume == nil)
        #expect(mapped.contentLightLevelInfo == nil)
    }

    @Test("J08: impossible grading values cause no harm")
    func damagedGrading() throws {
        var fixture = try PacketFixture("h264-avcc")
        let odd = MasteringDisplayColorVolume.Chromaticity(x: .nan, y: -1e300)
        fixture.track.masteringDisplayColorVolume = MasteringDisplayColorVolume(
            primaries: .init(red: odd, green: odd, blue: odd, whitePoint: odd), luminance: -1...1e300)
        fixture.track.contentLightLevelInfo = ContentLightLevelInfo(
            maximumContentLightLevel: -1, maximumFrameAverageLightLevel: .max)
        let frame = try #require(fixture.frames().first)
        #expect(frame.masteringDisplayColorVolume?.primaries?.red == .init(x: 0, y: 0))
        #expect(frame.contentLightLevelInfo?.maximumContentLightLevel == 0)
    }

    @Test(
        "J10: only the clean aperture is shown",
        arguments: [
            (CleanAperture(width: 40, height: 30), PixelRect(x: 12, y: 9, width: 40, height: 30)),
            (
                CleanAperture(width: 40, height: 30, horizontalOffset: -10, verticalOffset: 5),
                PixelRect(x: 2, y: 14, width: 40, height: 30)
            ),
            (CleanAperture(width: 4000, height: 30), PixelRect(x: 0, y: 0, width: 64, height: 48)),
            (
                CleanAperture(width: 40, height: 30, horizontalOffset: .max, verticalOffset: .min),
                PixelRect(x: 0, y: 0, width: 64, height: 48)
            ),
            (CleanAperture(width: 0, height: -5), PixelRect(x: 0, y: 0, width: 64, height: 48)),
        ])
    func cleanAperture(_ aperture: CleanAperture, shown: PixelRect) throws {
        var fixture = try PacketFixture("h264-avcc")
        fixture.track.cleanAperture = aperture
        fixture.track.pixelAspectRatio = PixelAspectRatio(horizontalSpacing: 2, verticalSpacing: 1)
        let frame = try #require(fixture.frames().first)
        #expect((frame.width, frame.height) == (64, 48))
        #expect(frame.cleanAperture == shown)
        #expect(frame.presentationSize == PixelSize(width: Int(shown.width) * 2, height: Int(shown.height)))
        let converted = try FrameConverter(to: .bgra, convertsToRec709: false).convert(frame)
        #expect(converted.cleanAperture == shown)
    }

    @Test("J10: the presentation size has square pixels")
    func presentationSize() throws {
        var fixture = try PacketFixture("h264-avcc")
        fixture.track.pixelAspectRatio = PixelAspectRatio(horizontalSpacing: 4, verticalSpacing: 3)
        let frame = try #require(fixture.frames().first)
        #expect(frame.presentationSize == PixelSize(width: (frame.width * 4 + 1) / 3, height: frame.height))
    }
}

extension ColorInformation {
    fileprivate static func of(_ primaries: Int, _ transfer: Int) -> ColorInformation {
        ColorInformation(colorPrimaries: primaries, transferCharacteristics: transfer, matrixCoefficients: 2)
    }
}
