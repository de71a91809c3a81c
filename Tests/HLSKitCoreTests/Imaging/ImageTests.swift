import Foundation
import TestSupport
import Testing

@testable import HLSKitCodec

@Suite(.timeLimit(.minutes(10))) struct ImageTests {
    private static func gradient(_ width: Int, _ height: Int) throws -> StillImage {
        var pixels: [UInt8] = []
        for y in 0..<height {
            for x in 0..<width { pixels += [UInt8(x * 255 / width), UInt8(y * 255 / height), 128, 255] }
        }
        return try #require(StillImage(width: width, height: height, pixels: pixels))
    }

    @Test("an image has four bytes per pixel, or is invalid")
    func count() {
        #expect(StillImage(width: 2, height: 1, pixels: [UInt8](repeating: 0, count: 8)) != nil)
        #expect(StillImage(width: 2, height: 1, pixels: [UInt8](repeating: 0, count: 7)) == nil)
        #expect(StillImage(width: 0, height: 1, pixels: []) == nil)
        #expect(StillImage(width: .max, height: .max, pixels: []) == nil)
    }

    @Test("rotation is clockwise in quarter turns")
    func turning() throws {
        func image(_ width: Int, _ height: Int, _ reds: [UInt8]) throws -> StillImage {
            try #require(StillImage(width: width, height: height, pixels: reds.flatMap { [$0, 0, 0, 255] }))
        }
        let upright = try image(3, 2, [1, 2, 3, 4, 5, 6])
        let quarter = try image(2, 3, [4, 1, 5, 2, 6, 3])
        let half = try image(3, 2, [6, 5, 4, 3, 2, 1])
        let threeQuarters = try image(2, 3, [3, 6, 2, 5, 1, 4])
        #expect(upright.turned(byQuarters: 0) == upright)
        #expect(upright.turned(byQuarters: 1) == quarter)
        #expect(upright.turned(byQuarters: 2) == half)
        #expect(upright.turned(byQuarters: 3) == threeQuarters)
        #expect(upright.turned(byQuarters: -1) == threeQuarters)
    }

    @Test("L01: PNG files have their signature, and JPEG files shrink with lower quality")
    func files() throws {
        let image = try Self.gradient(160, 90)
        let png = try image.encoded(as: .png)
        #expect(png.starts(with: [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]))
        let sizes = try [100, 85, 50, 1].map { try image.encoded(as: .jpeg(quality: $0)).count }
        #expect(sizes == sizes.sorted(by: >))
        #expect(try image.encoded(as: .jpeg()).starts(with: [0xFF, 0xD8, 0xFF]))
    }

    @Test("L01: images of one pixel and of odd sizes can be written", arguments: [(1, 1), (3, 5), (161, 91)])
    func oddSizes(_ width: Int, _ height: Int) throws {
        let image = try Self.gradient(width, height)
        let (png, jpeg) = (try image.encoded(as: .png), try image.encoded(as: .jpeg()))
        #expect(!png.isEmpty && !jpeg.isEmpty)
    }

    @Test("L02: colours equal ffmpeg's for the same frame", .enabled(if: Tool.exists("/usr/bin/ffmpeg")))
    func likeFFmpeg() throws {
        let frame = try SampleImages.frames(of: "360p")[300]
        let image = try StillImage(frame)
        // The stream does not name its matrix. ffmpeg also assumes BT.601 in this case.
        let expected = try Tool.run([
            "/usr/bin/ffmpeg", "-v", "error", "-i", SampleMedia.folder + "/video-360p.mp4", "-vf",
            "select=eq(n\\,300),scale=flags=bicubic+accurate_rnd+full_chroma_int", "-frames:v", "1", "-pix_fmt", "rgba",
            "-f",
            "rawvideo", "-",
        ])
        #expect(SampleImages.likeness(image.pixels, expected) > 50)
        for (format, decibels) in [(StillImage.Format.png, Double.infinity), (.jpeg(quality: 100), 32)] {
            let file = try image.encoded(as: format)
            let back = try Tool.run(
                [
                    "/usr/bin/ffmpeg", "-v", "error", "-f", format == .png ? "png_pipe" : "jpeg_pipe", "-i", "-",
                    "-pix_fmt", "rgba", "-f", "rawvideo", "-",
                ], input: file)
            #expect(SampleImages.likeness(image.pixels, back) >= decibels)
        }
    }
}
