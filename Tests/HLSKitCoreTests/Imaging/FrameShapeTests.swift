import HLSKitCodec
import HLSKitImaging
import HLSKitLoading
import HLSKitMedia
import HLSKitTime
import TestSupport
import Testing

@Suite("Frames of all shapes", .enabled(if: FFmpegFrames.isThere), .timeLimit(.minutes(10)))
struct FrameShapeTests {
    struct Shape: Sendable, CustomTestStringConvertible {
        var name: String
        var frame: PixelSize
        var shown: PixelSize
        var testDescription: String { name }
        var path: String { "\(SampleMedia.fixtures)/media/\(name).mp4" }
    }

    static let shapes = [
        Shape(
            name: "picture-interlaced", frame: PixelSize(width: 64, height: 48), shown: PixelSize(width: 93, height: 48)
        ),
        Shape(name: "picture-444", frame: PixelSize(width: 63, height: 47), shown: PixelSize(width: 63, height: 47)),
        Shape(name: "picture-odd", frame: PixelSize(width: 65, height: 49), shown: PixelSize(width: 65, height: 49)),
    ]

    private static func frames(of bytes: [UInt8]) throws -> [VideoFrame] {
        let file = try FragmentedFile(bytes)
        let section = try MP4InitializationSection(parsing: bytes[file.initialization])
        let decoder = try VideoDecoder(track: section.tracks[0])
        var demuxer = FragmentedMP4Demuxer(initialization: section)
        var events: [DemuxerEvent] = []
        for range in file.fragments { try demuxer.append(bytes[range], to: &events) }
        try demuxer.finish(to: &events)
        var frames: [VideoFrame] = []
        for case .sample(let sample) in events { try decoder.decode(sample, to: &frames) }
        try decoder.drain(to: &frames)
        return frames
    }

    private static func frames(of shape: Shape) throws -> [VideoFrame] {
        try frames(of: SampleImages.fixture("\(shape.name).mp4"))
    }

    @Test("J02, J10: frames have ffmpeg's digests, their own size and the display size", arguments: shapes)
    func digests(_ shape: Shape) throws {
        let frames = try Self.frames(of: shape)
        #expect(try frames.map { try $0.digest() } == FFmpegFrames.hashes(of: shape.path))
        #expect(frames.allSatisfy { ($0.width, $0.height) == (shape.frame.width, shape.frame.height) })
        #expect(frames.allSatisfy { $0.presentationSize == shape.shown })
    }

    @Test(
        "L02: images equal ffmpeg's, with square or stored pixels", arguments: shapes,
        [ImageApertureMode.cleanAperture, .encodedPixels])
    func images(_ shape: Shape, _ mode: ImageApertureMode) throws {
        let image = try StillImage(Self.frames(of: shape)[5], apertureMode: mode)
        let size = mode == .encodedPixels ? shape.frame : shape.shown
        #expect((image.width, image.height) == (size.width, size.height))
        let expected = try FFmpegFrames.pixels(
            of: shape.path, where: "eq(n\\,5)", width: size.width, height: size.height)
        #expect(SampleImages.likeness(image.pixels, expected) > 50)
    }

    @Test("L02, J10: rotated images equal ffmpeg's", arguments: 1...3)
    func turned(_ quarters: Int) throws {
        let bytes = try SampleImages.turned(SampleImages.fixture("picture-444.mp4"), byQuarters: quarters)
        let path = try ScratchFile(bytes)
        let frame = try Self.frames(of: bytes)[5]
        let image = try StillImage(frame, appliesPreferredTransform: true)
        let size = quarters == 2 ? PixelSize(width: 63, height: 47) : PixelSize(width: 47, height: 63)
        #expect((image.width, image.height) == (size.width, size.height))
        #expect(frame.presentationSize == size && frame.rotation == quarters * 90)
        let expected = try FFmpegFrames.pixels(
            of: path.path, where: "eq(n\\,5)", width: size.width, height: size.height)
        #expect(SampleImages.likeness(image.pixels, expected) > 50)
    }

    @Test("L01: a contact sheet equals ffmpeg's from the same frames")
    func sheet() throws {
        let images = try Self.frames(of: Self.shapes[1]).prefix(6).map { try StillImage($0) }
        let sheet = try ContactSheet(of: images, columnCount: 3)
        let expected = try FFmpegFrames.pixels(
            of: Self.shapes[1].path, where: "lt(n\\,6)", width: 63, height: 47, then: ",tile=3x2")
        #expect((sheet.image.width, sheet.image.height) == (189, 94))
        #expect(SampleImages.likeness(sheet.image.pixels, expected) > 50)
    }

    private struct ScratchFile {
        let folder: ScratchFolder
        let path: String

        init(_ bytes: [UInt8]) throws {
            folder = try ScratchFolder()
            path = try folder.write(bytes, to: "a.mp4")
        }
    }

    // MARK: JPEG frames

    @Test("C12: images are made from JPEG frames if a playlist lists them, without other loads")
    func jpegImages() async throws {
        let file = try FragmentedFile(SampleImages.fixture("mjpg-iframes.mp4"))
        var table = try SampleImages.resources()
        table[SampleImages.base + "j.mp4"] = file.bytes
        table[SampleImages.base + "j.m3u8"] = Array(file.iFramePlaylist(named: "j.mp4", seconds: 4).utf8)
        let line =
            "\n#EXT-X-I-FRAME-STREAM-INF:BANDWIDTH=5000,CODECS=\"mjpg\",RESOLUTION=160x90,URI=\"j.m3u8\"\n"
        table[SampleImages.master]? += Array(line.utf8)
        let transport = TableTransport(table)
        let generator = SampleImages.generator(transport)
        generator.maximumSize = PixelSize(width: 160, height: 0)
        let results = await generator.collect(.seconds(1, 21, 39))
        #expect(results.map { $0.actual?.seconds } == [0, 20, 36])
        for (number, result) in zip([0, 5, 9], results) {
            let expected = try FFmpegFrames.pixels(
                of: "\(SampleMedia.fixtures)/media/mjpg-iframes.mp4", where: "eq(n\\,\(number))", width: 160, height: 90
            )
            #expect(SampleImages.likeness(try #require(result.image).pixels, expected) > 50)
        }
        let media = transport.requests.filter { $0.resourceClass == .segment }
        #expect(Set(media.map(\.urlString)) == [SampleImages.base + "j.mp4"] && media.count == 3)
    }
}
