import Testing

@testable import HLSKitMedia

@Suite struct SampleBufferTests {
    private static func append(_ bytes: [UInt8], to buffer: inout SampleBuffer) {
        bytes.withUnsafeBytes { buffer.append($0) }
    }

    private static func bytes(_ data: SampleData) -> [UInt8] { data.withUnsafeBytes { Array($0) } }

    private static func padding(of data: SampleData) -> [UInt8] {
        (0..<SampleData.paddingByteCount).map { (data.base + data.count + $0).load(as: UInt8.self) }
    }

    @Test("a sample has its bytes followed by zeros, and later bytes are kept", arguments: [1, 3, 184, 5000])
    func take(pieceByteCount: Int) {
        let all = (0..<200_000).map { UInt8(truncatingIfNeeded: $0 &* 7) }
        var buffer = SampleBuffer()
        var at = 0
        var expected: ArraySlice<UInt8> = []
        for size in [10, 70_000, 400, 1, 90_000, 2000] {
            while buffer.count < size + 5 {
                let piece = all[at..<min(at + pieceByteCount, all.count)]
                Self.append(Array(piece), to: &buffer)
                expected += piece
                at = piece.endIndex
            }
            let lead = size > 300 ? 3 : 0
            let sample = buffer.take(lead..<size)
            #expect(Self.bytes(sample) == Array(expected.dropFirst(lead).prefix(size - lead)))
            #expect(Self.padding(of: sample).allSatisfy { $0 == 0 })
            expected = expected.dropFirst(size)
            #expect(buffer.bytes(0..<buffer.count) == Array(expected))
        }
    }

    @Test("a copy of the buffer is independent of the original")
    func copies() {
        var buffer = SampleBuffer()
        Self.append([1, 2, 3, 4], to: &buffer)
        var other = buffer
        Self.append([5], to: &buffer)
        #expect(Self.bytes(other.take(0..<3)) == [1, 2, 3])
        #expect(buffer.bytes(0..<9) == [1, 2, 3, 4, 5])
        let third = buffer
        buffer.removeAll()
        Self.append([9], to: &buffer)
        #expect(third.bytes(0..<9) == [1, 2, 3, 4, 5])
        #expect(other.bytes(0..<9) == [4])
        #expect(buffer.bytes(0..<9) == [9])
    }

    @Test("removed bytes are released, and ranges past the end are clamped")
    func edges() {
        var buffer = SampleBuffer()
        #expect(buffer.isEmpty)
        #expect(Self.bytes(buffer.take(0..<4)) == [])
        Self.append(Array(0..<100), to: &buffer)
        buffer.removeFirst(90)
        #expect(buffer.bytes(2..<200) == Array(92..<100))
        #expect(Self.bytes(buffer.copy(0..<2)) == [90, 91])
        Self.append(Array(0..<100), to: &buffer)
        #expect(Self.bytes(buffer.take(100..<110)) == Array(90..<100))
        #expect(buffer.isEmpty)
        buffer.removeFirst(7)
        #expect(buffer.isEmpty)
    }

    @Test(
        "video bytes are copied once to the samples, and a fifth of them again if sizes vary")
    func copyCount() {
        var assembler = VideoAssembler(
            track: MediaTrack(id: 256, mediaType: .video, codec: .h264, timescale: 90_000, wrapsAt33Bits: true))
        var sink = EventSink()
        var total = 0
        for index in 0..<250 {
            let isIDR = index % 50 == 0
            let size = isIDR ? 80_000 : 4000 + index * 37 % 6000
            let unit = TinyVideo.unit(isIDR: isIDR) + [UInt8](repeating: 0xAB, count: size)
            assembler.beginPacket(pts: Int64(index) * 3600, dts: Int64(index) * 3600, isRandomAccess: isIDR)
            var rest = unit[...]
            while !rest.isEmpty {
                let piece = Array(rest.prefix(184))
                piece.withUnsafeBufferPointer { assembler.append(Span(_unsafeElements: $0), to: &sink) }
                rest = rest.dropFirst(184)
            }
            total += unit.count
        }
        assembler.finish(isDamaged: false, to: &sink)
        let samples = sink.events.compactMap { if case .sample(let sample) = $0 { sample.data.count } else { nil } }
        #expect(samples.count == 250)
        #expect(samples.reduce(0, +) == total)
        Figures.note(
            "copies of a clear byte of TS up to its sample", 1 + Double(assembler.recopiedByteCount) / Double(total))
        #expect(assembler.recopiedByteCount < total / 4)
    }
}
