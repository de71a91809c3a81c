import HLSKitMedia
import HLSKitTime
import Testing

@Suite struct MediaFixtureTests {
    static let fixtures = MediaFixture.transportStreams + MediaFixture.packedAudio

    @Test("J01: samples equal the checked-in text", arguments: fixtures)
    func golden(_ fixture: MediaFixture) throws {
        let trace = fixture.trace(try fixture.bytes)
        #expect(try trace.text == fixture.golden(trace))
        #expect(trace.error == nil)
    }

    @Test("events do not depend on how the bytes are split", arguments: fixtures)
    func anyChunking(_ fixture: MediaFixture) throws {
        let bytes = try fixture.bytes
        let whole = fixture.trace(bytes)
        for sizes in [[1], [2, 3], [187], [188], [189], [4096]] {
            #expect(fixture.trace(bytes, pieces: sizes) == whole)
        }
        var generator = SplitMix64(seed: 1)
        for _ in 0..<10 {
            let sizes = (0..<97).map { _ in Int.random(in: 1...700, using: &generator) }
            #expect(fixture.trace(bytes, pieces: sizes) == whole)
        }
    }

    @Test("a file that ends anywhere gives the samples before the end", arguments: fixtures)
    func truncation(_ fixture: MediaFixture) throws {
        let bytes = try fixture.bytes
        let whole = fixture.trace(bytes)
        for end in stride(from: 0, to: bytes.count, by: 7) {
            let trace = fixture.trace(Array(bytes.prefix(end)))
            #expect(trace.samples.count <= whole.samples.count)
            #expect(!trace.samples.isEmpty || trace.error != nil || !trace.notes.isEmpty || end < 1024)
            for id in Set(whole.samples.map(\.trackID)) {
                // The last sample of each track may be cut. All others equal the samples of the whole file.
                let (part, all) = (trace.samples(of: id), whole.samples(of: id))
                for (a, b) in zip(part.dropLast(), all) { #expect(a.bytes == b.bytes && a.pts == b.pts) }
            }
        }
    }

    @Test("flipped bytes never trap", arguments: fixtures)
    func corruption(_ fixture: MediaFixture) throws {
        let bytes = try fixture.bytes
        var generator = SplitMix64(seed: 42)
        for _ in 0..<500 {
            var damaged = bytes
            for _ in 0..<Int.random(in: 1...40, using: &generator) {
                damaged[Int.random(in: 0..<damaged.count, using: &generator)] = UInt8.random(
                    in: 0...255, using: &generator)
            }
            let trace = fixture.trace(damaged, pieces: [1000])
            #expect(trace.samples.reduce(0) { $0 + $1.data.count } <= bytes.count)
        }
    }

    private static func image(_ kind: String, _ count: Int) -> [UInt8] {
        let contents = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 73 >> 3) & 0x7f }
        func number(_ value: Int, isBigEndian: Bool = true) -> [UInt8] {
            let bytes = (0..<4).map { UInt8(truncatingIfNeeded: value >> (8 * (3 - $0))) }
            return isBigEndian ? bytes : bytes.reversed()
        }
        switch kind {
        case "png":
            let signature: [UInt8] = [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]
            return signature + number(count) + Array("IDAT".utf8) + contents + number(0) + number(0)
                + Array("IEND".utf8) + number(0)
        case "jpeg": return [0xff, 0xd8, 0xff, 0xe0, 0, 4, 1, 1, 0xff, 0xda, 0, 2] + contents + [0xff, 0, 0xff, 0xd9]
        case "gif":
            let blocks = stride(from: 0, to: count, by: 200).flatMap { start -> [UInt8] in
                let part = contents[start..<min(start + 200, count)]
                return [UInt8(part.count)] + part
            }
            return Array("GIF89a".utf8) + [1, 0, 1, 0, 0x80, 0, 0] + [UInt8](repeating: 9, count: 6)
                + [0x2c, 0, 0, 0, 0, 1, 0, 1, 0, 0, 2] + blocks + [0, 0x3b]
        case "bitmap":
            return Array("BM".utf8) + number(14 + count, isBigEndian: false) + [0, 0, 0, 0, 14, 0, 0, 0] + contents
        default:
            return Array("RIFF".utf8) + number(4 + count, isBigEndian: false) + Array("WEBP".utf8) + contents
        }
    }

    @Test(
        "media is found after an image of any size", arguments: ["png", "jpeg", "gif", "bitmap", "webp"],
        [10, 3000, 100_000])
    func behindImage(kind: String, count: Int) throws {
        let media = try MediaFixture(name: "ts-h264-aac.ts").bytes
        let image = Self.image(kind, count)
        var probe = ContainerProbe()
        #expect((probe.append((image + media)[...]) ?? probe.finish()) == .transportStream(packetStride: 188))
        var slow = ContainerProbe()
        var answer: ContainerProbe.Container?
        let bytes = image + media
        for start in stride(from: 0, to: bytes.count, by: 999) where answer == nil {
            answer = slow.append(bytes[start..<min(start + 999, bytes.count)])
        }
        #expect(answer == .transportStream(packetStride: 188))
        guard case .unknown? = ContainerProbe.identify(image[...], isComplete: true) else {
            Issue.record("an image alone is none")
            return
        }
        let found = DemuxerTrace(TransportStreamDemuxer(), bytes).samples.count
        #expect(found == DemuxerTrace(TransportStreamDemuxer(), media).samples.count)
    }

    @Test(
        "MP4, audio and subtitles are found after an image", arguments: ["png", "jpeg", "gif", "bitmap", "webp"],
        [10, 3000])
    func otherMediaBehindImage(kind: String, count: Int) throws {
        let media: [([UInt8], ContainerProbe.Container)] = [
            (BoxWriter.moov([BoxWriter.Track()], movieTimescale: 600), .mp4),
            (try MediaFixture(name: "packed.aac").bytes, .packedAudio),
            (Array("WEBVTT\n\n00:01.000 --> 00:02.000\nA\n".utf8), .webVTT),
        ]
        for (media, container) in media {
            var bytes = Self.image(kind, count) + media
            for step in [1, 999, bytes.count] {
                var (probe, answer) = (ContainerProbe(), ContainerProbe.Container?.none)
                for start in stride(from: 0, to: bytes.count, by: step) where answer == nil {
                    answer = probe.append(bytes[start..<min(start + step, bytes.count)])
                }
                #expect(answer ?? probe.finish() == container)
            }
            ContainerProbe.removeImage(from: &bytes, before: container)
            #expect(bytes == media)
        }
        let header = Self.image(kind, count) + media[0].0
        #expect(try MP4InitializationSection(parsing: header[...]).tracks.count == 1)
    }

    @Test("a transport stream is found after an ID3 tag of any size", arguments: [0, 63, 3000, 100_000])
    func behindTag(count: Int) throws {
        let media = try MediaFixture(name: "ts-h264-aac.ts").bytes
        let sizes = [21, 14, 7, 0].map { UInt8(truncatingIfNeeded: count >> $0 & 0x7f) }
        let tag = Array("ID3".utf8) + [4, 0, 0] + sizes + [UInt8](repeating: 0, count: count)
        let bytes = tag + media
        for step in [1, 999, bytes.count] {
            var probe = ContainerProbe()
            var answer: ContainerProbe.Container?
            for start in stride(from: 0, to: bytes.count, by: step) where answer == nil {
                answer = probe.append(bytes[start..<min(start + step, bytes.count)])
            }
            #expect(answer == .transportStream(packetStride: 188))
        }
        #expect(ContainerProbe.identify(tag[...], isComplete: true) == .packedAudio)
        let found = DemuxerTrace(TransportStreamDemuxer(), bytes).samples.count
        #expect(found == DemuxerTrace(TransportStreamDemuxer(), media).samples.count)
    }

    @Test("the probe recognises the file by its first bytes, in any pieces", arguments: fixtures)
    func probe(_ fixture: MediaFixture) throws {
        let bytes = try fixture.bytes
        let expected: ContainerProbe.Container =
            switch fixture.name {
            case "ts-192.m2ts": .transportStream(packetStride: 192)
            case let name where name.hasPrefix("ts-"): .transportStream(packetStride: 188)
            default: .packedAudio
            }
        var probe = ContainerProbe()
        #expect((probe.append(bytes[...]) ?? probe.finish()) == expected)
        var slow = ContainerProbe()
        var answer: ContainerProbe.Container?
        for index in bytes.indices where answer == nil { answer = slow.append(bytes[index...index]) }
        #expect(answer == expected)
    }
}
