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

    /// Returns the track of a fixture with a grading, a Dolby Vision record, a stereo mode and a sphere.
    private func graded(_ fixture: PacketFixture) -> MediaTrack {
        typealias Volume = MasteringDisplayColorVolume
        var track = fixture.track
        track.masteringDisplayColorVolume = Volume(
            primaries: Volume.Primaries(
                red: .init(x: 0.708, y: 0.292), green: .init(x: 0.17, y: 0.797), blue: .init(x: 0.131, y: 0.046),
                whitePoint: .init(x: 0.3127, y: 0.329)),
            luminance: 0.005...1000)
        track.contentLightLevelInfo = ContentLightLevelInfo(
            maximumContentLightLevel: 1000, maximumFrameAverageLightLevel: 400)
        // Version 1.0, profile 8, level 1, with metadata and a base layer that is compatible with HDR10.
        track.dolbyVision = [1, 0, 8 << 1, 1 << 3 | 5, 1 << 4] + [UInt8](repeating: 0, count: 19)
        track.stereoMode = 2
        track.sphericalMapping = SphericalMapping(
            .equirectangular(top: 0, bottom: 0, left: 0, right: 0), yaw: 90 << 16)
        return track
    }

    @Test(
        "S03: HEVC in MP4 keeps the name of its sample entry and its records",
        arguments: [("", "hvc1"), ("hvc1", "hvc1"), ("hev1", "hev1"), ("dvh1", "dvh1"), ("dvhe", "dvhe")],
        [true, false])
    func records(names: (source: String, written: String), isFragmented: Bool) throws {
        let fixture = try PacketFixture("hevc")
        var track = graded(fixture)
        track.sampleEntry = names.source
        let folder = try TemporaryFolder()
        let writer = Remuxer(
            file: try OutputFile(path: folder.path("a.mp4")), container: .mp4, isFragmented: isFragmented)
        try writer.begin([track])
        for sample in fixture.samples {
            try writer.write(sample, ofTrackAt: 0, at: MediaTime(value: sample.pts, timescale: track.timescale))
        }
        try writer.finish()
        let section = try MP4InitializationSection(parsing: try folder.bytes("a.mp4")[...])
        let found = try #require(section.tracks.first)
        #expect(found.sampleEntry == names.written)
        #expect(found.masteringDisplayColorVolume == track.masteringDisplayColorVolume)
        #expect(found.contentLightLevelInfo == track.contentLightLevelInfo)
        #expect(found.dolbyVision == track.dolbyVision)
        #expect(found.stereoMode == track.stereoMode)
        #expect(found.sphericalMapping == track.sphericalMapping)
    }

    @Test("S03: grading, Dolby Vision record and sphere are written to Matroska")
    func recordsInMatroska() throws {
        let fixture = try PacketFixture("hevc")
        let stream = try probed(graded(fixture), fixture, .mkv)
        let records = Set(
            (stream["side_data_list"] as? [[String: Any]] ?? []).compactMap { $0["side_data_type"] as? String })
        let expected: Set = [
            "Mastering display metadata", "Content light level metadata", "DOVI configuration record",
            "Spherical Mapping",
        ]
        #expect(records.isSuperset(of: expected), "\(records)")
    }

    @Test(
        "S03: a size that changes in the samples alone continues in the next file",
        arguments: [OutputFormat.mp4, .mkv])
    func newSize(format: OutputFormat) throws {
        let fixture = try PacketFixture("h264-two-sizes")
        let folder = try TemporaryFolder()
        let notes = Notes()
        let writer = try format.makeWriter(path: folder.path("a.\(format.rawValue)"), note: notes.collect)
        try writer.begin([fixture.track])
        for sample in fixture.samples {
            try writer.write(
                sample, ofTrackAt: 0, at: MediaTime(value: sample.pts, timescale: fixture.track.timescale))
        }
        try writer.finish()
        #expect(folder.names == ["a.2.\(format.rawValue)", "a.\(format.rawValue)"])
        #expect(notes.all.count == 1 && notes.all[0].contains("continuing in"), "\(notes.all)")
        guard format == .mp4 else { return }
        let tracks = try ["a.mp4", "a.2.mp4"].map { name in
            try #require(MP4InitializationSection(parsing: try folder.bytes(name)[...]).tracks.first)
        }
        #expect(tracks.map(\.width) == [64, 96])
        #expect(tracks.map(\.height) == [48, 64])
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
