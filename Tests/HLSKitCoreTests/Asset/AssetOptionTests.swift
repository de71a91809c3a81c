import Foundation
import HLSKitAsset
import HLSKitLoading
import HLSKitPlayback
import HLSKitSelection
import HLSKitTime
import TestSupport
import Testing

@Suite("Asset options for requests", .timeLimit(.minutes(10)))
struct AssetOptionTests {
    private static let base = "http://a.example/"
    private static let stream = [
        base + "master.m3u8": """
        #EXTM3U
        #EXT-X-SESSION-DATA:DATA-ID="x",URI="data.json"
        #EXT-X-SESSION-KEY:METHOD=AES-128,URI="key"
        #EXT-X-STREAM-INF:BANDWIDTH=100000,CODECS="avc1.4d400d"
        video.m3u8
        """,
        base + "video.m3u8": """
        #EXTM3U
        #EXT-X-TARGETDURATION:4
        #EXT-X-MAP:URI="init.mp4"
        #EXT-X-KEY:METHOD=AES-128,URI="key"
        #EXTINF:4,
        0.mp4
        #EXTINF:4,
        1.mp4
        #EXTINF:4,
        2.mp4
        #EXT-X-ENDLIST
        """,
        base + "key": "0123456789abcdef", base + "init.mp4": "x", base + "0.mp4": "x", base + "1.mp4": "x",
        base + "2.mp4": "x", base + "data.json": "{}",
    ]

    private func makeAsset(_ change: (inout AssetOptions) -> Void) -> (Asset, TableTransport) {
        let transport = TableTransport(texts: Self.stream)
        var options = AssetOptions.table(transport)
        change(&options)
        return (Asset(urlString: Self.base + "master.m3u8", options: options), transport)
    }

    struct Kind: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var type: String?
        var junk = 0
        var isPlaylist = false
        var trackCount: Int?
    }

    @Test(
        "A14: a media type identifies a resource whose first bytes do not",
        arguments: [
            Kind(testDescription: "bytes alone", trackCount: 2),
            Kind(testDescription: "junk", junk: 3000),
            Kind(testDescription: "junk, and the right type", type: "video/MP2T; x=y", junk: 3000, trackCount: 2),
            Kind(testDescription: "junk, and another type", type: "video/mp4", junk: 3000),
            Kind(testDescription: "the type goes before the bytes", type: "application/vnd.apple.mpegurl"),
            Kind(testDescription: "a type of nothing that is read", type: "video/x-matroska"),
            Kind(testDescription: "a playlist", type: "application/x-mpegURL", isPlaylist: true, trackCount: 2),
            Kind(testDescription: "a playlist that is no media", type: "video/mp2t", isPlaylist: true),
        ])
    func mediaType(_ kind: Kind) async throws {
        let media = Array(
            try Data(contentsOf: URL(fileURLWithPath: "\(SampleMedia.fixtures)/media/ts-h264-aac.ts")))
        let list = "#EXTM3U\n#EXT-X-TARGETDURATION:1\n#EXTINF:1,\na.ts\n#EXT-X-ENDLIST\n"
        let transport = TableTransport([
            Self.base + "a": kind.isPlaylist ? Array(list.utf8) : [UInt8](repeating: 0x21, count: kind.junk) + media,
            Self.base + "a.ts": media,
        ])
        var options = AssetOptions.table(transport)
        options.overrideMIMEType = kind.type
        let asset = Asset(urlString: Self.base + "a", options: options)
        if let count = kind.trackCount {
            #expect(try await asset.load(.tracks).count == count)
        } else {
            await #expect(throws: HLSError.self) { try await asset.load(.tracks) }
        }
    }

    @Test("A14: items are played by the media type of their asset")
    func playedMediaType() async throws {
        let media = Array(
            try Data(contentsOf: URL(fileURLWithPath: "\(SampleMedia.fixtures)/media/ts-h264-aac.ts")))
        let folder = try ScratchFolder()
        let path = try folder.write([UInt8](repeating: 0x21, count: 3000) + media, to: "film")
        for (type, count) in [(nil, 0), ("video/mp2t", 30), ("video/webm", 0)] {
            var options = AssetOptions()
            options.overrideMIMEType = type
            let (item, writer) = (
                PlayerItem(asset: Asset(urlString: "file://\(path)", options: options)), CapturingWriter()
            )
            item.add(writer)
            let play = try await Play.toEnd(item, .unpaced())
            #expect((play.error == nil) == (count > 0))
            #expect(writer.frames.count == count)
        }
    }

    @Test("A14: header fields, user agent and cookies are sent with requests of every class")
    func everyClass() async throws {
        let cookie = TransportCookie(name: "a", value: "1", domain: "a.example")
        let (asset, transport) = makeAsset {
            $0.fields = [TransportField(name: "X-Mine", value: "1")]
            $0.userAgent = "Mine/2"
            $0.cookies = [cookie]
            $0.playbackSessionID = "session"
        }
        try await asset.preload(.media(.seconds(5)))
        for item in try await asset.load(.metadata) { _ = try? await item.load(.value) }
        // Only players send reports and request steering manifests and asset lists.
        #expect(
            Set(transport.requests.map(\.resourceClass))
                == Set(ResourceClass.allCases).subtracting([.steering, .report, .assetList]))
        for request in transport.requests {
            for field in [("X-Mine", "1"), ("User-Agent", "Mine/2"), ("X-Playback-Session-Id", "session")] {
                #expect(request.fields.contains(TransportField(name: field.0, value: field.1)), "\(request.urlString)")
            }
            #expect(request.cookies == [cookie], "\(request.urlString)")
        }
    }

    @Test("A14: the primary session id is sent only with the asset's own URL")
    func primarySession() async throws {
        let transport = TableTransport(texts: [
            Self.base + "master.m3u8?_HLS_primary_id=A%20%2F1": Self.stream[Self.base + "master.m3u8"] ?? "",
            Self.base + "video.m3u8": Self.stream[Self.base + "video.m3u8"] ?? "",
        ])
        var options = AssetOptions.table(transport)
        options.primarySessionID = "A /1"
        let asset = Asset(urlString: Self.base + "master.m3u8", options: options)
        #expect(try await asset.load(.duration).seconds == 12)
        #expect(transport.urls == [Self.base + "master.m3u8?_HLS_primary_id=A%20%2F1", Self.base + "video.m3u8"])
    }

    struct Network: Sendable {
        var conditions: NetworkConditions
        var allowsExpensive = true
        var allowsConstrained = true
        var isAllowed: Bool
    }

    @Test(
        "A14, D14: requests forbidden on expensive or constrained networks are refused without being sent",
        arguments: [
            Network(conditions: NetworkConditions(isExpensive: true), isAllowed: true),
            Network(conditions: NetworkConditions(isExpensive: true), allowsExpensive: false, isAllowed: false),
            Network(conditions: NetworkConditions(isConstrained: true), allowsExpensive: false, isAllowed: true),
            Network(conditions: NetworkConditions(isConstrained: true), allowsConstrained: false, isAllowed: false),
            Network(conditions: NetworkConditions(), allowsExpensive: false, allowsConstrained: false, isAllowed: true),
        ])
    func network(_ c: Network) async throws {
        let (asset, transport) = makeAsset {
            $0.networkConditions = c.conditions
            $0.allowsExpensiveNetworkAccess = c.allowsExpensive
            $0.allowsConstrainedNetworkAccess = c.allowsConstrained
        }
        if c.isAllowed {
            #expect(try await asset.load(.variants).count == 1)
        } else {
            let error = await #expect(throws: HLSError.self) { try await asset.load(.variants) }
            #expect(error?.code == .refused)
            #expect(transport.urls.isEmpty)
        }
    }

    struct Sending: Sendable {
        var cookie: TransportCookie
        var url: String
        var isSent: Bool
        init(_ domain: String, _ path: String = "/", isSecure: Bool = false, to url: String, _ isSent: Bool) {
            cookie = TransportCookie(name: "n", value: "v", domain: domain, path: path, isSecure: isSecure)
            self.url = url
            self.isSent = isSent
        }
    }

    // RFC 6265 §5.1.3 and §5.1.4.
    @Test(
        "A14: a cookie is sent if its domain, path and scheme match",
        arguments: [
            Sending("a.example", to: "http://a.example/x", true),
            Sending("A.Example", to: "http://a.example:81/x", true),
            Sending("a.example", to: "http://b.a.example/x", false),
            Sending(".a.example", to: "http://b.a.example/x", true),
            Sending(".a.example", to: "http://a.example/x", true),
            Sending(".a.example", to: "http://ba.example/x", false),
            Sending("a.example", to: "http://a.example.evil/x", false),
            Sending("a.example", "/x", to: "http://a.example/x/y", true),
            Sending("a.example", "/x", to: "http://a.example/x?q", true),
            Sending("a.example", "/x", to: "http://a.example/xy", false),
            Sending("a.example", "/x/", to: "http://a.example/x/y", true),
            Sending("a.example", isSecure: true, to: "http://a.example/", false),
            Sending("a.example", isSecure: true, to: "https://a.example/", true),
        ])
    func cookies(_ c: Sending) throws {
        #expect(c.cookie.isSent(to: try HTTPURL(c.url)) == c.isSent)
    }

    @Test(
        "D09: preloading requests only the resources in its scope, once",
        arguments: [
            (PreloadScope.multivariant, ["master.m3u8"]),
            (.keys, ["master.m3u8", "key"]),
            (.media(.invalid), ["master.m3u8", "key"]), (.media(.seconds(-1)), ["master.m3u8", "key"]),
            (.media(.seconds(5)), ["master.m3u8", "key", "video.m3u8", "init.mp4", "0.mp4", "1.mp4"]),
        ])
    func preload(scope: PreloadScope, names: [String]) async throws {
        let (asset, transport) = makeAsset { _ in }
        try await asset.preload(scope)
        try await asset.preload(scope)
        #expect(transport.urls == names.map { Self.base + $0 })
    }

    @Test("A14: a resource loader set before the first load serves the asset and cannot be changed later")
    func loader() async throws {
        let transport = TableTransport([:])
        let asset = Asset(urlString: "mine://a/master.m3u8", options: .table(transport))
        #expect(asset.resourceLoader.loader == nil)
        try asset.resourceLoader.setLoader(TextLoader(text: Self.stream[Self.base + "master.m3u8"] ?? ""))
        #expect(try await asset.load(.variants).count == 1)
        #expect(transport.urls.isEmpty)
        let error = #expect(throws: HLSError.self) { try asset.resourceLoader.setLoader(nil) }
        #expect(error?.code == .loadingHasBegun)
        #expect(asset.resourceLoader.loader != nil)
    }

    private struct TextLoader: ResourceLoader {
        let schemes: Set<String> = ["mine"]
        let text: String
        func load(_ request: TransportRequest) async throws -> LoadedResource {
            LoadedResource(.bytes(Array(text.utf8)))
        }
    }

    @Test(
        "A13: content is protected if only a key system has its keys; a plain key prevents that",
        arguments: [
            ("#EXT-X-SESSION-KEY:METHOD=SAMPLE-AES,URI=\"skd://x\",KEYFORMAT=\"com.apple.streamingkeydelivery\"", true),
            ("#EXT-X-SESSION-KEY:METHOD=AES-128,URI=\"key\"", false),
            ("#EXT-X-KEY:METHOD=SAMPLE-AES,URI=\"skd://x\",KEYFORMAT=\"com.apple.streamingkeydelivery\"", true),
            ("#EXT-X-KEY:METHOD=AES-128,URI=\"key\"", false),
            ("#EXT-X-KEY:METHOD=SAMPLE-AES,URI=\"key\",KEYFORMAT=\"identity\"", false),
            (
                "#EXT-X-KEY:METHOD=SAMPLE-AES,URI=\"skd://x\",KEYFORMAT=\"com.apple.streamingkeydelivery\"\n"
                    + "#EXT-X-KEY:METHOD=SAMPLE-AES,URI=\"key\"", false
            ),
        ])
    func protected(tag: String, isProtected: Bool) async throws {
        var texts = Self.stream
        let isOfSession = tag.hasPrefix("#EXT-X-SESSION")
        texts[Self.base + "master.m3u8"] =
            "#EXTM3U\n\(isOfSession ? tag : "")\n#EXT-X-STREAM-INF:BANDWIDTH=100000\nvideo.m3u8\n"
        if !isOfSession {
            texts[Self.base + "video.m3u8"] =
                "#EXTM3U\n#EXT-X-TARGETDURATION:4\n\(tag)\n#EXTINF:4,\na.ts\n#EXT-X-ENDLIST\n"
        }
        let asset = Asset(urlString: Self.base + "master.m3u8", options: .table(TableTransport(texts: texts)))
        #expect(try await asset.load(.hasProtectedContent) == isProtected)
    }

    // The content type that a server declares is ignored (see AssetOptions).
    @Test(
        "A14: a resource's bytes decide its type", arguments: ["text/html", "video/mp4", "application/octet-stream"])
    func mediaType(type: String) async throws {
        let options = AssetOptions(transport: TypedTransport(type: type, text: Self.stream[Self.base + "video.m3u8"]))
        #expect(try await Asset(urlString: Self.base + "x", options: options).load(.duration).seconds == 12)
    }

    private struct TypedTransport: ResourceTransport {
        let type: String
        let text: String?
        final class Over: TransportTask {
            func cancel() {}
            func pause() {}
            func resume() {}
        }
        func start(
            _ request: TransportRequest, handler: @escaping @Sendable (TransportEvent) -> Void
        ) -> any TransportTask {
            handler(.response(TransportResponse(status: 200, urlString: request.urlString, contentType: type)))
            handler(.data(Array((text ?? "").utf8)))
            handler(.finished(TransferMetrics()))
            return Over()
        }
    }
}
