import Foundation
import HLSKitCore
import TestSupport
import Testing

@Suite("Item of an asset", .timeLimit(.minutes(10)))
struct AssetItemTests {
    @Test("A05: playlists that the asset loaded are not loaded again for playback")
    func sharesPlaylists() async throws {
        let base = "http://a.example/"
        var resources: [String: [UInt8]] = [:]
        for name in try FileManager.default.contentsOfDirectory(atPath: SampleMedia.folder) {
            let data = try Data(contentsOf: URL(fileURLWithPath: SampleMedia.folder + "/" + name))
            resources[base + name] = Array(data)
        }
        let transport = TableTransport(resources)
        let asset = Asset(urlString: base + "master.m3u8", options: .table(transport))
        _ = try await asset.load(.duration)
        let before = transport.urls.filter { $0.hasSuffix(".m3u8") }
        #expect(before.count == 2)
        var configuration = PlayerConfiguration(transport: transport)
        configuration.pacing = .unpaced
        configuration.mediaTypes = [.video]
        let player = try Player(item: PlayerItem(asset: asset), configuration: configuration)
        let events = player.events()
        player.play()
        for await event in events { if case .didPlayToEnd = event.kind { break } }
        await player.close()
        let urls = transport.urls.filter { $0.hasSuffix(".m3u8") }
        #expect(urls.count { $0 == base + "master.m3u8" } == 1)
        #expect(urls.count { $0 == before[1] } == 1)
    }
}
