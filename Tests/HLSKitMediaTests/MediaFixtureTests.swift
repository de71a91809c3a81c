import HLSKitMedia
import Testing

/// What holds for every demuxer and every file.
@Suite struct MediaFixtureTests {
    static let fixtures = MediaFixture.transportStreams + MediaFixture.packedAudio

    @Test("J01: samples are those of the checked-in text", arguments: fixtures)
    func golden(_ fixture: MediaFixture) throws {
        let trace = fixture.trace(try fixture.bytes)
        #expect(try trace.text == fixture.golden(trace))
        #expect(trace.error == nil)
    }

    @Test("events do not depend on how the bytes are cut", arguments: fixtures)
    func anyChunking(_ fixture: MediaFixture) throws {
        let bytes = try fixture.bytes
        let whole = fixture.trace(bytes)
        for sizes in [[1], [2, 3], [187], [188], [189], [4096]] {
            #expect(fixture.trace(bytes, pieces: sizes) == whole)
        }
        var generator = SeededGenerator(seed: 1)
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
                // All but the last one of each track, which may be cut, are as in the whole file.
                let (part, all) = (trace.samples(of: id), whole.samples(of: id))
                for (a, b) in zip(part.dropLast(), all) { #expect(a.bytes == b.bytes && a.pts == b.pts) }
            }
        }
    }

    @Test("flipped bytes never trap", arguments: fixtures)
    func corruption(_ fixture: MediaFixture) throws {
        let bytes = try fixture.bytes
        var generator = SeededGenerator(seed: 42)
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

    @Test("the probe knows the file from its first bytes, however they come", arguments: fixtures)
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
