import HLSKitAsset
import HLSKitEngine
import HLSKitLoading
import HLSKitMedia
import HLSKitPlayback
import HLSKitSimulation
import HLSKitTime
import TestSupport
import Testing

@Suite("Asset properties that an item waits for", .timeLimit(.minutes(10)))
struct AssetKeyTests {
    @Test("A12: listed properties are loaded when the item is ready to play, and the item waits for them")
    func ready() throws {
        let bench = try KeyBench()
        try bench.clock.run {
            let item = PlayerItem(asset: bench.asset, automaticallyLoadedAssetKeys: [.duration, .metadata, .tracks])
            let player = try Player(item: item, configuration: bench.configuration)
            let events = player.events()
            for await event in events {
                guard case .itemStatusChanged(let status) = event.kind else { continue }
                #expect(status == .readyToPlay)
                #expect(bench.asset.status(of: .duration).word == "loaded")
                #expect(bench.asset.status(of: .metadata).word == "loaded")
                #expect(bench.asset.status(of: .tracks).word == "loaded")
                #expect(bench.asset.status(of: .variants).word == "notYetLoaded")
                break
            }
            #expect(item.status == .readyToPlay)
            #expect(try await bench.asset.load(.duration).seconds == 6)
            await player.close()
        }
    }

    @Test("A12: a property that fails to load makes the item fail with the asset's error")
    func failure() throws {
        let bench = try KeyBench(files: [
            "index.m3u8": "#EXTM3U\n#EXT-X-SESSION-DATA:DATA-ID=\"com.apple.hls.chapters\",VALUE=\"none\"\n"
                + "#EXT-X-STREAM-INF:BANDWIDTH=500000\nv0.m3u8\n"
        ])
        try bench.clock.run {
            let item = PlayerItem(asset: bench.asset, automaticallyLoadedAssetKeys: [.availableChapterLocales])
            let player = try Player(item: item, configuration: bench.configuration)
            player.play()
            try await bench.clock.sleep(for: .seconds(10))
            #expect(item.status == .failed)
            #expect(item.error?.cause == "malformed chapter document")
            #expect(player.rate == 0)
            await player.close()
        }
    }

    @Test("A12: the default property is the duration, and loading it needs no request")
    func byDefault() throws {
        let bench = try KeyBench()
        try bench.clock.run {
            let item = PlayerItem(asset: bench.asset)
            #expect(item.automaticallyLoadedAssetKeys == [.duration])
            let player = try Player(item: item, configuration: bench.configuration)
            try await bench.clock.sleep(for: .seconds(3))
            #expect(item.status == .readyToPlay)
            guard case .loaded(let duration) = bench.asset.status(of: .duration) else {
                Issue.record("the duration is not loaded")
                return
            }
            #expect(duration.seconds == 6)
            #expect(bench.transport.urls.filter { $0.hasSuffix(".m3u8") }.count == 2)
            await player.close()
        }
    }

    @Test("A14: asset options for requests apply to the item, in addition to the player's")
    func options() throws {
        let bench = try KeyBench {
            $0.userAgent = "Mine/2"
            $0.fields = [TransportField(name: "X-Both", value: "asset")]
            $0.cookies = [TransportCookie(name: "a", value: "1", domain: "synthetic.invalid")]
        }
        try bench.clock.run {
            var configuration = bench.configuration
            configuration.fields = [
                TransportField(name: "X-Both", value: "p"), TransportField(name: "X-Player", value: "p"),
            ]
            let player = try Player(item: PlayerItem(asset: bench.asset), configuration: configuration)
            try await bench.clock.sleep(for: .seconds(3))
            await player.close()
        }
        let classes = Set(bench.transport.requests.map(\.resourceClass))
        #expect(classes.isSuperset(of: [.multivariantPlaylist, .mediaPlaylist, .segment]))
        for request in bench.transport.requests {
            let own = request.fields.filter { $0.name.hasPrefix("X-") && $0.name != "X-Playback-Session-Id" }
            #expect(
                Set(own) == [
                    TransportField(name: "X-Both", value: "asset"), TransportField(name: "X-Player", value: "p"),
                ])
            #expect(request.fields.contains(TransportField(name: "User-Agent", value: "Mine/2")))
            #expect(request.cookies.count == 1)
        }
    }

    @Test(
        "N03: announced keys are loaded early if the player's or the asset's setting asks for it",
        arguments: [(false, false), (true, false), (false, true)])
    func announcedKeys(byPlayer: Bool, byAsset: Bool) throws {
        let bench = try KeyBench(files: [
            "index.m3u8": "#EXTM3U\n#EXT-X-SESSION-KEY:METHOD=AES-128,URI=\"k.key\"\n"
                + "#EXT-X-STREAM-INF:BANDWIDTH=500000\n0/index.m3u8\n",
            "k.key": "0123456789abcdef",
        ])
        bench.asset.resourceLoader.preloadsEligibleContentKeys = byAsset
        #expect(bench.asset.resourceLoader.preloadsEligibleContentKeys == byAsset)
        try bench.clock.run {
            var configuration = bench.configuration
            configuration.preloadsEligibleContentKeys = byPlayer
            let player = try Player(item: PlayerItem(asset: bench.asset), configuration: configuration)
            try await bench.clock.sleep(for: .seconds(5))
            #expect(player.currentItem?.status == .readyToPlay)
            await player.close()
        }
        // The media is not encrypted, so nothing else requests the key.
        let keys = bench.transport.requests.filter { $0.resourceClass == .key }
        #expect(keys.count == (byPlayer || byAsset ? 1 : 0))
    }

    @Test(
        "playlists that break a rule are rejected if the player's or the asset's setting asks for it",
        arguments: [(false, false), (true, false), (false, true)])
    func strictParsing(byPlayer: Bool, byAsset: Bool) throws {
        let bench = try KeyBench(files: [
            "index.m3u8": "#EXTM3U\n#EXT-X-VERSION:new\n#EXT-X-STREAM-INF:BANDWIDTH=500000\n0/index.m3u8\n"
        ]) { $0.isPlaylistParsingStrict = byAsset }
        try bench.clock.run {
            var configuration = bench.configuration
            configuration.isPlaylistParsingStrict = byPlayer
            let item = PlayerItem(asset: bench.asset)
            let player = try Player(item: item, configuration: configuration)
            try await bench.clock.sleep(for: .seconds(5))
            #expect(item.status == (byPlayer || byAsset ? .failed : .readyToPlay))
            #expect(item.error?.code == (byPlayer || byAsset ? .badPlaylist : nil))
            await player.close()
            if byAsset {
                let error = await #expect(throws: HLSError.self) { try await bench.asset.load(.variants) }
                #expect(error?.code == .badPlaylist)
            } else {
                #expect(try await bench.asset.load(.variants).count == 1)
            }
        }
    }

    @Test("A14, D14: an expensive network that the asset forbids fails its item, and no other network does")
    func expensive() throws {
        for isExpensive in [true, false] {
            let bench = try KeyBench { $0.allowsExpensiveNetworkAccess = false }
            try bench.clock.run {
                var configuration = bench.configuration
                configuration.networkConditions.isExpensive = isExpensive
                let item = PlayerItem(asset: bench.asset)
                let player = try Player(item: item, configuration: configuration)
                try await bench.clock.sleep(for: .seconds(5))
                #expect(item.status == (isExpensive ? .failed : .readyToPlay))
                if isExpensive { #expect(item.error?.code == .refused) }
                await player.close()
            }
            #expect(bench.transport.urls.isEmpty == isExpensive)
        }
    }

    @Test("D09: preloaded resources are not requested again")
    func preloaded() throws {
        let bench = try KeyBench()
        try bench.clock.run {
            try await bench.asset.preload(.media(.seconds(3)))
            let before = bench.transport.urls.count
            #expect(before == 5)  // two playlists, a map, two segments of 2 s
            let player = try Player(item: PlayerItem(asset: bench.asset), configuration: bench.configuration)
            try await bench.clock.sleep(for: .seconds(5))
            #expect(player.currentItem?.status == .readyToPlay)
            #expect(bench.transport.urls.count == 6)
            #expect(Set(bench.transport.urls).count == 6)
            await player.close()
        }
    }
}

private struct KeyBench: Sendable {
    let clock: VirtualClock
    let transport: CountingTransport
    let asset: Asset
    let configuration: PlayerConfiguration

    init(files: [String: String] = [:], change: (inout AssetOptions) -> Void = { _ in }) throws {
        let clock = VirtualClock()
        let stream = SyntheticStream(bitRates: [400_000], segmentDuration: .seconds(2), segmentCount: 3)
        let base = String(stream.urlString.dropLast("index.m3u8".count))
        let link = LinkConditions(bitsPerSecond: 20_000_000, latency: .milliseconds(20))
        let simulated = SimulatedTransport(over: NetworkTrace(constant: link), clock: clock) { request in
            let name = request.urlString.replacing(base, with: "")
            return files[name].map { SimulatedResponse(body: Array($0.utf8)) } ?? stream.response(to: request)
        }
        transport = CountingTransport(simulated)
        self.clock = clock
        var options = AssetOptions(clock: clock, transport: transport)
        change(&options)
        asset = Asset(urlString: stream.urlString, options: options)
        var configuration = PlayerConfiguration(clock: clock, transport: transport)
        configuration.decodesWithoutOutput = [.video]
        self.configuration = configuration
    }
}
