import HLSKitMedia
import HLSKitOutput
import HLSKitTime
import TestSupport
import Testing

/// Transport stream segments from the frames of `h264-annexb`, one second of 30 frames with sync frames at 0, 12 and
/// 24, and from the frames of `aac`.
struct RepeatedFrames {
    private let video: PacketFixture
    private let audio: PacketFixture

    init() throws {
        video = try PacketFixture("h264-annexb")
        audio = try PacketFixture("aac")
    }

    /// Returns a segment with these frames in decoding order, and with audio of each language at its start.
    func segment(_ frames: Range<Int>, languages: [String] = []) throws -> [UInt8] {
        let folder = try TemporaryFolder()
        let writer = try #require(
            try OutputFormat.ts.makeWriter(path: folder.path("a.ts")) as? any SampleWriter)
        var tracks = [video.track]
        for (index, language) in languages.enumerated() {
            var track = audio.track
            (track.id, track.language) = (index + 1, language)
            tracks.append(track)
        }
        try writer.begin(tracks)
        let count = video.samples.count
        for index in frames {
            var sample = video.samples[index % count]
            let offset = Int64(index / count) * 90_000
            (sample.pts, sample.dts) = (sample.pts + offset, sample.dts + offset)
            try writer.write(sample, ofTrackAt: 0, at: MediaTime(value: sample.pts, timescale: 90_000))
        }
        let start = Int64(frames.lowerBound) * 1600 + 70_400
        for index in languages.indices {
            for sample in audio.samples {
                try writer.write(
                    sample, ofTrackAt: index + 1, at: MediaTime(value: sample.pts + start, timescale: 48_000))
            }
        }
        try writer.finish()
        return try folder.bytes("a.ts")
    }

    static func playlist(_ durations: [String]) -> String {
        let segments = durations.enumerated().map { "#EXTINF:\($1),\ns\($0).ts\n" }
        return "#EXTM3U\n#EXT-X-TARGETDURATION:2\n\(segments.joined())#EXT-X-ENDLIST\n"
    }
}
