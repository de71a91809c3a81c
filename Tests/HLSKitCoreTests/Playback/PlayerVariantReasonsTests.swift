import Foundation
import HLSKitLoading
import HLSKitPlayback
import HLSKitPlaylist
import HLSKitSelection
import TestSupport
import Testing

@Suite("Reasons against a variant", .timeLimit(.minutes(10)))
struct PlayerVariantReasonsTests {
    @Test("A13: an item names every limit that a variant currently exceeds")
    func limits() throws {
        let bench = try VirtualBench(quality: nil)
        let text = [UInt8](try Data(contentsOf: URL(fileURLWithPath: "\(SampleMedia.folder)/master.m3u8")))
        guard case .multivariant(let playlist) = try Playlist(parsing: text, url: "http://sample/master.m3u8") else {
            Issue.record("no multivariant playlist")
            return
        }
        // 180, 360 and 540 rows; 127, 222 and 386 kbit/s.
        let variants = AssetVariant.list(of: playlist)
        @Sendable func reasons(_ item: PlayerItem) -> [[IneligibilityReason]] {
            variants.map { item.ineligibilityReasons(for: $0) }
        }
        #expect(reasons(bench.item) == [[], [], []])
        let results = try bench.play { bench in
            try await bench.pass(.seconds(1))
            let free = reasons(bench.item)
            bench.item.preferredPeakBitRate = 200_000
            bench.item.preferredMaximumResolution = PixelSize(width: 640, height: 360)
            return (free, reasons(bench.item))
        }
        #expect(results.0 == [[], [], []])
        #expect(results.1 == [[], [.peakBitRate], [.peakBitRate, .maximumResolution]])
    }
}
