import HLSKitCodec
import HLSKitMedia
import TestSupport
import Testing

@testable import HLSKitPlayback

@Suite struct GaplessTrimmerTests {
    struct Case: CustomStringConvertible, Sendable {
        var info: GaplessInfo?
        var kept: [Range<Int>]
        var description: String { "\(String(describing: info))" }
    }

    @Test(
        "padding is removed and everything else kept, however the samples are cut",
        arguments: [
            Case(info: nil, kept: [0..<100]),
            Case(info: GaplessInfo(leadingSampleCount: 0), kept: [0..<100]),
            Case(info: GaplessInfo(leadingSampleCount: 7), kept: [7..<100]),
            Case(
                info: GaplessInfo(leadingSampleCount: 7, validSampleCount: 20, trailingSampleCount: 5),
                kept: [7..<27, 32..<100]),
            Case(
                info: GaplessInfo(leadingSampleCount: 10, validSampleCount: 80, trailingSampleCount: 30),
                kept: [10..<90]),
            Case(info: GaplessInfo(leadingSampleCount: 1000), kept: []),
        ])
    func parts(_ test: Case) {
        let expected = test.kept.flatMap { Array($0) }
        for size in [1, 3, 10, 33, 100] {
            var trimmer = GaplessTrimmer(test.info)
            var found: [Int] = []
            for start in stride(from: 0, to: 100, by: size) {
                for part in trimmer.parts(ofNext: min(size, 100 - start)) { found += part.map { $0 + start } }
            }
            #expect(found == expected, "pieces of \(size)")
        }
    }

    @Test("a trimmed buffer shares the samples and begins later", arguments: ["ac3", "flac"])
    func trimmedBuffer(name: String) throws {
        let buffer = try #require(try PacketFixture(name).audio().first)
        let trimmed = try buffer.trimmed(leading: 100, trailing: 30)
        #expect(trimmed.frameCount == buffer.frameCount - 130)
        #expect(trimmed.sampleRate == buffer.sampleRate && trimmed.channelCount == buffer.channelCount)
        let shift = (100 * Int64(buffer.timescale) + Int64(buffer.sampleRate) / 2) / Int64(buffer.sampleRate)
        #expect(trimmed.pts == buffer.pts + shift)
        let all = try buffer.interleavedSamples(as: .float32)
        let stride = 4 * buffer.channelCount
        #expect(
            try trimmed.interleavedSamples(as: .float32) == Array(all.dropFirst(100 * stride).dropLast(30 * stride)))
        let addresses = buffer.withPlanes { $0.map { Int(bitPattern: $0.baseAddress) } }
        let later = trimmed.withPlanes { $0.map { Int(bitPattern: $0.baseAddress) } }
        let step = buffer.withPlanes { $0[0].count } / buffer.frameCount
        #expect(later == addresses.map { $0 + 100 * step })
    }
}
