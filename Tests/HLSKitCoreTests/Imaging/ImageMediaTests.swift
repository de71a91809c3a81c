import Foundation
import HLSKitImaging
import HLSKitLoading
import HLSKitMedia
import HLSKitTime
import TestSupport
import Testing

@testable import HLSKitCodec

@Suite("Images of unusual media", .timeLimit(.minutes(10))) struct ImageMediaTests {
    private static let key = "00112233445566778899aabbccddeeff"
    private static let keyBytes = (0..<16).map { UInt8($0 * 17) }
    private static let playlist = SampleImages.base + "x.m3u8"

    private func expect(
        _ generator: ImageGenerator, _ wanted: [(time: Double, frame: VideoFrame)], actual: [Double]
    ) async throws {
        generator.setExact()
        let times = wanted.map { MediaTime(seconds: $0.time, preferredTimescale: 1000) }
        let results = await generator.collect(times)
        #expect(results.compactMap(\.error) == [])
        #expect(results.map { $0.actual?.seconds } == actual)
        for (result, (time, frame)) in zip(results, wanted) {
            let image = try StillImage(frame)
            let isSame = result.image == image
            #expect(isSame, "at \(time)")
        }
    }

    @Test(
        "L01: AES-128 segments are decrypted, and the key is loaded once",
        arguments: ["0x000102030405060708090a0b0c0d0e0f", nil])
    func aes128(vector: String?) async throws {
        let rendition = try SampleMedia.rendition("video-180p")
        var table = [SampleImages.base + "init.mp4": rendition.initializationSection]
        table[SampleImages.base + "key.bin"] = Self.keyBytes
        var text = "#EXTM3U\n#EXT-X-VERSION:7\n#EXT-X-TARGETDURATION:4\n#EXT-X-MEDIA-SEQUENCE:7\n"
        text += "#EXT-X-MAP:URI=\"init.mp4\"\n#EXT-X-KEY:METHOD=AES-128,URI=\"key.bin\""
        text += (vector.map { ",IV=\($0)" } ?? "") + "\n"
        for (index, segment) in rendition.segments.prefix(3).enumerated() {
            let initial = vector.map { String($0.dropFirst(2)) } ?? String(repeating: "0", count: 31) + "\(index + 7)"
            table[SampleImages.base + "\(index).m4s"] = try Tool.run(
                ["openssl", "enc", "-aes-128-cbc", "-K", Self.key, "-iv", initial], input: segment)
            text += "#EXTINF:4,\n\(index).m4s\n"
        }
        table[Self.playlist] = Array((text + "#EXT-X-ENDLIST\n").utf8)
        let frames = try SampleImages.frames(of: "180p")
        let transport = TableTransport(table)
        let generator = SampleImages.generator(transport, url: Self.playlist)
        // Requests the starts of segments first, for which only a part of each segment is decrypted.
        let heads = await generator.collect(.seconds(1, 5))
        #expect(heads.map { $0.actual?.seconds } == [0, 4])
        try await expect(
            generator, [(1, frames[25]), (5.5, frames[137]), (11.96, frames[299])], actual: [1, 5.48, 11.96])
        #expect(transport.urls.count { $0.hasSuffix("key.bin") } == 1)
        #expect(transport.urls.count { $0.hasSuffix("init.mp4") } == 1)
    }

    @Test("the error reports a key that cannot be loaded")
    func noKey() async throws {
        let text =
            "#EXTM3U\n#EXT-X-TARGETDURATION:4\n#EXT-X-KEY:METHOD=AES-128,URI=\"gone.bin\"\n#EXTINF:4,\n0.ts\n"
            + "#EXT-X-ENDLIST\n"
        let table = [Self.playlist: Array(text.utf8), SampleImages.base + "0.ts": [UInt8](repeating: 0, count: 188)]
        let generator = SampleImages.generator(TableTransport(table), url: Self.playlist)
        let error = await #expect(throws: HLSError.self) { try await generator.image(at: .zero) }
        #expect(error?.code == .contentKey)
        #expect(error?.urlString == SampleImages.base + "gone.bin")
    }

    @Test("L01: after a discontinuity times continue, whatever the size and timestamps")
    func discontinuity() async throws {
        let transport = try SampleImages.transport { table in
            // Each file has its own timeline. The third part starts at 20 s of its timeline.
            func lines(_ name: String) -> (head: String, segments: [String]) {
                let text = String(decoding: table[SampleImages.base + "video-\(name).m3u8"] ?? [], as: UTF8.self)
                let lines = text.split(separator: "\n").map(String.init)
                let map = lines.first { $0.hasPrefix("#EXT-X-MAP") } ?? ""
                let starts = lines.indices.filter { lines[$0].hasPrefix("#EXTINF") }
                return (map + "\n", starts.map { lines[$0...$0 + 2].joined(separator: "\n") + "\n" })
            }
            let (small, large) = (lines("180p"), lines("360p"))
            let text =
                "#EXTM3U\n#EXT-X-VERSION:7\n#EXT-X-TARGETDURATION:4\n" + small.head + small.segments[0]
                + "#EXT-X-DISCONTINUITY\n" + large.head + large.segments[0...1].joined() + "#EXT-X-DISCONTINUITY\n"
                + small.head + small.segments[5] + "#EXT-X-ENDLIST\n"
            table[Self.playlist] = Array(text.utf8)
        }
        let (small, large) = (try SampleImages.frames(of: "180p"), try SampleImages.frames(of: "360p"))
        try await expect(
            SampleImages.generator(transport, url: Self.playlist),
            [
                (3.96, small[99]), (4, large[0]), (9.5, large[137]), (11.99, large[199]), (12, small[500]),
                (15.9, small[597]),
            ], actual: [3.96, 4, 9.48, 11.96, 12, 15.88])
    }

    @Test("L01: segments shorter than the first piece are loaded whole, and pieces are not tried again")
    func shortSegments() async throws {
        let segment = try SampleImages.fixture("ts-h264-aac.ts")
        let text =
            "#EXTM3U\n#EXT-X-TARGETDURATION:1\n" + (0..<3).map { "#EXTINF:1,\n\($0).ts\n" }.joined()
            + "#EXT-X-ENDLIST\n"
        var table = [Self.playlist: Array(text.utf8)]
        for index in 0..<3 { table[SampleImages.base + "\(index).ts"] = segment }
        let transport = TableTransport(table)
        #expect(segment.count < 48 << 10)
        let generator = SampleImages.generator(transport, url: Self.playlist)
        for time in [0.1, 1.1, 2.1] {
            _ = try await generator.image(at: MediaTime(seconds: time, preferredTimescale: 1000))
        }
        let media = transport.requests.filter { $0.resourceClass == .segment }
        #expect(media.map { $0.byteRange != nil } == [true, false, false, false])
    }

    @Test("L02: a segment without parameter sets uses the first segment's", arguments: [false, true])
    func parameterSets(_ isExact: Bool) async throws {
        let first = try SampleImages.fixture("ts-h264-aac.ts")
        var second = first
        // Turns the parameter sets into units of type 24, which decoders ignore.
        for at in second.indices.dropLast(4) where second[at...].starts(with: [0, 0, 1]) {
            if [7, 8].contains(second[at + 3] & 0x1f) { second[at + 3] = second[at + 3] & 0xe0 | 24 }
        }
        #expect(second != first)
        let text =
            "#EXTM3U\n#EXT-X-TARGETDURATION:1\n#EXTINF:1,\n0.ts\n#EXTINF:1,\n1.ts\n#EXT-X-ENDLIST\n"
        let table = [
            Self.playlist: Array(text.utf8), SampleImages.base + "0.ts": first, SampleImages.base + "1.ts": second,
        ]
        let generator = SampleImages.generator(TableTransport(table), url: Self.playlist)
        let expected = try await generator.image(at: .zero).image
        if isExact { generator.setExact() }
        let results = await generator.collect(.seconds(1.1))
        #expect(results.first?.error == nil)
        if !isExact {
            let isSame = results.first?.image == expected
            #expect(isSame)
        }
    }

    @Test(
        "L02: an image is rotated by the track header on request",
        arguments: 1...3)
    func rotation(_ quarters: Int) async throws {
        let bytes = try SampleImages.turned(SampleImages.fixture("mp4/progressive.mp4"), byQuarters: quarters)
        let url = SampleImages.base + "a.mp4"
        let generator = SampleImages.generator(TableTransport([url: bytes]), url: url)
        let plain = try await generator.image(at: .zero).image
        generator.appliesPreferredTrackTransform = true
        let turned = try await generator.image(at: .zero).image
        let isTurned = turned == plain.turned(byQuarters: quarters)
        #expect(isTurned)
        #expect((turned.width == plain.height) == (quarters != 2))
        generator.maximumSize = PixelSize(width: 20, height: 0)
        #expect(try await generator.image(at: .zero).image.width == 20)
    }
}
