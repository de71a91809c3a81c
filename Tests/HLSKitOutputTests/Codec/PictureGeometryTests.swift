import HLSKitLoading
import HLSKitMedia
import HLSKitTime
import TestSupport
import Testing

@testable import HLSKitAsset
@testable import HLSKitCodec

@Suite("Display sizes", .timeLimit(.minutes(10)))
struct PictureGeometryTests {
    struct Case: Sendable, CustomTestStringConvertible {
        var name: String
        var size = PixelSize(width: 720, height: 576)
        var shape: PixelAspectRatio?
        var aperture: CleanAperture?
        var rotation = 0
        var shown: PixelSize
        var testDescription: String { name }
    }

    private static let cases = [
        Case(name: "plain", shown: PixelSize(width: 720, height: 576)),
        Case(name: "wide pixels", shape: ratio(16, 15), shown: PixelSize(width: 768, height: 576)),
        Case(name: "narrow pixels", shape: ratio(8, 9), shown: PixelSize(width: 640, height: 576)),
        Case(
            name: "rounded to the nearest", shape: ratio(4, 3), aperture: aperture(101, 70),
            shown: .init(width: 135, height: 70)),
        Case(name: "aperture", aperture: aperture(704, 560), shown: PixelSize(width: 704, height: 560)),
        Case(
            name: "aperture of wide pixels", shape: ratio(12, 11), aperture: aperture(704, 576),
            shown: PixelSize(width: 768, height: 576)),
        Case(name: "a quarter", rotation: 90, shown: PixelSize(width: 576, height: 720)),
        Case(name: "half", rotation: 180, shown: PixelSize(width: 720, height: 576)),
        Case(name: "three quarters", rotation: 270, shown: PixelSize(width: 576, height: 720)),
        Case(
            name: "all of it", shape: ratio(12, 11), aperture: aperture(704, 576), rotation: 90,
            shown: PixelSize(width: 576, height: 768)),
        Case(name: "an aperture beyond the frame", aperture: aperture(721, 10), shown: .init(width: 720, height: 576)),
        Case(name: "pixels that are damaged", shape: ratio(.max, 1), shown: PixelSize(width: 720, height: 576)),
        Case(name: "pixels that cannot be", shape: ratio(1, 100_000), shown: PixelSize(width: 720, height: 576)),
        Case(name: "pixels without a shape", shape: ratio(0, 0), shown: PixelSize(width: 720, height: 576)),
        Case(name: "unknown", size: .zero, shape: ratio(2, 1), rotation: 90, shown: .zero),
    ]

    private static func ratio(_ width: Int, _ height: Int) -> PixelAspectRatio {
        PixelAspectRatio(horizontalSpacing: width, verticalSpacing: height)
    }

    private static func aperture(_ width: Int, _ height: Int) -> CleanAperture {
        CleanAperture(width: width, height: height)
    }

    @Test("J10: the presentation size is the rotated clean aperture in square pixels", arguments: cases)
    func presentationSize(_ c: Case) {
        var track = MediaTrack(id: 1, mediaType: .video, codec: .h264, timescale: 25)
        (track.width, track.height) = (c.size.width, c.size.height)
        (track.pixelAspectRatio, track.cleanAperture, track.rotation) = (c.shape, c.aperture, c.rotation)
        #expect(PictureGeometry(track).presentationSize == c.shown)
    }

    @Test("J10: a track's natural size is its unrotated clean aperture in square pixels")
    func naturalSize() {
        var track = MediaTrack(id: 1, mediaType: .video, codec: .h264, timescale: 25, width: 720, height: 576)
        track.cleanAperture = Self.aperture(704, 576)
        track.pixelAspectRatio = Self.ratio(12, 11)
        track.rotation = 90
        let facts = TrackFacts(track, extent: nil, origin: 0, duration: .indefinite)
        #expect(facts.naturalSize == PixelSize(width: 768, height: 576))
    }

    @Test("J10: a frame is shown at the size that its track declares", arguments: [0, 90, 180, 270])
    func frames(_ rotation: Int) throws {
        var fixture = try PacketFixture("h264-avcc")
        fixture.track.cleanAperture = CleanAperture(width: 40, height: 30, horizontalOffset: -10, verticalOffset: 5)
        fixture.track.pixelAspectRatio = Self.ratio(4, 3)
        fixture.track.rotation = rotation
        let frame = try #require(fixture.frames().first)
        #expect(frame.rotation == rotation)
        #expect(frame.presentationSize == PictureGeometry(fixture.track).presentationSize)
        #expect(frame.presentationSize == PixelSize(width: 53, height: 30).turned(byQuarters: rotation / 90))
        let packed = try FrameConverter(to: .bgra, convertsToRec709: false).convert(frame)
        #expect(packed.rotation == rotation)
        #expect(packed.presentationSize == frame.presentationSize)
        let drawn = try VideoFrame(StillImage(frame), inPlaceOf: frame)
        #expect(drawn.presentationSize == frame.presentationSize)
    }

    @Test(
        "J10: the stream's pixel aspect ratio applies if the container has none",
        arguments: [
            // A Baseline SPS for 64×48 with an aspect ratio of 16:11 in its VUI (`aspect_ratio_idc` 4), and without
            // VUI.
            (true, PixelSize(width: 93, height: 48)), (false, PixelSize(width: 64, height: 48)),
        ])
    func streamShape(_ hasShape: Bool, shown: PixelSize) {
        // Profile 66, level 10, ids and orders 0, one reference, 4×3 macroblocks, frames only, no crop.
        var bits = "1" + "1" + "011" + "010" + "0" + "00100" + "011" + "1" + "1" + "0"
        bits += hasShape ? "1" + "1" + "00000100" + "0000" + "00" + "00" : "0"
        bits += "1"
        while bits.count % 8 != 0 { bits += "0" }
        let payload = stride(from: 0, to: bits.count, by: 8).map { at in
            UInt8(bits.dropFirst(at).prefix(8), radix: 2) ?? 0
        }
        let set: [UInt8] = [0x67, 66, 0, 10] + payload
        var track = MediaTrack(id: 1, mediaType: .video, codec: .h264, timescale: 25, width: 64, height: 48)
        track.configuration = [1, 66, 0, 10, 0xFF, 0xE1, 0, UInt8(set.count)] + set + [0]
        #expect(PictureGeometry(track).presentationSize == shown)
        track.pixelAspectRatio = Self.ratio(1, 1)
        #expect(PictureGeometry(track).presentationSize == PixelSize(width: 64, height: 48))
    }
}
