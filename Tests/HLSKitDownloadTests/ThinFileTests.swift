import Testing

@testable import HLSKitDownload

@Suite("Thin files")
struct ThinFileTests {
    private let library = PatchLibrary.installed

    private func noise(_ count: Int, seed: UInt64) -> [UInt8] {
        var state = seed
        return (0..<count).map { _ in
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return UInt8(truncatingIfNeeded: state >> 33)
        }
    }

    private func patch(_ bytes: [UInt8], from reference: [UInt8]) throws -> [UInt8] {
        let library = try #require(library)
        return try #require(
            bytes.withUnsafeBytes { bytes in reference.withUnsafeBytes { library.patch(bytes, from: $0) } })
    }

    private func bytes(_ patch: [UInt8], from reference: [UInt8], _ count: Int) throws -> [UInt8]? {
        let library = try #require(library)
        return patch.withUnsafeBytes { patch in
            reference.withUnsafeBytes { library.bytes(patch, from: $0, byteCount: count) }
        }
    }

    @Test("packetised media shrinks to a twentieth relative to its payload")
    func packets() throws {
        let media = noise(400_000, seed: 1)
        var packets: [UInt8] = []
        for start in stride(from: 0, to: media.count, by: 184) {
            packets += [0x47, 0x01, 0x00, UInt8(0x10 + start / 184 % 16)]
            packets += media[start..<min(start + 184, media.count)]
        }
        let reference = noise(300_000, seed: 2) + media + noise(300_000, seed: 3)
        let patch = try patch(packets, from: reference)
        #expect(patch.count < packets.count / 20, "\(patch.count) of \(packets.count)")
        #expect(try bytes(patch, from: reference, packets.count) == packets)
    }

    @Test("media unlike its reference is stored whole; empty media stays empty")
    func nothing() throws {
        let media = noise(10_000, seed: 4)
        for reference in [[], noise(1, seed: 5), noise(5_000, seed: 6)] {
            #expect(try bytes(patch(media, from: reference), from: reference, media.count) == media)
        }
        #expect(try bytes(patch([], from: media), from: media, 0) == [])
    }

    @Test("a wrong reference, wrong length, truncation or change is detected")
    func damage() throws {
        let media = noise(50_000, seed: 7)
        let reference = noise(1_000, seed: 8) + media
        let patch = try patch(media, from: reference)
        var other = reference
        other[20_000] ^= 1
        #expect(try bytes(patch, from: other, media.count) == nil)
        #expect(try bytes(patch, from: [], media.count) == nil)
        #expect(try bytes(patch, from: reference, media.count - 1) == nil)
        #expect(try bytes(patch, from: reference, media.count + 1) == nil)
        for count in [0, 1, 4, patch.count / 2, patch.count - 1] {
            #expect(try bytes(Array(patch[..<count]), from: reference, media.count) == nil, "\(count)")
        }
        for index in patch.indices.prefix(40) {
            var changed = patch
            changed[index] ^= 0x55
            let found = try bytes(changed, from: reference, media.count)
            #expect(found == nil || found == media, "\(index)")
        }
    }

    @Test("a thin file names its reference, and reads back unchanged")
    func file() throws {
        let reference = ThinFile.Reference(output: "output-2.mp4", range: 7..<900, byteCount: 12)
        let file = ThinFile(reference: reference, patch: [0x0A, 1, 2, 0])
        #expect(ThinFile(parsing: file.bytes) == file)
        #expect(ThinFile(parsing: ThinFile(reference: reference, patch: []).bytes)?.patch == [])
    }

    @Test(
        "malformed thin files are rejected",
        arguments: [
            "", "\n", "hlskit-thin output.mp4 0 1 1", "hlskit-thin output.mp4 0 1\n",
            "hlskit-thin output.mp4 0 1 1 1\n",
            "other output.mp4 0 1 1\n", "hlskit-thin /etc/passwd 0 1 1\n", "hlskit-thin output.x/../../a 0 1 1\n",
            "hlskit-thin main-1 0 1 1\n", "hlskit-thin output.mp4 -1 1 1\n", "hlskit-thin output.mp4 2 1 1\n",
            "hlskit-thin output.mp4 0 9999999999999 1\n", "hlskit-thin output.mp4 0 99999999999999999999 1\n",
            "hlskit-thin output.mp4 0 1 0\n", "hlskit-thin output.mp4 0 1 999999999999\n",
            "hlskit-thin output.mp4 a b c\n",
        ])
    func bad(_ text: String) {
        #expect(ThinFile(parsing: Array(text.utf8)) == nil)
    }
}
