import HLSKitCodec
import HLSKitLoading
import TestSupport
import Testing

@testable import HLSKitOutput

@Suite(.timeLimit(.minutes(10)))
struct FrameWriterTests {
    private func y4m(_ frames: [VideoFrame], frameRate: VideoFrame.Ratio? = nil, notes: Notes = Notes()) throws
        -> [UInt8]
    {
        let folder = try TemporaryFolder()
        let writer = Y4MWriter(
            file: try OutputFile(path: folder.path("a.y4m")), frameRate: frameRate, note: notes.collect)
        for frame in frames { try writer.write(frame, ofTrackAt: 0) }
        try writer.finish()
        return try folder.bytes("a.y4m")
    }

    private func planes(_ frame: VideoFrame) -> [UInt8] {
        frame.withPlanes { planes in
            planes.flatMap { plane in
                (0..<plane.rowCount).flatMap { row in
                    plane.bytes[row * plane.bytesPerRow..<row * plane.bytesPerRow + plane.pictureBytesPerRow]
                }
            }
        }
    }

    @Test(
        "y4m has ffmpeg's header, and a FRAME line before each frame",
        arguments: [
            ("h264-annexb", "YUV4MPEG2 W64 H48 F30:1 Ip A1:1 C420mpeg2 XYSCSS=420MPEG2\n"),
            ("h264-avcc", "YUV4MPEG2 W64 H48 F30:1 Ip A4:3 C420mpeg2 XYSCSS=420MPEG2\n"),
            ("h264-422-10", "YUV4MPEG2 W64 H48 F30:1 Ip A1:1 C422p10 XYSCSS=422P10\n"),
            ("hevc", "YUV4MPEG2 W64 H48 F30:1 Ip A1:1 C420p10 XYSCSS=420P10 XCOLORRANGE=LIMITED\n"),
        ])
    func y4mBytes(name: String, header: String) throws {
        let frames = try PacketFixture(name).frames()
        let notes = Notes()
        let bytes = try y4m(frames, notes: notes)
        let expected = Array(header.utf8) + frames.flatMap { Array("FRAME\n".utf8) + planes($0) }
        #expect(String(decoding: bytes.prefix { $0 != 10 }, as: UTF8.self) + "\n" == header)
        #expect(bytes == expected)
        #expect(notes.all == [])
    }

    @Test("a given frame rate is written to the y4m header")
    func y4mFrameRate() throws {
        let frames = try PacketFixture("av1").frames()
        let bytes = try y4m(frames, frameRate: VideoFrame.Ratio(numerator: 60000, denominator: 1001))
        #expect(String(decoding: bytes.prefix(80), as: UTF8.self).contains(" F60000:1001 "))
    }

    @Test(
        "durations map to the usual frame rates",
        arguments: [
            (Int64(3000), Int32(90_000), "30:1"), (3003, 90_000, "30000:1001"), (3600, 90_000, "25:1"),
            (1501, 90_000, "60000:1001"), (1502, 90_000, "60000:1001"), (1500, 90_000, "60:1"), (1800, 90_000, "50:1"),
            (3753, 90_000, "24000:1001"), (3754, 90_000, "24000:1001"), (3750, 90_000, "24:1"), (33, 1000, "30:1"),
            (1001, 24_000, "24000:1001"), (7000, 90_000, "90:7"), (0, 90_000, "25:1"),
            (.max, 90_000, "90000:\(Int64.max)"),
            (1, 1, "1:1"),
        ])
    func nominalFrameRate(duration: Int64, timescale: Int32, expected: String) {
        let rate = Y4MWriter.nominalFrameRate(duration: duration, timescale: timescale)
        #expect("\(rate.numerator):\(rate.denominator)" == expected)
    }

    @Test("after a size change y4m and rawvideo keep the first size and report it once")
    func sizeChange() throws {
        let frames = try PacketFixture("h264-two-sizes").frames()
        let notes = Notes()
        let header = "YUV4MPEG2 W64 H48 F30:1 Ip A1:1 C420mpeg2 XYSCSS=420MPEG2\n"
        let bytes = try y4m(frames, notes: notes)
        #expect(bytes.count == header.utf8.count + 16 * (6 + 64 * 48 * 3 / 2))
        #expect(notes.all == ["video 96x64 yuv420p converted to 64x48 yuv420p"])

        let folder = try TemporaryFolder()
        let raw = RawVideoWriter(file: try OutputFile(path: folder.path("a.yuv")), note: notes.collect)
        for frame in frames { try raw.write(frame, ofTrackAt: 0) }
        try raw.finish()
        let rawBytes = try folder.bytes("a.yuv")
        #expect(rawBytes.count == 16 * 64 * 48 * 3 / 2)
        #expect(Array(rawBytes.prefix(8 * 64 * 48 * 3 / 2)) == frames.prefix(8).flatMap(planes))
        #expect(notes.all.count == 2)
        // The scaled frames show the same image, so the mean of their luma does not change.
        let mean = { (bytes: ArraySlice<UInt8>) in bytes.reduce(0) { $0 + Int($1) } / max(bytes.count, 1) }
        let scaled = rawBytes.suffix(64 * 48 * 3 / 2).prefix(64 * 48)
        let last = try #require(frames.last)
        #expect(abs(mean(scaled) - mean(planes(last).prefix(96 * 64))) <= 2)
    }

    @Test("rawvideo keeps a pixel format that y4m has no name for", arguments: ["h264-422-10", "hevc"])
    func rawDepth(name: String) throws {
        let frames = try PacketFixture(name).frames()
        let folder = try TemporaryFolder()
        let writer = RawVideoWriter(file: try OutputFile(path: folder.path("a.yuv")))
        for frame in frames { try writer.write(frame, ofTrackAt: 0) }
        try writer.finish()
        #expect(try folder.bytes("a.yuv") == frames.flatMap(planes))
    }

    @Test("no file is made without a frame", arguments: OutputFormat.allCases)
    func empty(format: OutputFormat) throws {
        let folder = try TemporaryFolder()
        let writer = try format.makeWriter(path: folder.path("a"))
        let name = [.aac: "aac", .mp3: "mp3"][format] ?? "h264-annexb"
        try writer.begin([try PacketFixture(name).track])
        try writer.finish()
        #expect(folder.names == [])
    }

    @Test("a full device ends the writing with an error", arguments: [OutputFormat.y4m, .rawvideo])
    func fullDevice(format: OutputFormat) throws {
        let frames = try PacketFixture("h264-annexb").frames()
        let writer = try format.makeWriter(path: "/dev/full")
        let error = #expect(throws: HLSError.self) {
            for _ in 0..<10 { for frame in frames { try writer.write(frame, ofTrackAt: 0) } }
        }
        #expect(error?.code == .diskFull)
        #expect(throws: HLSError.self) { try writer.finish() }
    }
}
