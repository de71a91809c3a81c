import HLSKitMedia
import HLSKitTime
import Testing

@Suite struct MP4RobustnessTests {
    @Test("single bytes give the same events", arguments: MP4Fixture.all)
    func oneByteAtATime(name: String) throws {
        let bytes = try MP4Fixture.bytes(name)
        #expect(MP4Fixture.demux(bytes, of: name, pieceSize: { 1 }).dump == MP4Fixture.demux(bytes, of: name).dump)
    }

    @Test("random pieces give the same events", arguments: MP4Fixture.all)
    func randomPieces(name: String) throws {
        let bytes = try MP4Fixture.bytes(name)
        let whole = MP4Fixture.demux(bytes, of: name).dump
        for seed in 0..<20 {
            var generator = SplitMix64(seed: UInt64(seed))
            let largest = [3, 40, 500, 3000][seed % 4]
            let pieces = MP4Fixture.demux(bytes, of: name) { Int.random(in: 1...largest, using: &generator) }
            #expect(pieces.dump == whole, "seed \(seed)")
        }
    }

    @Test("large samples in small and large pieces keep their bytes", arguments: [1, 700, 1023, 1024, 5000, 65_536])
    func largeSamples(pieceSize: Int) throws {
        let bytes = BoxWriter.header() + BoxWriter.fragment(sizes: [100_000, 3, 70_000])
        let demuxed = Demuxed(bytes, by: FragmentedMP4Demuxer(initialization: nil), pieceSize: { pieceSize })
        #expect(demuxed.error == nil)
        #expect(demuxed.samples.map(\.data.count) == [100_000, 3, 70_000])
        for (number, sample) in demuxed.samples.enumerated() {
            #expect(sample.data.bytes.allSatisfy { $0 == number })
        }
    }

    @Test("slices of one large buffer give the same events")
    func slicesOfABuffer() throws {
        let bytes = try MP4Fixture.bytes("avc-aac")
        var demuxer = FragmentedMP4Demuxer(initialization: nil)
        var demuxed = Demuxed([], by: demuxer)
        demuxed.error = nil
        for start in stride(from: 0, to: bytes.count, by: 777) {
            try demuxer.append(bytes[start..<min(start + 777, bytes.count)], to: &demuxed.events)
        }
        try demuxer.finish(to: &demuxed.events)
        #expect(demuxed.dump == MP4Fixture.demux(bytes, of: "avc-aac").dump)
    }

    @Test(
        "a truncated file gives its first samples, and an error unless cut between fragments",
        arguments: MP4Fixture.all)
    func truncation(name: String) throws {
        let bytes = try MP4Fixture.bytes(name)
        let whole = MP4Fixture.demux(bytes, of: name)
        let expected = whole.samples.map { [$0.pts, $0.dts, Int64($0.data.count)] }
        for length in stride(from: 0, to: bytes.count, by: 23) {
            let cut = MP4Fixture.demux(Array(bytes[..<length]), of: name)
            #expect(
                cut.samples.map { [$0.pts, $0.dts, Int64($0.data.count)] } == Array(expected.prefix(cut.samples.count)))
            if let error = cut.error {
                #expect(error.code == .truncated, "\(length): \(error)")
                #expect(error.byteOffset == length, "\(length): \(error)")
            }
            let isBetweenBoxes = cut.error == nil
            #expect(!isBetweenBoxes || length == 0 || boxEnds(bytes).contains(length), "cut at \(length)")
        }
    }

    private func boxEnds(_ bytes: [UInt8]) -> Set<Int> {
        var ends: Set<Int> = []
        var offset = 0
        while offset + 8 <= bytes.count {
            offset += bytes[offset..<offset + 4].reduce(0) { $0 << 8 | Int($1) }
            ends.insert(offset)
        }
        return ends
    }

    @Test("corrupted files give samples or an error, never a trap", arguments: MP4Fixture.all)
    func corruption(name: String) throws {
        let original = try MP4Fixture.bytes(name)
        // 5,344 rounds with 16 files. More than half of the damage hits the boxes at the start, where it matters most.
        for seed in 0..<334 {
            var generator = SplitMix64(seed: UInt64(seed))
            var bytes = original
            for _ in 0..<Int.random(in: 1...12, using: &generator) {
                let range = Bool.random(using: &generator) ? 0..<min(1500, bytes.count) : 0..<bytes.count
                let index = Int.random(in: range, using: &generator)
                switch Int.random(in: 0..<4, using: &generator) {
                case 0: bytes[index] = .random(in: 0...255, using: &generator)
                case 1: bytes[index] ^= 1 << UInt8.random(in: 0..<8, using: &generator)
                case 2: bytes.replaceSubrange(index..<min(index + 4, bytes.count), with: [0xFF, 0xFF, 0xFF, 0xFF])
                default: bytes.replaceSubrange(index..<min(index + 4, bytes.count), with: [0, 0, 0, 0])
                }
            }
            let demuxed = MP4Fixture.demux(bytes, of: name) { Int.random(in: 1...4000, using: &generator) }
            // Samples do not share bytes of the file.
            #expect(demuxed.samples.reduce(0) { $0 + $1.data.count } <= bytes.count)
            _ = try? MP4InitializationSection(parsing: bytes[...])
        }
    }

    @Test("after an error the demuxer repeats it and outputs nothing more")
    func staysFailed() throws {
        var demuxer = FragmentedMP4Demuxer(initialization: nil)
        var events: [DemuxerEvent] = []
        let first = #expect(throws: MediaError.self) {
            try demuxer.append(Array("<!DOCTYPE html>".utf8)[...], to: &events)
        }
        let second = #expect(throws: MediaError.self) { try demuxer.append(BoxWriter.header()[...], to: &events) }
        let third = #expect(throws: MediaError.self) { try demuxer.finish(to: &events) }
        #expect(first?.code == .unknownContainer)
        #expect(first == second)
        #expect(first == third)
        #expect(events.isEmpty)
    }
}
