import HLSKitSimulation
import HLSPlaylist
import TestSupport
import Testing

@testable import HLSKitCore

/// Live downloads from a server that can leave out of its list what is known.
@Suite("delta updates in downloads", .timeLimit(.minutes(1)))
struct DownloadDeltaTests {
    enum Server: Sendable, CaseIterable {
        case skips, ignores, refuses, fails, confuses, offersNone
    }

    private static let url = "http://a.example/live.m3u8?a=1"
    private static let asking = url + "&_HLS_skip=YES"
    private static let count = 20
    /// Three packets.
    private static let media: [UInt8] = (0..<3 * 188).map { $0 % 188 == 0 ? 0x47 : 0 }

    /// Segments of four seconds, ten at first.
    private static func list(at time: Duration, skipping: Bool, by server: Server) -> [UInt8] {
        let listed = min(count, 10 + Int(time / .seconds(4)))
        var text = "#EXTM3U\n#EXT-X-VERSION:9\n#EXT-X-TARGETDURATION:4\n#EXT-X-MEDIA-SEQUENCE:0\n"
        if server != .offersNone { text += "#EXT-X-SERVER-CONTROL:CAN-SKIP-UNTIL=24\n" }
        var first = 0
        if skipping, server == .skips || server == .confuses {
            first = listed - 6
            text += "#EXT-X-SKIP:SKIPPED-SEGMENTS=\(server == .confuses ? 1000 : first)\n"
        }
        for number in first..<listed { text += "#EXTINF:4,\n\(number).ts\n" }
        return Array((text + (listed == count ? "#EXT-X-ENDLIST\n" : "")).utf8)
    }

    @Test(
        "C10: a list is asked for without what is known, and as a whole from then on where that brings nothing",
        arguments: Server.allCases)
    func reloads(server: Server) throws {
        let folder = try ScratchFolder()
        let clock = VirtualClock()
        let transport = ScriptedTransport(clock) { url in
            guard url.contains("live.m3u8") else { return .bytes(Self.media) }
            let skips = url.hasSuffix("_HLS_skip=YES")
            if skips, server == .refuses { return .status(400) }
            if skips, server == .fails { return .status(503) }
            return .bytes(Self.list(at: clock.now.offset, skipping: skips, by: server))
        }
        let result = try clock.run {
            let options = AssetOptions(clock: clock, transport: transport)
            let configuration = DownloadConfiguration(urlString: Self.url, loading: options)
            return try await DownloadTask(configuration, folder: folder.path + "/d").run()
        }
        #expect(result.segmentCount == Self.count && result.gaps.isEmpty && result.failure == nil)
        let lists = transport.requests.map(\.url).filter { $0.contains("live.m3u8") }
        #expect(Set(lists).isSubset(of: [Self.url, Self.asking]))
        #expect(lists.first == Self.url)
        let askingCount = lists.count { $0 == Self.asking }
        switch server {
        case .skips, .ignores: #expect(askingCount >= 9 && lists.count == askingCount + 1)
        case .refuses, .confuses: #expect(askingCount == 1 && lists.count > 9)
        case .fails: #expect(askingCount == 2 && lists.count > 9)
        case .offersNone: #expect(askingCount == 0 && lists.count > 9)
        }
        let segments = transport.requests.map(\.url).filter { $0.hasSuffix(".ts") }.sorted()
        #expect(segments == (0..<Self.count).map { "http://a.example/\($0).ts" }.sorted())
    }
}
