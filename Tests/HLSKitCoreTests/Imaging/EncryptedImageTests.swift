import HLSKitAsset
import HLSKitCodec
import HLSKitImaging
import HLSKitLoading
import HLSKitMedia
import HLSKitTime
import TestSupport
import Testing

@Suite("Images of encrypted streams", .timeLimit(.minutes(10)), .enabled(if: Tool.exists("/usr/bin/openssl")))
struct EncryptedImageTests {
    private static let playlist = SampleImages.base + "list.m3u8"

    private struct Provider: KeyProvider {
        var keyFormats: Set<String> { ["com.example"] }
        func key(for request: ContentKeyRequest) async throws -> ContentKey? {
            request.urlString == "skd://asset" ? ContentKey(CommonEncryption.key) : nil
        }
    }

    @Test("N04: images are made with the app's keys, and with a key override", arguments: [true, false])
    func ownKeys(isByHand: Bool) async throws {
        let rendition = try SampleMedia.rendition("video-180p")
        let header = rendition.initializationSection
        let table = [
            Self.playlist: Array(
                """
                #EXTM3U
                #EXT-X-TARGETDURATION:4
                #EXT-X-MAP:URI="init.mp4"
                #EXT-X-KEY:METHOD=SAMPLE-AES,URI="skd://asset",KEYFORMAT="com.example"
                #EXTINF:4,
                0.m4s
                #EXT-X-ENDLIST

                """.utf8),
            SampleImages.base + "init.mp4": try CommonEncryption.protected(header, scheme: "cbcs", pattern: 0x19),
            SampleImages.base + "0.m4s": try CommonEncryption.encrypted(rendition.segments[0], header, isCBC: true),
        ]
        var options = AssetOptions.table(TableTransport(table))
        if isByHand {
            options.hooks.keyOverride = ContentKeyOverride(key: CommonEncryption.key)
        } else {
            options.hooks.keyProviders = [Provider()]
        }
        let generator = ImageGenerator(asset: Asset(urlString: Self.playlist, options: options))
        let result = try await generator.image(at: MediaTime(seconds: 1, preferredTimescale: 1000))
        #expect(try result.image == StillImage(SampleImages.frames(of: "180p")[0]))
    }

    @Test(
        "R51: a wrong key is reported as in playback: an override with the segment, others with the key",
        arguments: [true, false])
    func unfitKey(isByHand: Bool) async throws {
        let key: [UInt8] = Array(1...16)
        let table = [
            Self.playlist: Array(
                """
                #EXTM3U
                #EXT-X-TARGETDURATION:4
                #EXT-X-KEY:METHOD=AES-128,URI="key.bin"
                #EXTINF:4,
                0.ts
                #EXT-X-ENDLIST

                """.utf8),
            SampleImages.base + "key.bin": key,
            SampleImages.base + "0.ts": (0..<32_000).map { UInt8(truncatingIfNeeded: ($0 &* 2_654_435_761) >> 16) },
        ]
        var options = AssetOptions.table(TableTransport(table))
        if isByHand { options.hooks.keyOverride = ContentKeyOverride(key: key) }
        let generator = ImageGenerator(asset: Asset(urlString: Self.playlist, options: options))
        let error = await #expect(throws: HLSError.self) {
            _ = try await generator.image(at: MediaTime(seconds: 1, preferredTimescale: 1000))
        }
        #expect(error?.code == .contentKey)
        #expect(
            error?.cause
                == (isByHand ? "the override key does not decrypt the segment" : "the key does not decrypt the segment")
        )
        #expect(error?.urlString == SampleImages.base + (isByHand ? "0.ts" : "key.bin"))
    }

    @Test("L01: images of cbcs and cenc streams equal the clear stream's", arguments: ["cbcs", "cenc"])
    func images(_ scheme: String) async throws {
        let rendition = try SampleMedia.rendition("video-180p")
        let header = rendition.initializationSection
        var table = [SampleImages.base + "key.bin": CommonEncryption.key]
        table[SampleImages.base + "init.mp4"] = try CommonEncryption.protected(
            header, scheme: scheme, pattern: scheme == "cbcs" ? 0x19 : 0)
        var text = "#EXTM3U\n#EXT-X-VERSION:7\n#EXT-X-TARGETDURATION:4\n#EXT-X-MAP:URI=\"init.mp4\"\n"
        text += "#EXT-X-KEY:METHOD=SAMPLE-AES\(scheme == "cenc" ? "-CTR" : ""),URI=\"key.bin\"\n"
        for (index, segment) in rendition.segments.prefix(2).enumerated() {
            let cipher = try CommonEncryption.encrypted(segment, header, isCBC: scheme == "cbcs")
            #expect(cipher != segment)
            table[SampleImages.base + "\(index).m4s"] = cipher
            text += "#EXTINF:4,\n\(index).m4s\n"
        }
        table[Self.playlist] = Array((text + "#EXT-X-ENDLIST\n").utf8)
        let frames = try SampleImages.frames(of: "180p")
        let generator = SampleImages.generator(TableTransport(table), url: Self.playlist)
        for (time, frame) in [(0.0, 0), (4, 100)] {
            let result = try await generator.image(at: MediaTime(seconds: time + 1, preferredTimescale: 1000))
            #expect(result.actualTime.seconds == time)
            #expect(try result.image == StillImage(frames[frame]))
        }
        generator.setExact()
        for (time, frame) in [(1.0, 25), (5.5, 137)] {
            let result = try await generator.image(at: MediaTime(seconds: time, preferredTimescale: 1000))
            #expect(try result.image == StillImage(frames[frame]))
        }
    }
}
