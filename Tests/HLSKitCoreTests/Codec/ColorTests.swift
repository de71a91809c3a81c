import Testing

@testable import HLSKitCore

@Suite("colour")
struct ColorTests {
    @Test(
        "J09: code points of H.273 have the names of FFmpeg, and numbers where they have none",
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

    @Test("J08: a picture keeps the colour that stream or container declares, and says so")
    func tags() throws {
        var fixture = try PacketFixture("h264-avcc")
        fixture.track.colorInformation = nil
        let bare = try #require(fixture.pictures().first).colorTags
        fixture.track.colorInformation = ColorInformation(
            colorPrimaries: 9, transferCharacteristics: 16, matrixCoefficients: 9, isFullRange: false)
        let tagged = try #require(fixture.pictures().first).colorTags
        // What the stream itself says counts more.
        #expect(tagged.primaries == (bare.primaries == 2 ? 9 : bare.primaries))
        #expect(tagged.transfer == (bare.transfer == 2 ? 16 : bare.transfer))
        #expect(tagged.matrix == (bare.matrix == 2 ? 9 : bare.matrix))
        if bare.primaries == 2 { #expect(tagged.colorPrimaries.isWideGamut) }
    }

    @Test("J08: pictures in RGB say so, and keep their primaries", arguments: [PixelFormat.bgra, .rgba])
    func conversion(_ format: PixelFormat) throws {
        let frame = try #require(PacketFixture("h264-avcc").pictures().first)
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

    @Test("J08: conversion to BT.709 says so, and leaves high dynamic range alone")
    func rec709() throws {
        var fixture = try PacketFixture("h264-avcc")
        let plain = try #require(fixture.pictures().first)
        let converter = FrameConverter(to: .yuv420p, convertsToRec709: true)
        let converted = try converter.convert(plain)
        #expect(converted.colorTags.matrix == 1 || plain.colorTags.matrix == 1)
        fixture.track.colorInformation = ColorInformation(
            colorPrimaries: 9, transferCharacteristics: 16, matrixCoefficients: 9, isFullRange: false)
        let bright = try #require(fixture.pictures().first)
        if bright.colorTags.transferFunction == .pq {
            #expect(try converter.convert(bright).colorTags == bright.colorTags)
        }
    }

    @Test("J10: the size of presentation has square pixels")
    func presentationSize() throws {
        var fixture = try PacketFixture("h264-avcc")
        fixture.track.pixelAspectRatio = PixelAspectRatio(horizontalSpacing: 4, verticalSpacing: 3)
        let frame = try #require(fixture.pictures().first)
        #expect(frame.presentationSize == PixelSize(width: (frame.width * 4 + 1) / 3, height: frame.height))
    }
}
