import Foundation
import HLSKitCore
import TestSupport
import Testing

@Suite("URLs of assets and items", .timeLimit(.minutes(10)))
struct AssetURLTests {
    private static let segments = "#EXTM3U\n#EXT-X-TARGETDURATION:4\n#EXTINF:4,\na.ts\n#EXT-X-ENDLIST\n"

    private static let odd = [
        "https://a.example/ä b/m.m3u8?t=[1]", "https://a.example/m.m3u8?sig=a|b^c", "https://a.example/%zz/m.m3u8",
    ]

    @Test("A01: objects made from a URL keep that URL, resolved if relative")
    func urls() throws {
        let url = try #require(URL(string: "https://a.example/dir/m.m3u8?t=1"))
        let relative = try #require(URL(string: "m.m3u8", relativeTo: URL(string: "https://a.example/dir/")))
        let file = URL(fileURLWithPath: "/media/a film.m3u8")
        #expect(Asset(url: url).urlString == "https://a.example/dir/m.m3u8?t=1")
        #expect(Asset(url: url).url == url)
        #expect(PlayerItem(url: relative).urlString == "https://a.example/dir/m.m3u8")
        #expect(PlayerItem(url: file).urlString == "file:///media/a%20film.m3u8")
        #expect(PlayerItem(asset: Asset(url: file)).url == file)
        let offline = PlayerConfiguration(transport: TableTransport([:]))
        #expect(Player(url: url, configuration: offline).currentItem?.url == url)
        #expect(DownloadConfiguration(url: relative).urlString == "https://a.example/dir/m.m3u8")
    }

    @Test("A01: a URL given as text is requested as written", arguments: odd)
    func text(_ text: String) async throws {
        let transport = TableTransport(texts: [text: Self.segments])
        let asset = Asset(urlString: text, options: .table(transport))
        #expect(asset.urlString == text)
        #expect(asset.url != nil)
        #expect(try await asset.load(.duration).seconds == 4)
        #expect(transport.urls == [text])
        #expect(PlayerItem(asset: asset).urlString == text)
        let player = Player(urlString: text, configuration: PlayerConfiguration(transport: transport))
        #expect(player.currentItem?.urlString == text)
        #expect(DownloadConfiguration(urlString: text).urlString == text)
    }

    @Test("A01: a plain path is not accepted as a URL", arguments: ["/media/film.m3u8", "film.m3u8", ""])
    func paths(_ path: String) async throws {
        let transport = TableTransport([:])
        let error = await #expect(throws: HLSError.self) {
            try await Asset(urlString: path, options: .table(transport)).load(.duration)
        }
        #expect(error?.cause.isEmpty == false)
        #expect(transport.urls.isEmpty, "nothing is asked for")
    }
}
