import Foundation
import HLSKitCodec
import HLSKitMedia
import HLSKitOutput
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(10)))
struct FrameHashWriterTests {
    /// Returns the lines without the one that names ffmpeg's version.
    private func comparable(_ lines: [String]) -> [String] { lines.filter { !$0.hasPrefix("#software") } }

    private func written(_ folder: TemporaryFolder) throws -> [String] {
        try folder.text("out").split(separator: "\n").map(String.init)
    }

    @Test("the text for frames equals ffmpeg's line by line", arguments: ["h264-annexb", "h264-avcc", "hevc", "av1"])
    func videoText(name: String) throws {
        let fixture = try PacketFixture(name)
        let folder = try TemporaryFolder()
        let writer = try FrameHashWriter(file: OutputFile(path: folder.path("out")))
        try writer.begin([fixture.track])
        for frame in try fixture.frames() { try writer.write(frame, ofTrackAt: 0) }
        try writer.finish()
        let lines = try written(folder)
        #expect(comparable(lines) == comparable(fixture.expected))
        #expect(lines.contains { $0.wholeMatch(of: /#software: Lavf\d+\.\d+\.\d+/) != nil })
    }

    @Test("the text for audio equals ffmpeg's line by line", arguments: AudioDecoderTests.streams)
    func audioText(name: String) throws {
        let fixture = try PacketFixture(name)
        let folder = try TemporaryFolder()
        let writer = try FrameHashWriter(file: OutputFile(path: folder.path("out")))
        try writer.begin([fixture.track])
        for buffer in try fixture.audio() { try writer.write(buffer, ofTrackAt: 0) }
        try writer.finish()
        let (found, expected) = (comparable(try written(folder)), comparable(fixture.expected))
        if name == "flac" || name == "alac" {
            #expect(found == expected)
        } else {
            // The last bit of a sample, and so the hash, depends on the machine. AudioDecoderTests compares the
            // samples.
            func withoutHash(_ line: String) -> String { line.hasPrefix("#") ? line : String(line.dropLast(32)) }
            #expect(found.map(withoutHash) == expected.map(withoutHash))
        }
    }

    @Test("lines of two tracks are sorted by time, whichever arrives first")
    func interleaving() throws {
        let video = try PacketFixture("h264-annexb")
        let audio = try PacketFixture("aac")
        let frames = try video.frames()
        let audioData = try audio.audio()
        var texts: Set<String> = []
        for soundFirst in [true, false] {
            let folder = try TemporaryFolder()
            let writer = try FrameHashWriter(file: OutputFile(path: folder.path("out")))
            try writer.begin([video.track, audio.track])
            if soundFirst { for buffer in audioData { try writer.write(buffer, ofTrackAt: 1) } }
            for frame in frames { try writer.write(frame, ofTrackAt: 0) }
            if !soundFirst { for buffer in audioData { try writer.write(buffer, ofTrackAt: 1) } }
            try writer.finish()
            texts.insert(try folder.text("out"))
        }
        #expect(texts.count == 1)
        let lines = try #require(texts.first).split(separator: "\n").map(String.init)
        #expect(lines.contains("#dimensions 0: 64x48"))
        #expect(lines.contains("#channel_layout_name 1: stereo"))
        let times = try lines.filter { !$0.hasPrefix("#") }.map { line in
            let fields = line.split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces) }
            return try #require(Double(fields[1])) / (fields[0] == "0" ? 90_000 : 48_000)
        }
        #expect(times.count == frames.count + audioData.count)
        #expect(times == times.sorted())
    }

    @Test("a track that appears after the header is described before its first line", arguments: [true, false])
    func lateTrack(isVideo: Bool) throws {
        let video = try PacketFixture("h264-annexb")
        let audio = try PacketFixture("aac")
        let (frames, audioData) = (try video.frames(), try audio.audio())
        let folder = try TemporaryFolder()
        let writer = try FrameHashWriter(file: OutputFile(path: folder.path("out")))
        if isVideo {
            try writer.begin([audio.track])
            for buffer in audioData { try writer.write(buffer, ofTrackAt: 0) }
        } else {
            try writer.begin([video.track])
            for frame in frames { try writer.write(frame, ofTrackAt: 0) }
        }
        try writer.begin([video.track, audio.track])
        if isVideo {
            for frame in frames { try writer.write(frame, ofTrackAt: 0) }
            try writer.write(try #require(audioData.last), ofTrackAt: 1)
        } else {
            for buffer in audioData { try writer.write(buffer, ofTrackAt: 1) }
            try writer.write(try #require(frames.last), ofTrackAt: 0)
        }
        try writer.finish()
        let lines = try written(folder)
        let (first, second) = isVideo ? (audioData.count + 1, frames.count) : (frames.count + 1, audioData.count)
        #expect(lines.count { $0.hasPrefix("0,") } == first)
        #expect(lines.count { $0.hasPrefix("1,") } == second)
        let described = try #require(lines.firstIndex { $0.hasPrefix("#tb 1: ") })
        #expect(described > (lines.firstIndex { $0.hasPrefix("0,") } ?? .max))
        #expect(described < (lines.firstIndex { $0.hasPrefix("1,") } ?? 0))
        #expect(lines.contains("#media_type 1: \(isVideo ? "video" : "audio")"))
        #expect(lines.count { $0.hasPrefix("#tb 0: ") } == 1)
    }

    @Test("a track without frames delays the other for at most ten seconds")
    func silentTrack() throws {
        let audio = try PacketFixture("alac")
        let video = try PacketFixture("h264-annexb").track
        let buffer = try #require(try audio.audio().first)
        let folder = try TemporaryFolder()
        let file = try OutputFile(path: folder.path("out"))
        let writer = try FrameHashWriter(file: file)
        try writer.begin([video, audio.track])
        for second in Int64(0)..<30 {
            var track = audio.track
            track.timescale = 1
            let decoder = try AudioDecoder(track: track)
            var buffers: [AudioBuffer] = []
            var sample = try #require(audio.samples.first)
            sample.pts = second
            try decoder.decode(sample, to: &buffers)
            for buffer in buffers { try writer.write(buffer, ofTrackAt: 1) }
        }
        try writer.finish()
        let lines = try written(folder)
        #expect(lines.filter { !$0.hasPrefix("#") }.count == 30)
        #expect(lines.contains("#dimensions 0: 64x48"))
        #expect(buffer.frameCount == 2400)
    }
}
