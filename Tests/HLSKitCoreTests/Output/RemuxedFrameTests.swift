import Foundation
import HLSKitCore
import HLSKitMedia
import TestSupport
import Testing

@Suite("Frame properties in files", .timeLimit(.minutes(10)), .enabled(if: Tool.exists("/usr/bin/ffprobe")))
struct RemuxedFrameTests {
    /// Returns the first stream as ffprobe reports it. Any other output of ffprobe is an error.
    private func probed(_ track: MediaTrack, _ fixture: PacketFixture, _ format: OutputFormat) throws -> [String: Any] {
        let folder = try TemporaryFolder()
        let writer = try format.makeWriter(path: folder.path("a"))
        try writer.begin([track])
        for sample in fixture.samples {
            try writer.write(sample, ofTrackAt: 0, at: MediaTime(value: sample.pts, timescale: track.timescale))
        }
        try writer.finish()
        let output = try Tool.run([
            "/bin/sh", "-c", "ffprobe -v warning -show_streams -of json \(folder.path("a")) 2>&1 || true",
        ])
        let words = Comment(rawValue: String(decoding: output, as: UTF8.self))
        let document = try? JSONSerialization.jsonObject(with: Data(output)) as? [String: Any]
        return try #require((document?["streams"] as? [[String: Any]])?.first, words)
    }

    @Test("S03: colour and pixel aspect ratio are written to the file", arguments: [OutputFormat.mp4, .mkv])
    func frame(format: OutputFormat) throws {
        let fixture = try PacketFixture("h264-avcc")
        var track = fixture.track
        track.colorInformation = ColorInformation(
            colorPrimaries: 9, transferCharacteristics: 16, matrixCoefficients: 9, isFullRange: false)
        track.pixelAspectRatio = PixelAspectRatio(horizontalSpacing: 4, verticalSpacing: 3)
        let stream = try probed(track, fixture, format)
        #expect(stream["color_primaries"] as? String == "bt2020")
        #expect(stream["color_transfer"] as? String == "smpte2084")
        #expect(stream["color_space"] as? String == "bt2020nc")
        #expect(stream["color_range"] as? String == "tv")
        #expect(stream["sample_aspect_ratio"] as? String == "4:3")
    }

    @Test("S03: unknown properties are not written", arguments: [OutputFormat.mp4, .mkv])
    func unknown(format: OutputFormat) throws {
        let fixture = try PacketFixture("vp9")
        var track = fixture.track
        (track.colorInformation, track.pixelAspectRatio) = (nil, nil)
        let stream = try probed(track, fixture, format)
        #expect(stream["color_primaries"] == nil)
        #expect(stream["side_data_list"] == nil)
        #expect(["1:1", nil].contains(stream["sample_aspect_ratio"] as? String))
    }

    @Test("S03: the VP9 box keeps the source's bit depth and chroma format")
    func vp9Samples() throws {
        let fixture = try PacketFixture("vp9")
        for (structure, fields) in [
            (PictureSampleStructure(bitDepth: 8), 0x80), (PictureSampleStructure(bitDepth: 10), 0xA0),
            (PictureSampleStructure(bitDepth: 12, chroma: .yuv444), 0xC6),
        ] as [(PictureSampleStructure, UInt8)] {
            var track = fixture.track
            track.sampleStructure = structure
            let folder = try TemporaryFolder()
            let writer = try OutputFormat.mp4.makeWriter(path: folder.path("a.mp4"))
            try writer.begin([track])
            for sample in fixture.samples {
                try writer.write(sample, ofTrackAt: 0, at: MediaTime(value: sample.pts, timescale: track.timescale))
            }
            try writer.finish()
            let bytes = try folder.bytes("a.mp4")
            let box = try #require(bytes.firstRange(of: Array("vpcC".utf8)))
            // Four bits of depth and three bits of chroma, in which both 0 and 1 mean 4:2:0.
            let found = bytes[box.upperBound + 6]
            #expect(found >> 4 == fields >> 4)
            #expect(max(1, found >> 1 & 7) == max(1, fields >> 1 & 7))
        }
    }

    @Test(
        "S03: without declared durations the last frame is as long as the previous one", arguments: [true, false])
    func lastFrame(isFragmented: Bool) throws {
        let fixture = try PacketFixture("h264-avcc")
        let folder = try TemporaryFolder()
        let path = folder.path("a.mp4")
        let writer = Remuxer(file: try OutputFile(path: path), container: .mp4, isFragmented: isFragmented)
        try writer.begin([fixture.track])
        for sample in fixture.samples {
            var sample = sample
            sample.duration = 0
            let time = MediaTime(value: sample.pts, timescale: fixture.track.timescale)
            try writer.write(sample, ofTrackAt: 0, at: time)
        }
        try writer.finish()
        let output = try Tool.run([
            "/bin/sh", "-c", "ffmpeg -v error -i \(path) -fps_mode passthrough -f framemd5 - 2>&1",
        ])
        let lines = String(decoding: output, as: UTF8.self).split(separator: "\n").map(String.init)
        #expect(PacketFixture.hashes(lines) == fixture.expectedHashes)
    }

    @Test("S03: the rotation of frames is written to the file", arguments: [90, 180, 270])
    func rotation(degrees: Int) throws {
        let fixture = try PacketFixture("h264-avcc")
        var track = fixture.track
        track.rotation = degrees
        let stream = try probed(track, fixture, .mp4)
        let matrix = try #require((stream["side_data_list"] as? [[String: Any]])?.first)
        // ffprobe counts the rotation counterclockwise.
        let angle = try #require((matrix["rotation"] as? NSNumber)?.intValue)
        #expect((angle + degrees) % 360 == 0)
    }
}
