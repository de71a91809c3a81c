import CLibAV
import HLSKitImaging
import HLSKitLoading
import HLSKitMedia
import HLSKitTime
import TestSupport
import Testing

@testable import HLSKitCodec

@Suite("Image area and dynamic range", .timeLimit(.minutes(10)))
struct ImageOptionTests {
    /// Returns a gray frame of 64×48. Its luma is three times the column in the upper half and 200 in the lower half.
    private static func ramp(_ change: (UnsafeMutablePointer<AVFrame>) throws -> Void = { _ in }) throws -> VideoFrame {
        var frame = HLSKitCodec.av_frame_alloc()
        defer { HLSKitCodec.av_frame_free(&frame) }
        let raw = try #require(frame)
        (raw.pointee.width, raw.pointee.height, raw.pointee.format) = (64, 48, AV_PIX_FMT_YUV420P.rawValue)
        raw.pointee.color_range = AVCOL_RANGE_JPEG
        try #require(HLSKitCodec.av_frame_get_buffer(raw, 0) == 0)
        for plane in 0..<Int32(3) {
            let data = try #require(CLibAV_frame_data(raw, plane))
            let (rows, distance) = (plane == 0 ? 48 : 24, Int(CLibAV_frame_linesize(raw, plane)))
            for row in 0..<rows {
                for column in 0..<distance {
                    data[row * distance + column] = plane > 0 ? 128 : row < 24 ? UInt8(clamping: column * 3) : 200
                }
            }
        }
        try change(raw)
        return try VideoFrame(moving: raw, pts: 0, timescale: 25, duration: 1)
    }

    private static func crop(_ frame: UnsafeMutablePointer<AVFrame>) {
        FrameNotes.note(CleanAperture(width: 20, height: 24, horizontalOffset: -8, verticalOffset: -12), in: frame)
        frame.pointee.sample_aspect_ratio = AVRational(num: 2, den: 1)
    }

    @Test(
        "L02: an image shows the clean aperture, the whole frame, or the stored pixels",
        arguments: [
            (ImageApertureMode.cleanAperture, PixelSize(width: 40, height: 24)),
            (.productionAperture, PixelSize(width: 128, height: 48)),
            (.encodedPixels, PixelSize(width: 64, height: 48)),
        ])
    func aperture(_ mode: ImageApertureMode, size: PixelSize) throws {
        let image = try StillImage(Self.ramp(Self.crop), apertureMode: mode)
        #expect(PixelSize(width: image.width, height: image.height) == size)
        // The first and the last pixel of the first row.
        let ends = [image.pixels[0], image.pixels[(image.width - 1) * 4]].map(Int.init)
        let expected = mode == .cleanAperture ? [14 * 3, 33 * 3] : [0, 63 * 3]
        for (found, expected) in zip(ends, expected) { #expect(abs(found - expected) <= 6) }
        let last = Int(image.pixels[image.pixels.count - 4])
        #expect(abs(last - (mode == .cleanAperture ? 33 * 3 : 200)) <= 6)
    }

    @Test("L02: an aperture that begins at odd pixels is exact")
    func oddAperture() throws {
        let frame = try Self.ramp { frame in
            FrameNotes.note(CleanAperture(width: 21, height: 9, horizontalOffset: 0, verticalOffset: -10), in: frame)
        }
        let image = try StillImage(frame)
        #expect((image.width, image.height) == (21, 9))
        #expect((0..<21).allSatisfy { abs(Int(image.pixels[$0 * 4]) - (21 + $0) * 3) <= 3 })
        #expect(try StillImage(frame, apertureMode: .encodedPixels).width == 64)
    }

    @Test("L02: the clean aperture is the default, and the maximum size applies to the shown area")
    func defaults() throws {
        let frame = try Self.ramp(Self.crop)
        #expect(try StillImage(frame) == StillImage(frame, apertureMode: .cleanAperture))
        let small = try StillImage(frame, maximumSize: PixelSize(width: 20, height: 0))
        #expect((small.width, small.height) == (20, 12))
        let turned = try Self.ramp { frame in
            Self.crop(frame)
            try FrameNotes.note(rotation: 90, in: frame)
        }
        let upright = try StillImage(
            turned, maximumSize: PixelSize(width: 12, height: 0), appliesPreferredTransform: true)
        #expect((upright.width, upright.height) == (12, 20))
        #expect(try StillImage(turned) == StillImage(frame))
    }

    @Test("L02: high dynamic range is tone-mapped, or kept and tagged", arguments: [16, 18])
    func dynamicRange(_ transfer: UInt32) throws {
        let frame = try Self.ramp { frame in
            frame.pointee.color_primaries = AVCOL_PRI_BT2020
            frame.pointee.color_trc = AVColorTransferCharacteristic(rawValue: transfer)
            frame.pointee.colorspace = AVCOL_SPC_BT2020_NCL
        }
        let mapped = try StillImage(frame)
        #expect(mapped.colorPrimaries == .bt709)
        #expect(mapped.transferFunction == .bt709)
        let source = try StillImage(frame, dynamicRangePolicy: .matchSource)
        #expect(source.colorPrimaries == .bt2020)
        #expect(source.transferFunction.rawValue == Int(transfer))
        #expect(abs(Int(source.pixels[20 * 4]) - 60) <= 2)
        #expect(mapped.pixels != source.pixels)
        #expect(source.turned(byQuarters: 1).transferFunction == source.transferFunction)
        #expect(try VideoFrame(source, inPlaceOf: frame).colorTags.transferFunction == source.transferFunction)
        let file = try source.encoded(as: .png)
        #expect(file.starts(with: [0x89, 0x50, 0x4E, 0x47]))
    }

    @Test("L02: HDR that cannot be mapped gives no image tagged as standard range")
    func unknownColors() throws {
        let frame = try Self.ramp { frame in
            frame.pointee.color_primaries = AVColorPrimaries(rawValue: 200)
            frame.pointee.color_trc = AVCOL_TRC_SMPTE2084
        }
        #expect(throws: HLSError.self) { try StillImage(frame) }
        #expect(try StillImage(frame, dynamicRangePolicy: .matchSource).transferFunction == .pq)
    }

    @Test("L02: standard range is the same under both policies")
    func standardRange() throws {
        let frame = try Self.ramp()
        #expect(try StillImage(frame) == StillImage(frame, dynamicRangePolicy: .matchSource))
    }

    @Test("L02: the generator's images have the requested area and range")
    func generator() async throws {
        let url = SampleImages.base + "a.mp4"
        let bytes = try SampleImages.turned(SampleImages.fixture("mp4/progressive.mp4"), byQuarters: 1)
        let generator = SampleImages.generator(TableTransport([url: bytes]), url: url)
        #expect(generator.apertureMode == .cleanAperture)
        #expect(generator.dynamicRangePolicy == .forceSDR)
        generator.apertureMode = .encodedPixels
        generator.dynamicRangePolicy = .matchSource
        let image = try await generator.image(at: .zero).image
        #expect((image.width, image.height) == (64, 48))
        #expect(generator.apertureMode == .encodedPixels)
        #expect(generator.dynamicRangePolicy == .matchSource)
    }
}
