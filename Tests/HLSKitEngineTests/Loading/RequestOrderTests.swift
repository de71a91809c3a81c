import HLSKitLoading
import HLSKitPlaylist
import TestSupport
import Testing

@testable import HLSKitEngine
@testable import HLSKitSelection

@Suite("Contents of requests")
struct RequestOrderTests {
    private static let key = ResourceID(
        kind: .key, url: "https://host/key", byteRange: 4..<8, keyFormat: "com.example.keys")

    private static func names(_ request: EngineRequest) -> [String] { request.transport.fields.map(\.name) }

    @Test("the session id is sent if servers should get it; the item's overrides the player's")
    func session() {
        var configuration = EngineConfiguration()
        configuration.fields = [TransportField(name: "User-Agent", value: "me")]
        let order = RequestOrder(firstPlaylist: "https://host/list")
        #expect(
            Self.names(RequestOrder.RequestTerms(configuration, sessionID: "a").request(for: order)) == ["User-Agent"])
        configuration.sendsSessionID = true
        configuration.sessionID = "all"
        #expect(RequestOrder.RequestTerms(configuration).request(for: order).transport.fields.last?.value == "all")
        let request = RequestOrder.RequestTerms(configuration, sessionID: "own").request(for: order)
        #expect(request.transport.fields.last == TransportField(name: "X-Playback-Session-Id", value: "own"))
        #expect(request.namedBy == nil)
        #expect(request.transport.resourceClass == .multivariantPlaylist)
    }

    @Test("credentials are sent to the item's origin and to the origins that the user names")
    func credentials() {
        var configuration = EngineConfiguration()
        let origin = URLOrigin(of: "https://own.example")
        configuration.credentialOrigins = Set([origin].compactMap(\.self))
        let order = RequestOrder(Self.key, for: .audio, namedBy: "https://host/list")
        let authorization = TransportField(name: "Authorization", value: "Basic eA==")
        let request = RequestOrder.RequestTerms(configuration, authorization: authorization, origins: []).request(
            for: order)
        #expect(request.transport.credentialOrigins.isEmpty)
        #expect(Self.names(request) == ["Authorization"])
        let early = RequestOrder.RequestTerms(configuration).request(for: order)
        #expect(early.transport.credentialOrigins == configuration.credentialOrigins)
    }

    @Test("key requests have a small size limit and name their key system")
    func limits() {
        let terms = RequestOrder.RequestTerms(EngineConfiguration())
        let key = terms.request(for: RequestOrder(Self.key, for: .main, namedBy: nil)).transport
        #expect(key.maximumByteCount == ResourceLimits.keyByteCount)
        #expect(key.keyFormat == "com.example.keys")
        #expect(key.byteRange == 4..<8)
        let section = ResourceID(kind: .map, url: "https://host/map")
        let map = terms.request(for: RequestOrder(section, for: .main, namedBy: nil)).transport
        #expect(map.maximumByteCount == ResourceLimits.initializationSectionByteCount)
        #expect(map.keyFormat == nil)
    }

    @Test("only reloads use the time limits of the variant's playlist")
    func reloads() throws {
        let reload = RequestOrder.RequestTerms.Reload(timeout: .seconds(8), hedgeDelay: .seconds(4))
        let terms = RequestOrder.RequestTerms(EngineConfiguration(), reload: reload)
        var lane = MediaLane(id: .audio, playlistURL: "https://host/audio")
        let first = terms.request(for: RequestOrder(playlistOf: lane, in: nil, at: "https://host/all")).transport
        #expect(first.timeouts == TransportTimeouts())
        #expect(first.hedgeDelay == nil)
        lane.playlist.attach(
            PlaylistTracker(
                try PlaylistText.numbered(0, count: 3).parsed(), requestURL: "list", url: "list", start: .zero,
                loadBegan: .zero, now: .zero))
        let order = RequestOrder(playlistOf: lane, in: nil, at: "https://host/all")
        #expect(order.isReload)
        let again = terms.request(for: order).transport
        #expect(again.timeouts.total == .seconds(8))
        #expect(again.hedgeDelay == .seconds(4))
        #expect(again.urlString == "https://host/audio")
    }

    @Test("R40: a blocking request has its own deadline and is not retried by the transport")
    func held() throws {
        let reload = RequestOrder.RequestTerms.Reload(timeout: .seconds(8), hedgeDelay: .seconds(4))
        let terms = RequestOrder.RequestTerms(EngineConfiguration(), reload: reload)
        var lane = MediaLane(id: .main, playlistURL: "https://host/list?a=1")
        lane.playlist.attach(
            PlaylistTracker(
                try PlaylistText.numbered(0, count: 3).parsed(), requestURL: "list", url: "list", start: .zero,
                loadBegan: .zero, now: .zero))
        var order = RequestOrder(playlistOf: lane, in: nil, at: nil)
        order.directives.awaited = PartPosition(sequence: 3)
        #expect(terms.request(for: order).transport.isHeld == false)
        order.heldFor = .seconds(7)
        let request = terms.request(for: order)
        #expect(request.transport.isHeld)
        #expect(request.transport.urlString == "https://host/list?a=1&_HLS_msn=3")
        #expect(request.transport.timeouts.firstByte == .seconds(7))
        #expect(request.transport.timeouts.total == .seconds(15))
        #expect(request.transport.hedgeDelay == nil)
        #expect(request.directives.awaited == order.directives.awaited)
    }

    @Test("D04: each class of resources has its deadlines")
    func deadlines() throws {
        var configuration = EngineConfiguration()
        configuration.timeouts.firstByte = .seconds(5)
        configuration.timeouts[.initializationSection].firstByte = .seconds(2)
        let terms = RequestOrder.RequestTerms(configuration)
        let map = ResourceID(kind: .map, url: "https://host/map")
        let section = terms.request(for: RequestOrder(map, for: .main, namedBy: nil)).transport
        #expect(section.timeouts.firstByte == .seconds(2))
        let lane = MediaLane(id: .audio, playlistURL: "https://host/audio")
        let list = terms.request(for: RequestOrder(playlistOf: lane, in: nil, at: "https://host/all")).transport
        #expect(list.timeouts.firstByte == .seconds(5))
    }
}
