import Foundation
import HLSKitEngine
import HLSKitLoading
import HLSKitMedia
import HLSKitPlayback
import HLSKitTime
import TestSupport
import Testing

@Suite("Items without playable media", .timeLimit(.minutes(10)))
struct EmptyItemTests {
    private func play(_ segment: [UInt8], count: Int) throws -> VirtualSample {
        var text = "#EXTM3U\n#EXT-X-TARGETDURATION:2\n"
        for _ in 0..<count { text += "#EXTINF:1.2,\na.ts\n" }
        let sample = try VirtualSample(
            quality: nil, path: "a.m3u8", files: ["a.m3u8": Array((text + "#EXT-X-ENDLIST\n").utf8), "a.ts": segment]
        ) { $0.decodesWithoutOutput = [.video, .audio] }
        try sample.play()
        return sample
    }

    private func stream(type: UInt8, _ payload: [UInt8]) -> [UInt8] {
        var writer = TransportStreamWriter(streams: [.init(pid: 256, type: type)])
        writer.add(.init(pid: 256, streamID: 0xbd, pts: 90_000, payload: payload, hasLength: true))
        return writer.bytes
    }

    @Test("a stream without a known kind of media fails at its end or after three segments", arguments: [1, 8])
    func unknownKinds(count: Int) throws {
        let sample = try play(stream(type: 0xea, [UInt8](repeating: 7, count: 400)), count: count)
        let error = try #require(sample.item.error)
        #expect(error.code == .badMedia, "\(error)")
        let kinds = sample.events.elements.map(\.kind)
        #expect(!sample.hasPlayedToEnd)
        let loads = kinds.count { if case .segmentLoaded = $0 { true } else { false } }
        #expect(loads <= 4, "who knows after three segments loads no more of them")
    }

    @Test("encrypted audio without a key fails with that reason")
    func locked() throws {
        let file = Array(try Data(contentsOf: URL(fileURLWithPath: SampleMedia.fixtures + "/media/packed.aac")))
        let first = try #require(
            file.indices.first { $0 + 1 < file.count && file[$0] == 0xFF && file[$0 + 1] & 0xF6 == 0xF0 })
        // AAC with sample encryption has a separate stream type in transport streams.
        let sample = try play(stream(type: 0xcf, Array(file[first...].prefix(4000))), count: 1)
        let error = try #require(sample.item.error)
        #expect(error.code == .badMedia || error.code == .contentKey)
        #expect("\(error)".contains("encrypted"), "\(error)")
        #expect(!sample.hasPlayedToEnd)
    }
}

extension VirtualSample {
    fileprivate var hasPlayedToEnd: Bool {
        events.elements.contains { if case .didPlayToEnd = $0.kind { true } else { false } }
    }
}
