import Foundation
import HLSKitCore
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(10))) struct AssetLoadTests {
    private static let master = "http://a.example/master.m3u8"
    private static let low = "http://a.example/low.m3u8"

    private static let stream = [
        master: """
        #EXTM3U
        #EXT-X-SESSION-DATA:DATA-ID="com.apple.hls.title",VALUE="A title",LANGUAGE="en"
        #EXT-X-STREAM-INF:BANDWIDTH=100000,CODECS="avc1.4d400d",RESOLUTION=320x180
        low.m3u8
        #EXT-X-STREAM-INF:BANDWIDTH=900000,CODECS="xyz9.1",RESOLUTION=1280x720
        high.m3u8
        """,
        low: "#EXTM3U\n#EXT-X-TARGETDURATION:5\n#EXTINF:4.004,\na.ts\n#EXTINF:3.003,\nb.ts\n#EXT-X-ENDLIST\n",
    ]

    private func makeAsset() -> (Asset, TableTransport) {
        let transport = TableTransport(texts: Self.stream)
        return (Asset(urlString: Self.master, options: .table(transport)), transport)
    }

    @Test("A01: an asset loads nothing until a property is requested")
    func lazy() {
        let (asset, transport) = makeAsset()
        #expect(asset.status(of: .duration).word == "notYetLoaded")
        #expect(transport.urls.isEmpty)
    }

    @Test("A02, A03: each property loads only what it needs, and shared resources are requested once")
    func sharedFetch() async throws {
        let (asset, transport) = makeAsset()
        let (variants, metadata) = try await asset.load(.variants, .metadata)
        #expect(variants.count == 2)
        #expect(metadata.count == 1)
        #expect(transport.urls == [Self.master])
        let (duration, isPlayable, again) = try await asset.load(.duration, .isPlayable, .variants)
        #expect(duration == MediaTime(value: 7007, timescale: 1000))
        #expect(!duration.hasBeenRounded)
        #expect(isPlayable)
        #expect(again == variants)
        #expect(transport.urls == [Self.master, Self.low])
    }

    @Test("A04, A05: concurrent loads of one property share one request")
    func coalescing() async throws {
        let (asset, transport) = makeAsset()
        transport.hold()
        async let first = asset.load(.variants)
        async let second = asset.load(.variants)
        await transport.waitForRequests(1)
        #expect(asset.status(of: .variants).word == "loading")
        #expect(asset.status(of: .duration).word == "notYetLoaded")
        transport.release()
        #expect(try await first == (try await second))
        guard case .loaded(let variants) = asset.status(of: .variants) else {
            Issue.record("not loaded")
            return
        }
        #expect(variants.count == 2)
        #expect(transport.urls == [Self.master])
    }

    @Test("A04, A05: a failed load is remembered: the same error is thrown without another request")
    func stickyFailure() async throws {
        let transport = TableTransport([:])
        let asset = Asset(urlString: Self.master, options: .table(transport))
        let first = await #expect(throws: HLSError.self) { try await asset.load(.duration) }
        let second = await #expect(throws: HLSError.self) { try await asset.load(.duration) }
        #expect(first?.code == .notFound)
        #expect(first?.detail == "HTTP 404")
        #expect(first == second)
        guard case .failed(let error) = asset.status(of: .duration) else {
            Issue.record("not failed")
            return
        }
        #expect(error == first)
        #expect(transport.urls.count == 1)
    }

    @Test("temporary failures are retried")
    func retries() async throws {
        let (asset, transport) = makeAsset()
        transport.fail(Self.master, with: [.connectionLost, .httpStatus, .timedOut])
        #expect(try await asset.load(.variants).count == 2)
        #expect(transport.urls.count == 4)
    }

    @Test("a variant whose playlist cannot be loaded is skipped")
    func fallsBack() async throws {
        var texts = Self.stream
        texts["http://a.example/mid.m3u8"] = texts.removeValue(forKey: Self.low)
        texts[Self.master]? += "\n#EXT-X-STREAM-INF:BANDWIDTH=200000,CODECS=\"avc1.4d400d\"\nmid.m3u8\n"
        let asset = Asset(urlString: Self.master, options: .table(TableTransport(texts: texts)))
        #expect(try await asset.load(.duration) == MediaTime(value: 7007, timescale: 1000))
    }

    @Test("cancelling one waiter does not affect the others, which share the request")
    func cancelOne() async throws {
        let (asset, transport) = makeAsset()
        transport.hold()
        let first = Task { try await asset.load(.variants) }
        await transport.waitForRequests(1)
        let second = Task { try await asset.load(.metadata) }
        while case .notYetLoaded = asset.status(of: .metadata) { await Task.yield() }
        first.cancel()
        let error = await #expect(throws: HLSError.self) { try await first.value }
        #expect(error?.code == .cancelled)
        #expect(asset.status(of: .variants).word == "notYetLoaded")
        // If the second task began to wait only after the first one had left, it made its own request.
        transport.release()
        #expect(try await second.value.count == 1)
        #expect(transport.urls.count <= 2)
    }

    @Test("when the last waiter is cancelled, the request is cancelled and can be repeated")
    func cancelAll() async throws {
        let (asset, transport) = makeAsset()
        transport.hold()
        let load = Task { try await asset.load(.duration) }
        await transport.waitForRequests(1)
        load.cancel()
        let error = await #expect(throws: HLSError.self) { try await load.value }
        #expect(error?.code == .cancelled)
        while transport.cancelCount == 0 { await Task.yield() }
        transport.release()
        #expect(try await asset.load(.duration).isNumeric)
    }

    @Test("cancelLoading() ends pending loads only")
    func cancelLoading() async throws {
        let (asset, transport) = makeAsset()
        _ = try await asset.load(.variants)
        transport.hold()
        let load = Task { try await asset.load(.duration) }
        await transport.waitForRequests(2)
        asset.cancelLoading()
        let error = await #expect(throws: HLSError.self) { try await load.value }
        #expect(error?.code == .cancelled)
        #expect(asset.status(of: .variants).word == "loaded")
        #expect(asset.status(of: .duration).word == "notYetLoaded")
        transport.release()
        #expect(try await asset.load(.duration).isNumeric)
    }

    @Test("A13: variants have their declared values, nil for others, and the reasons against playing them")
    func variants() async throws {
        let (asset, _) = makeAsset()
        let variants = try await asset.load(.variants)
        let first = try #require(variants.first)
        #expect(first.peakBitRate == 100_000)
        #expect(first.averageBitRate == nil)
        #expect(first.urlString == Self.low)
        #expect(first.videoAttributes?.presentationSize == PixelSize(width: 320, height: 180))
        #expect(first.videoAttributes?.nominalFrameRate == nil)
        #expect(first.videoAttributes?.videoRange == .sdr)
        #expect(first.ineligibilityReasons.isEmpty)
        #expect(variants.last?.ineligibilityReasons == [.codec])
    }

    struct Playable: Sendable, CustomStringConvertible {
        var description: String
        /// The codecs attribute in the multivariant playlist, or `nil` to play the media playlist.
        var codecs: String? = #",CODECS="avc1.4d400d""#
        var keys = ""
        var provided: Set<String> = []
        var segment = "ts-h264-aac.ts"
        var isPlayable: Bool
    }

    private struct Keys: KeyProvider {
        var keyFormats: Set<String>
        func key(for request: ContentKeyRequest) async throws -> ContentKey? { nil }
    }

    private static let fairPlay =
        #"#EXT-X-KEY:METHOD=SAMPLE-AES,URI="skd://x",KEYFORMAT="com.apple.streamingkeydelivery""# + "\n"

    @Test(
        "A13: isPlayable depends on codecs, keys and this machine's decoders",
        arguments: [
            Playable(description: "codecs that are decoded", isPlayable: true),
            Playable(description: "a codec of nobody", codecs: #",CODECS="xyz9.1""#, isPlayable: false),
            Playable(description: "no codecs: the media tells", codecs: "", isPlayable: true),
            Playable(description: "a media playlist alone", codecs: nil, isPlayable: true),
            Playable(description: "a key of a system that nobody has", keys: fairPlay, isPlayable: false),
            Playable(description: "such a key, without variants", codecs: nil, keys: fairPlay, isPlayable: false),
            Playable(
                description: "a key that the program has", keys: fairPlay,
                provided: ["com.apple.streamingkeydelivery"], isPlayable: true),
            Playable(
                description: "an alternative that is known",
                keys: fairPlay + "#EXT-X-KEY:METHOD=SAMPLE-AES,URI=\"k\"\n", isPlayable: true),
            Playable(
                description: "a method of nobody", keys: "#EXT-X-KEY:METHOD=ROT-13,URI=\"k\"\n", isPlayable: false),
        ])
    func playable(_ c: Playable) async throws {
        var texts = [
            Self.low: "#EXTM3U\n#EXT-X-TARGETDURATION:5\n\(c.keys)#EXTINF:4.004,\na.ts\n#EXT-X-ENDLIST\n"
        ]
        if let codecs = c.codecs {
            texts[Self.master] = "#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=100000\(codecs)\nlow.m3u8\n"
        }
        var resources = texts.mapValues { Array($0.utf8) }
        resources["http://a.example/a.ts"] = Array(
            try Data(contentsOf: URL(fileURLWithPath: "\(SampleMedia.fixtures)/media/\(c.segment)")))
        var options = AssetOptions.table(TableTransport(resources))
        if !c.provided.isEmpty { options.hooks.keyProviders = [Keys(keyFormats: c.provided)] }
        let asset = Asset(urlString: c.codecs == nil ? Self.low : Self.master, options: options)
        #expect(try await asset.load(.isPlayable) == c.isPlayable)
    }

    @Test("A13: a variant gives all reasons against playing it, including those from its own playlist")
    func ineligibility() async throws {
        let texts = [
            Self.master: """
            #EXTM3U
            #EXT-X-STREAM-INF:BANDWIDTH=100000,CODECS="avc1.4d400d"
            low.m3u8
            #EXT-X-STREAM-INF:BANDWIDTH=500000,CODECS="avc1.4d400d"
            locked.m3u8
            #EXT-X-STREAM-INF:BANDWIDTH=900000,CODECS="xyz9.1",RESOLUTION=1280x720,HDCP-LEVEL=TYPE-1
            locked.m3u8
            #EXT-X-STREAM-INF:BANDWIDTH=900001,CODECS="avc1.4d400d"
            gone.m3u8
            """,
            Self.low: "#EXTM3U\n#EXT-X-TARGETDURATION:5\n#EXTINF:4.004,\na.ts\n#EXT-X-ENDLIST\n",
            "http://a.example/locked.m3u8":
                "#EXTM3U\n#EXT-X-TARGETDURATION:5\n\(Self.fairPlay)#EXTINF:4.004,\na.ts\n#EXT-X-ENDLIST\n",
        ]
        let asset = Asset(urlString: Self.master, options: .table(TableTransport(texts: texts)))
        let variants = try await asset.load(.variants)
        #expect(variants.map(\.ineligibilityReasons) == [[], [], [.codec, .hdcpLevel], []])
        var reasons: [[IneligibilityReason]] = []
        for variant in variants.prefix(3) { reasons.append(try await asset.ineligibilityReasons(for: variant)) }
        #expect(reasons == [[], [.keySystem], [.codec, .hdcpLevel, .keySystem]])
        await #expect(throws: HLSError.self) { try await asset.ineligibilityReasons(for: variants[3]) }
        let others = try await Asset(urlString: Self.low, options: .table(TableTransport(texts: texts))).load(.variants)
        let error = await #expect(throws: HLSError.self) { try await asset.ineligibilityReasons(for: others[0]) }
        #expect(error?.code == .noEligibleVariant)
    }

    @Test("A13: an asset whose playlist cannot be loaded is neither playable nor unplayable")
    func unknownPlayable() async throws {
        let transport = TableTransport(texts: [Self.master: Self.stream[Self.master] ?? ""])
        let asset = Asset(urlString: Self.master, options: .table(transport))
        await #expect(throws: HLSError.self) { try await asset.load(.isPlayable) }
    }

    @Test("A13: the video layouts that variants require are listed once each, including unknown ones")
    func layouts() async throws {
        let url = "http://a.example/m.m3u8"
        func options(_ attributes: [String]) async throws -> [PlaybackConfigurationOption] {
            let lines = attributes.map { "#EXT-X-STREAM-INF:BANDWIDTH=1000\($0)\nv.m3u8\n" }
            let transport = TableTransport(texts: [url: "#EXTM3U\n" + lines.joined()])
            return try await Asset(urlString: url, options: .table(transport)).load(.playbackConfigurationOptions)
        }
        #expect(try await options([""]).isEmpty)
        let mixed = [
            "", #",REQ-VIDEO-LAYOUT="CH-STEREO""#, #",REQ-VIDEO-LAYOUT="CH-STEREO/PROJ-HEQU""#,
            #",REQ-VIDEO-LAYOUT="PROJ-NEW""#,
        ]
        #expect(
            try await options(mixed) == [
                .stereoVideo, .nonRectilinearProjection180, PlaybackConfigurationOption(rawValue: "PROJ-NEW"),
            ])
    }

    struct Live: Sendable, CustomStringConvertible {
        var tags: String
        var offset: MediaTime?
        var description: String { tags }
    }

    @Test(
        "M02: the live offset is the player's: PART-HOLD-BACK if it loads parts, HOLD-BACK or 3 target durations",
        arguments: [
            Live(
                tags: "#EXT-X-PART-INF:PART-TARGET=0.5\n#EXT-X-SERVER-CONTROL:CAN-BLOCK-RELOAD=YES,PART-HOLD-BACK=1.5",
                offset: MediaTime(value: 3, timescale: 2)),
            Live(
                tags: "#EXT-X-PART-INF:PART-TARGET=0.5\n"
                    + "#EXT-X-SERVER-CONTROL:CAN-BLOCK-RELOAD=YES,HOLD-BACK=20,PART-HOLD-BACK=1.5",
                offset: MediaTime(value: 3, timescale: 2)),
            // Players load no parts from these servers.
            Live(
                tags: "#EXT-X-PART-INF:PART-TARGET=0.5\n#EXT-X-SERVER-CONTROL:HOLD-BACK=20,PART-HOLD-BACK=1.5",
                offset: MediaTime(value: 20, timescale: 1)),
            Live(
                tags: "#EXT-X-PART-INF:PART-TARGET=0.5\n"
                    + "#EXT-X-SERVER-CONTROL:CAN-BLOCK-RELOAD=YES,HOLD-BACK=20,PART-HOLD-BACK=0.9",
                offset: MediaTime(value: 20, timescale: 1)),
            Live(
                tags: "#EXT-X-SERVER-CONTROL:CAN-BLOCK-RELOAD=YES,HOLD-BACK=20,PART-HOLD-BACK=1.5",
                offset: MediaTime(value: 20, timescale: 1)),
            Live(
                tags: "#EXT-X-PART-INF:PART-TARGET=0.5\n"
                    + "#EXT-X-SERVER-CONTROL:CAN-BLOCK-RELOAD=YES,PART-HOLD-BACK=1.5\n#EXT-X-ENDLIST",
                offset: nil),
            Live(tags: "#EXT-X-SERVER-CONTROL:HOLD-BACK=20", offset: MediaTime(value: 20, timescale: 1)),
            Live(tags: "#EXT-X-VERSION:3", offset: MediaTime(value: 18, timescale: 1)),
            Live(tags: "#EXT-X-ENDLIST", offset: nil),
        ])
    func live(_ c: Live) async throws {
        let url = "http://a.example/live.m3u8"
        let transport = TableTransport(
            texts: [url: "#EXTM3U\n#EXT-X-TARGETDURATION:6\n\(c.tags)\n#EXTINF:6,\na.ts\n"])
        let asset = Asset(urlString: url, options: .table(transport))
        let (offset, duration) = try await asset.load(.minimumTimeOffsetFromLive, .duration)
        #expect(offset == c.offset)
        #expect(duration == (c.offset == nil ? MediaTime(value: 6, timescale: 1) : .indefinite))
        #expect(try await asset.load(.variants).map(\.peakBitRate) == [nil])
    }

    @Test("A14: URL credentials go to their origin only; user header fields go with every request")
    func credentials() async throws {
        let transport = TableTransport(texts: [
            "http://u:p@a.example/m.m3u8": "#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=1000\nhttp://b.example/v.m3u8\n",
            "http://b.example/v.m3u8": "#EXTM3U\n#EXT-X-TARGETDURATION:6\n#EXTINF:6,\na.ts\n#EXT-X-ENDLIST\n",
        ])
        var options = AssetOptions.table(transport)
        options.fields = [TransportField(name: "X-Mine", value: "1")]
        _ = try await Asset(urlString: "http://u:p@a.example/m.m3u8", options: options).load(.duration)
        #expect(transport.requests.count == 2)
        for request in transport.requests {
            #expect(request.fields.contains(TransportField(name: "X-Mine", value: "1")))
            #expect(request.credentialOrigins.map(\.host) == ["a.example"])
        }
    }

    @Test("a network playlist cannot reference local files")
    func refusesFiles() async throws {
        let transport = TableTransport(texts: [
            Self.master: "#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=1000\nfile:///etc/passwd\n"
        ])
        let asset = Asset(urlString: Self.master, options: .table(transport))
        let error = await #expect(throws: HLSError.self) { try await asset.load(.duration) }
        #expect(error?.code == .refused)
        #expect(transport.urls == [Self.master])
    }

    @Test("data without playlist or media is reported as such", arguments: ["<!DOCTYPE html><html></html>", "{}"])
    func nonsense(text: String) async throws {
        let asset = Asset(urlString: Self.master, options: .table(TableTransport(texts: [Self.master: text])))
        let error = await #expect(throws: HLSError.self) { try await asset.load(.duration) }
        #expect(error?.code == .badPlaylist)
    }
}
