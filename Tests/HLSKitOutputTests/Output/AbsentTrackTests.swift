import HLSKitMedia
import HLSKitOutput
import HLSKitPlayback
import HLSKitTime
import TestSupport
import Testing

@Suite("Announced tracks without media", .timeLimit(.minutes(10)))
struct AbsentTrackTests {
    /// Returns a transport stream whose tables name audio that it does not contain.
    private static func stream(_ fixture: PacketFixture) throws -> [UInt8] {
        let audio = try PacketFixture("aac")
        let folder = try TemporaryFolder()
        let writer = try OutputFormat.ts.makeWriter(path: folder.path("out"))
        try writer.begin([fixture.track, audio.track])
        for sample in fixture.samples {
            try writer.write(
                sample, ofTrackAt: 0, at: MediaTime(value: sample.pts, timescale: fixture.track.timescale))
        }
        try writer.finish()
        return try folder.bytes("out")
    }

    @Test("writers do not wait for audio that no segment contains", arguments: [OutputFormat.mp4, .ts, .framemd5])
    func absentAudio(format: OutputFormat) throws {
        let fixture = try PacketFixture("h264-annexb")
        let playlist = "#EXTM3U\n#EXT-X-TARGETDURATION:2\n#EXTINF:1.2,\na.ts\n#EXT-X-ENDLIST\n"
        let sample = try VirtualSample(
            quality: nil, path: "a.m3u8", files: ["a.m3u8": Array(playlist.utf8), "a.ts": try Self.stream(fixture)])
        let folder = try TemporaryFolder()
        let writer = try format.makeWriter(path: folder.path("out"))
        sample.item.add(writer)
        try sample.play()
        try writer.finish()
        let hasEnded = sample.events.elements.contains { $0.isEnd }
        #expect(hasEnded)
        switch format {
        case .framemd5:
            let text = try folder.text("out")
            let lines = text.split(separator: "\n").map(String.init)
            #expect(PacketFixture.hashes(lines) == fixture.expectedHashes)
        case .ts:
            let streams = try TransportStream(try folder.bytes("out")).streams
            #expect(streams.first?.units.count == fixture.samples.count)
        default:
            let byteCount = try folder.bytes("out").count
            #expect(byteCount > 1000)
        }
    }
}
