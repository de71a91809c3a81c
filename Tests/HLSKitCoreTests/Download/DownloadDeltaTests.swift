import HLSKitSimulation
import HLSPlaylist
import TestSupport
import Testing

@testable import HLSKitCore

@Suite("delta updates of a download", .timeLimit(.minutes(1)))
struct DownloadDeltaTests {
    enum Server: Sendable, CaseIterable {
        case skips, ignores, refuses, confuses, fails
    }

    private static let url = "https://host/live.m3u8?a=1"
    private static let count = 14
    /// Three packets.
    private static let media: [UInt8] = (0..<3 * 188).map { $0 % 188 == 0 ? 0x47 : 0 }

    /// Segments of four seconds, ten at first.
    private static func list(at time: Duration, skipping: Bool) -> [UInt8] {
        let listed = min(count, 10 + Int(time / .seconds(4)))
        var text = "#EXTM3U\n#EXT-X-VERSION:9\n#EXT-X-TARGETDURATION:4\n#EXT-X-MEDIA-SEQUENCE:0\n"
        text += "#EXT-X-SERVER-CONTROL:CAN-SKIP-UNTIL=24\n"
        let first = skipping ? listed - 6 : 0
        if skipping { text += "#EXT-X-SKIP:SKIPPED-SEGMENTS=\(first)\n" }
        for number in first..<listed { text += "#EXTINF:4,\n\(number).ts\n" }
        return Array((text + (listed == count ? "#EXT-X-ENDLIST\n" : "")).utf8)
    }

    @Test(
        "C10: a live list is loaded again without what is known, and as a whole from then on where that brings nothing",
        arguments: Server.allCases)
    func reloads(server: Server) throws {
        let clock = VirtualClock()
        let folder = try ScratchFolder()
        let link = NetworkTrace(constant: LinkConditions(bitsPerSecond: 20_000_000, latency: .milliseconds(20)))
        let asked = Recorder<String>()
        let transport = SimulatedTransport(over: link, clock: clock) { request in
            asked.append(request.urlString, at: clock.now.offset)
            guard request.urlString.contains("live.m3u8") else { return SimulatedResponse(body: Self.media) }
            let skips = request.urlString.hasSuffix("_HLS_skip=YES")
            switch server {
            case .refuses where skips: return SimulatedResponse(status: 400)
            case .fails where skips: return SimulatedResponse(status: 503)
            case .confuses where skips:
                let text = "#EXTM3U\n#EXT-X-VERSION:9\n#EXT-X-TARGETDURATION:4\n#EXT-X-SKIP:SKIPPED-SEGMENTS=1000\n"
                return SimulatedResponse(body: Array((text + "#EXTINF:4,\n12.ts\n").utf8))
            default:
                return SimulatedResponse(body: Self.list(at: clock.now.offset, skipping: skips && server == .skips))
            }
        }
        var options = AssetOptions(clock: clock, transport: transport)
        options.seed = 1
        let configuration = DownloadConfiguration(urlString: Self.url, loading: options)
        let result = try clock.run {
            try await DownloadTask(configuration, folder: folder.path + "/d").run()
        }
        #expect(result.failure == nil && result.gaps.isEmpty, "\(result)")
        #expect(result.segmentCount == Self.count)

        let lists = asked.elements.filter { $0.contains("live.m3u8") }
        let skipping = lists.filter { $0 == Self.url + "&_HLS_skip=YES" }
        #expect(lists.first == Self.url)
        #expect(lists.allSatisfy { $0 == Self.url || $0 == Self.url + "&_HLS_skip=YES" })
        switch server {
        case .skips, .ignores: #expect(skipping.count >= 3 && lists.count == skipping.count + 1)
        case .refuses, .confuses, .fails: #expect(skipping.count == 1 && lists.count > 3)
        }
        // Every segment once.
        let segments = asked.elements.filter { $0.hasSuffix(".ts") }
        #expect(segments.sorted() == (0..<Self.count).map { "https://host/\($0).ts" }.sorted())
    }
}
