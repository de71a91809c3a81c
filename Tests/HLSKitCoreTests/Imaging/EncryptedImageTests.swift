import HLSMedia
import TestSupport
import Testing

@testable import HLSKitCore

/// Images of streams whose samples are encrypted one by one.
@Suite("images of encrypted streams", .timeLimit(.minutes(1)), .enabled(if: Tool.exists("/usr/bin/openssl")))
struct EncryptedImageTests {
    private static let playlist = SampleImages.base + "list.m3u8"
    private static let key = "00112233445566778899aabbccddeeff"
    private static let vector = "0f0e0d0c0b0a09080706050403020100"

    private static func bytes(_ hex: String) -> [UInt8] {
        stride(from: 0, to: hex.count, by: 2).map { at in
            let start = hex.index(hex.startIndex, offsetBy: at)
            return UInt8(hex[start...hex.index(after: start)], radix: 16) ?? 0
        }
    }

    private static func box(_ name: String, _ payload: [UInt8]) -> [UInt8] {
        let size = payload.count + 8
        return [UInt8(size >> 24), UInt8(size >> 16 & 255), UInt8(size >> 8 & 255), UInt8(size & 255)]
            + Array(name.utf8) + payload
    }

    private static func place(of name: String, in bytes: [UInt8]) throws -> Int {
        try #require(bytes.indices.dropLast(3).first { bytes[$0..<$0 + 4].elementsEqual(name.utf8) })
    }

    /// The header with its video track said to be encrypted by a constant vector.
    private static func protected(_ header: [UInt8], scheme: String, pattern: UInt8) throws -> [UInt8] {
        let tenc: [UInt8] = [1, 0, 0, 0, 0, pattern, 1, 0] + [UInt8](repeating: 7, count: 16) + [16] + bytes(vector)
        let sinf = box(
            "sinf",
            box("frma", Array("avc1".utf8)) + box("schm", [0, 0, 0, 0] + Array(scheme.utf8) + [0, 1, 0, 0])
                + box("schi", box("tenc", tenc)))
        var result = header
        var entryEnd = 0
        for name in ["moov", "trak", "mdia", "minf", "stbl", "stsd", "avc1"] {
            let at = try place(of: name, in: result) - 4
            let size = result[at..<at + 4].reduce(0) { $0 << 8 | Int($1) }
            if name == "avc1" { entryEnd = at + size }
            let new = size + sinf.count
            result.replaceSubrange(at..<at + 4, with: (0..<4).map { UInt8(new >> (24 - 8 * $0) & 255) })
        }
        let entry = try place(of: "avc1", in: result)
        result.replaceSubrange(entry..<entry + 4, with: "encv".utf8)
        result.insert(contentsOf: sinf, at: entryEnd)
        return result
    }

    /// The segment with each sample encrypted in its place: by CTR as a whole, or by CBC, one block in ten.
    private static func encrypted(_ segment: [UInt8], _ header: [UInt8], isCBC: Bool) throws -> [UInt8] {
        var demuxer = FragmentedMP4Demuxer(initialization: try MP4InitializationSection(parsing: header[...]))
        var events: [DemuxerEvent] = []
        try demuxer.append(segment[...], to: &events)
        var result = segment
        var at = try place(of: "mdat", in: segment) + 4
        for case .sample(let sample) in events {
            let range = at..<at + sample.data.count
            at = range.upperBound
            if isCBC {
                let starts = stride(from: range.lowerBound, to: range.upperBound - 15, by: 160)
                let blocks = starts.flatMap { Array(segment[$0..<$0 + 16]) }
                guard !blocks.isEmpty else { continue }
                let cipher = try openssl("-aes-128-cbc", blocks)
                for (number, start) in starts.enumerated() {
                    result.replaceSubrange(start..<start + 16, with: cipher[number * 16..<number * 16 + 16])
                }
            } else {
                result.replaceSubrange(range, with: try openssl("-aes-128-ctr", Array(segment[range])))
            }
        }
        return result
    }

    private static func openssl(_ cipher: String, _ bytes: [UInt8]) throws -> [UInt8] {
        try Tool.run(["openssl", "enc", cipher, "-nopad", "-K", key, "-iv", vector], input: bytes)
    }

    private struct Provider: KeyProvider {
        var keyFormats: Set<String> { ["com.example"] }
        func key(for request: ContentKeyRequest) async throws -> ContentKey? {
            request.urlString == "skd://asset" ? ContentKey(EncryptedImageTests.bytes(EncryptedImageTests.key)) : nil
        }
    }

    @Test("N04: images are made with the keys of the program, and with a key by hand", arguments: [true, false])
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
            SampleImages.base + "init.mp4": try Self.protected(header, scheme: "cbcs", pattern: 0x19),
            SampleImages.base + "0.m4s": try Self.encrypted(rendition.segments[0], header, isCBC: true),
        ]
        var options = AssetOptions.table(TableTransport(table))
        if isByHand {
            options.hooks.keyOverride = ContentKeyOverride(key: Self.bytes(Self.key))
        } else {
            options.hooks.keyProviders = [Provider()]
        }
        let generator = ImageGenerator(asset: Asset(urlString: Self.playlist, options: options))
        let result = try await generator.image(at: MediaTime(seconds: 1, preferredTimescale: 1000))
        #expect(try result.image == Image(SampleImages.frames(of: "180p")[0]))
    }

    @Test("L01: images of cbcs and cenc are those of the clear stream", arguments: ["cbcs", "cenc"])
    func images(_ scheme: String) async throws {
        let rendition = try SampleMedia.rendition("video-180p")
        let header = rendition.initializationSection
        var table = [SampleImages.base + "key.bin": Self.bytes(Self.key)]
        table[SampleImages.base + "init.mp4"] = try Self.protected(
            header, scheme: scheme, pattern: scheme == "cbcs" ? 0x19 : 0)
        var text = "#EXTM3U\n#EXT-X-VERSION:7\n#EXT-X-TARGETDURATION:4\n#EXT-X-MAP:URI=\"init.mp4\"\n"
        text += "#EXT-X-KEY:METHOD=SAMPLE-AES\(scheme == "cenc" ? "-CTR" : ""),URI=\"key.bin\"\n"
        for (index, segment) in rendition.segments.prefix(2).enumerated() {
            let cipher = try Self.encrypted(segment, header, isCBC: scheme == "cbcs")
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
            #expect(try result.image == Image(frames[frame]))
        }
        generator.setExact()
        for (time, frame) in [(1.0, 25), (5.5, 137)] {
            let result = try await generator.image(at: MediaTime(seconds: time, preferredTimescale: 1000))
            #expect(try result.image == Image(frames[frame]))
        }
    }
}
