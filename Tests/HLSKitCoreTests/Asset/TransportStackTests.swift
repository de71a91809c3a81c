import HLSKitLoading
import HLSKitNetwork
import HLSKitPlaylist
import HLSKitSimulation
import HLSKitTime
import Synchronization
import TestSupport
import Testing

@testable import HLSKitAsset

@Suite("Transport stack", .timeLimit(.minutes(10)))
struct TransportStackTests {
    private static let url = "https://a.example/main.m3u8"
    private static let text = "#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=1\nlow.m3u8\n"

    private static func options(_ transport: any ResourceTransport) -> AssetOptions {
        var options = AssetOptions(transport: transport)
        options.cookies = [TransportCookie(name: "c", value: "1", domain: "a.example")]
        options.primarySessionID = "p"
        return options
    }

    @Test("the layers have one order from the network up, for any set of parts")
    func order() throws {
        let folder = try ScratchFolder()
        typealias Layer = TransportStack.Layer
        let network = TableTransport(texts: [:])
        var parts = TransportStack.Parts(network: network, clock: ContinuousClock())
        #expect(TransportStack(url: Self.url, parts).layers == [.hooks, .hedging])
        parts.asset = AssetOptions(transport: network)
        #expect(TransportStack(url: Self.url, parts).layers == [.hooks, .hedging], "options that say nothing")
        parts.asset = Self.options(network)
        parts.cache = ResourceCache(keepsMedia: false)
        parts.mediaFile = AssetOptions(transport: network)
        parts.diskCache = try DiskCache(folder: folder.path)
        parts.clientData = (ClientData(), "s", ClientDataFacts())
        #expect(TransportStack(url: Self.url, parts).layers == Layer.allCases)
        parts.cache = nil
        #expect(TransportStack(url: Self.url, parts).layers == Layer.allCases.filter { $0 != .cache })
    }

    @Test("client data is added below caches and hooks, so they see URLs without it")
    func clientDataBelowCaches() async throws {
        let network = Asked()
        let hooked = Mutex<[String]>([])
        let cache = ResourceCache(keepsMedia: true)
        for session in ["one", "two"] {
            var data = ClientData()
            data.transmission = .query
            var parts = TransportStack.Parts(network: network, clock: ContinuousClock())
            parts.clientData = (data, session, ClientDataFacts())
            parts.cache = cache
            parts.hooks.requestPolicy = RequestPolicy { request in
                hooked.withLock { $0.append(request.urlString) }
                return request
            }
            let transport = TransportStack(url: Self.url, parts).transport
            let answer = await transport.load("https://a.example/1.ts")
            #expect(answer.response?.urlString == "https://a.example/1.ts")
            #expect(answer.bytes == Array("media".utf8))
        }
        #expect(network.urls.withLock { $0.count } == 1, "the second found what the first had loaded")
        #expect(network.urls.withLock { $0.first?.contains("CMCD=") } == true)
        #expect(hooked.withLock { $0 } == ["https://a.example/1.ts"])
    }

    private final class Asked: ResourceTransport {
        let urls = Mutex<[String]>([])

        func start(
            _ request: TransportRequest, handler: @escaping @Sendable (TransportEvent) -> Void
        ) -> any TransportTask {
            urls.withLock { $0.append(request.urlString) }
            let response = TransportResponse(status: 200, urlString: request.urlString)
            return SyntheticResponse(
                [.response(response), .data(Array("media".utf8)), .finished(TransferMetrics())], on: nil,
                handler: handler)
        }
    }

    @Test("hooks are next to the network and see the asset's additions")
    func hooksBelowOptions() async {
        let seen = Mutex<[TransportRequest]>([])
        let network = TableTransport(texts: [Self.url: Self.text])
        var parts = TransportStack.Parts(network: network, clock: ContinuousClock())
        parts.hooks.requestPolicy = RequestPolicy { request in
            seen.withLock { $0.append(request) }
            return request
        }
        parts.asset = Self.options(network)
        _ = await TransportStack(url: Self.url, parts).transport.load(Self.url, .multivariantPlaylist)
        let requests = seen.withLock { $0 }
        #expect(requests.map(\.urlString) == [Self.url + "?_HLS_primary_id=p"])
        #expect(requests.first?.cookies.count == 1)
    }

    @Test("cached resources are served even if the asset may not use the network, without calling hooks")
    func cacheAboveOptions() async {
        let network = TableTransport(texts: [Self.url: Self.text])
        var parts = TransportStack.Parts(network: network, clock: ContinuousClock())
        let cache = ResourceCache(keepsMedia: false)
        parts.cache = cache
        #expect(await TransportStack(url: Self.url, parts).transport.load(Self.url, .multivariantPlaylist).error == nil)
        parts.hooks.requestPolicy = RequestPolicy { _ in
            Issue.record("asked")
            throw CancellationError()
        }
        var options = AssetOptions(transport: network)
        options.allowsExpensiveNetworkAccess = false
        parts.asset = options
        parts.conditions = { NetworkConditions(isExpensive: true) }
        let transport = TransportStack(url: Self.url, parts).transport
        #expect(await transport.load(Self.url, .multivariantPlaylist).bytes == Array(Self.text.utf8))
        let refused = await transport.load("https://a.example/1.ts")
        #expect(refused.error?.code == .refused)
        #expect(network.urls == [Self.url])
    }

    private final class Stuck: ResourceLoader {
        let schemes: Set<String> = ["app"]
        let deadline = Duration.seconds(1000)
        private let count = Mutex(0)
        private let clock: VirtualClock
        init(_ clock: VirtualClock) { self.clock = clock }
        var calls: Int { count.withLock { $0 } }

        func load(_ request: TransportRequest) async throws -> LoadedResource {
            let number = count.withLock { count in
                count += 1
                return count
            }
            if number == 1 { try await clock.sleep(for: .seconds(500)) }
            return LoadedResource(.bytes([1, 2, 3]))
        }
    }

    @Test("a stuck app loader gets a second, hedged request")
    func hedgingAboveHooks() throws {
        let clock = VirtualClock()
        let loader = Stuck(clock)
        var parts = TransportStack.Parts(network: TableTransport(texts: [:]), clock: clock)
        parts.hooks.resourceLoader = loader
        let stack = TransportStack(url: "app://main.m3u8", parts)
        var request = TransportRequest(urlString: "app://1.m3u8", resourceClass: .mediaPlaylist)
        request.hedgeDelay = .seconds(2)
        let sent = request
        let bytes = try clock.run {
            var bytes: [UInt8] = []
            for await event in stack.transport.events(for: sent) {
                if case .data(let piece) = event { bytes += piece }
            }
            return bytes
        }
        #expect(bytes == [1, 2, 3])
        #expect(loader.calls == 2)
        #expect(clock.now.offset == .seconds(2))
    }

    @Test("a media file that the app loads looks like a stream, and hooks are called once per request")
    func filesAboveHooks() async throws {
        let rendition = try SampleMedia.rendition("video-180p")
        let loader = Counting(rendition.initializationSection + rendition.segments[0])
        var options = AssetOptions(transport: TableTransport(texts: [:]))
        options.hooks.resourceLoader = loader
        let policyCalls = Mutex(0)
        options.hooks.requestPolicy = RequestPolicy { request in
            policyCalls.withLock { $0 += 1 }
            return request
        }
        let client = ResourceClient(url: "app://host/film.mp4", options: options, opensFiles: true)
        let result = await client.options.transport.load("app://host/film.mp4", .multivariantPlaylist)
        #expect(
            String(decoding: result.bytes, as: UTF8.self).hasPrefix("#EXTM3U"), "\(String(describing: result.error))")
        #expect(result.violations == [])
        #expect(loader.ranges.first == .some(nil), "first the whole")
        #expect(policyCalls.withLock { $0 } == loader.ranges.count)
    }

    private final class Counting: ResourceLoader {
        let schemes: Set<String> = ["app"]
        private let bytes: [UInt8]
        private let asked = Mutex<[Range<UInt64>?]>([])
        init(_ bytes: [UInt8]) { self.bytes = bytes }
        var ranges: [Range<UInt64>?] { asked.withLock { $0 } }

        func load(_ request: TransportRequest) async throws -> LoadedResource {
            asked.withLock { $0.append(request.byteRange) }
            return LoadedResource(.bytes(bytes))
        }
    }
}
