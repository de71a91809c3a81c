import HLSKitEngine
import HLSKitMedia
import HLSKitPlayback
import TestSupport
import Testing

@Suite("Playing encrypted samples", .timeLimit(.minutes(10)), .enabled(if: Tool.exists("/usr/bin/openssl")))
struct PlayedSampleEncryptionTests {
    private static func written(_ path: String, _ files: [String: [UInt8]]) throws -> CapturingWriter {
        let bench = try VirtualBench(path, quality: nil, files: files)
        let damagedCount = try bench.play { bench in
            try await bench.pass(.seconds(45))
            return bench.player.state.statistics.numberOfDamagedSamples
        }
        #expect(bench.item.error == nil)
        #expect(damagedCount == 0)
        return bench.writer
    }

    @Test("N02: SAMPLE-AES video and audio in a transport stream equal the clear stream")
    func transportStream() throws {
        let stream = SampleTransportStream(isEncrypted: true)
        let clear = SampleTransportStream()
        #expect(try stream.segments() != clear.segments())
        let (played, expected) = (
            try Self.written("ts.m3u8", stream.files()), try Self.written("ts.m3u8", clear.files())
        )
        #expect(played.frames.map(\.hash) == (try SampleMedia.frameHashes(of: "180p")))
        #expect(played.firstBreak == nil)
        #expect(played.sounds.map(\.time) == expected.sounds.map(\.time))
        #expect(played.sounds.map(\.riseCount) == expected.sounds.map(\.riseCount))
        #expect(played.sounds.contains { $0.riseCount > 0 })
    }

    @Test("N02: MP4 video with cbcs and cenc equals the clear stream", arguments: ["cbcs", "cenc"])
    func commonEncryption(_ scheme: String) throws {
        let rendition = try SampleMedia.rendition("video-180p")
        let header = rendition.initializationSection
        var files = ["key.bin": CommonEncryption.key]
        files["init.mp4"] = try CommonEncryption.protected(
            header, scheme: scheme, pattern: scheme == "cbcs" ? 0x19 : 0)
        var text = "#EXTM3U\n#EXT-X-VERSION:7\n#EXT-X-TARGETDURATION:4\n#EXT-X-MAP:URI=\"init.mp4\"\n"
        text += "#EXT-X-KEY:METHOD=SAMPLE-AES\(scheme == "cenc" ? "-CTR" : ""),URI=\"key.bin\"\n"
        for (index, segment) in rendition.segments.prefix(3).enumerated() {
            files["\(index).m4s"] = try CommonEncryption.encrypted(segment, header, isCBC: scheme == "cbcs")
            text += "#EXTINF:4,\n\(index).m4s\n"
        }
        files["list.m3u8"] = Array((text + "#EXT-X-ENDLIST\n").utf8)
        let played = try Self.written("list.m3u8", files)
        #expect(played.frames.map(\.hash) == Array(try SampleMedia.frameHashes(of: "180p")[..<300]))
        #expect(played.firstBreak == nil)
    }
}
