import HLSKitMedia
import HLSKitPlaylist
import HLSKitTime
import TestSupport
import Testing

@testable import HLSKitEngine
@testable import HLSKitLoading
@testable import HLSKitSelection

@Suite("Engine, keys")
struct EngineKeyTests {
    private static let tag = #"#EXT-X-KEY:METHOD=AES-128,URI="k.key""#

    /// Returns an origin with video and separate audio that share a key. The key changes with the fifth segment.
    private static func origin(extra: [String] = []) -> ScriptedOrigin {
        var origin = ScriptedOrigin.multivariant(
            ["v": 1_000_000],
            extra: [#"#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="en",DEFAULT=YES,URI="a.m3u8""#] + extra, audio: "a")
        for name in ["v", "a"] {
            var text = PlaylistText.numbered(0, count: 10, prefix: name, isEnded: true)
            text.segments[0].tags = [tag]
            text.segments[5].tags = [#"#EXT-X-KEY:METHOD=AES-128,URI="l.key""#]
            origin.answer("\(name).m3u8", .text(text))
        }
        return origin
    }

    @Test("N01: a key is requested once for all segments and renditions")
    func once() {
        var harness = EngineHarness.playing("main.m3u8", from: Self.origin())
        harness.runToEnd()
        #expect(harness.didPlayToEnd, "\(harness.story)")
        #expect(harness.requests(of: "k.key").count == 1)
        #expect(harness.requests(of: "l.key").count == 1)
    }

    @Test("N01, R49: a key that fails once is requested once more for both renditions")
    func retry() {
        var origin = Self.origin()
        origin.answer("k.key", .status(503), .media(16))
        var harness = EngineHarness.playing("main.m3u8", from: origin)
        harness.runToEnd()
        #expect(harness.didPlayToEnd, "\(harness.story)")
        #expect(harness.requests(of: "k.key").count == 2)
    }

    @Test("R50: a missing key fails the item, and it is requested again only once")
    func missing() {
        var origin = Self.origin()
        origin.answer("k.key", .status(404))
        var harness = EngineHarness.playing("main.m3u8", from: origin)
        harness.runToEnd()
        #expect(harness.error?.code == .contentKey)
        #expect(harness.error?.urlString == "https://host/k.key")
        #expect(harness.requests(of: "k.key").count <= 2)
    }

    @Test("N03: keys announced by the multivariant playlist are loaded before any media playlist arrives")
    func preload() throws {
        let origin = Self.origin(extra: [
            #"#EXT-X-SESSION-KEY:METHOD=AES-128,URI="k.key""#,
            #"#EXT-X-SESSION-KEY:METHOD=SAMPLE-AES,URI="skd://x",KEYFORMAT="com.example""#,
        ])
        for preloads in [false, true] {
            var harness = EngineHarness.playing("main.m3u8", from: origin) { $0.preloadsKeys = preloads }
            harness.runToEnd()
            #expect(harness.didPlayToEnd)
            let keys = harness.requests(of: "k.key")
            #expect(keys.count == 1)
            let playlist = try #require(harness.requests(of: "v.m3u8").first?.ended)
            let began = try #require(keys.first?.began)
            #expect((began < playlist) == preloads)
            #expect(harness.requests(of: "skd://x").isEmpty, "nobody has keys of that system")
        }
    }

    @Test("N04: a key system is used if the app provides its keys; otherwise the error names the system")
    func keyFormat() {
        let tag = #"#EXT-X-KEY:METHOD=SAMPLE-AES,URI="skd://asset",KEYFORMAT="com.example""#
        let origin = ScriptedOrigin.vod { $0.segments[0].tags = [tag] }
        var alone = EngineHarness.playing("vod.m3u8", from: origin)
        alone.runToEnd()
        #expect(alone.error?.code == .contentKey)
        #expect(alone.error?.detail?.contains("com.example") == true)
        var harness = EngineHarness.playing("vod.m3u8", from: origin) {
            $0.keyRules = KeyRules(formats: ["com.example"])
        }
        harness.runToEnd()
        #expect(harness.didPlayToEnd)
        #expect(harness.requests(of: "skd://asset").count == 1)
    }

    // MARK: Expiring keys

    private static func leased(_ replies: ScriptedOrigin.Reply..., segments count: Int = 30) -> ScriptedOrigin {
        var origin = ScriptedOrigin.vod(count: count) { $0.segments[0].tags = [tag] }
        origin.routes["k.key"] = { visit in replies[min(visit.earlierCount, replies.count - 1)] }
        return origin
    }

    private static func reasons(_ harness: EngineHarness) -> [ContentKeyRequest.Reason] {
        harness.requests(of: "k.key").map(\.keyReason)
    }

    @Test("N04: a key is requested again with the first segment after its renewal interval, without a delay")
    func renewal() throws {
        let slow = ScriptedOrigin.Reply.key().after(.seconds(9))
        var harness = EngineHarness.playing(
            "vod.m3u8", from: Self.leased(.key(KeyTerms(renewal: .seconds(20))), slow))
        harness.runToEnd()
        #expect(harness.didPlayToEnd, "\(harness.story)")
        #expect(Self.reasons(harness) == [.needed, .renewal])
        let renewal = try #require(harness.requests(of: "k.key").last)
        #expect(renewal.began >= .seconds(20))
        let segments = harness.requests.filter { $0.resourceClass == .segment }
        #expect(segments.contains { $0.began == renewal.began }, "it is asked for with a segment")
        let ended = try #require(renewal.ended)
        #expect(segments.contains { $0.began > renewal.began && ($0.ended ?? .zero) < ended }, "others go on")
    }

    @Test("N04: no segment is started with an expired key; it waits for the new key")
    func expiration() throws {
        let replies = [KeyTerms(expiration: .seconds(20)), KeyTerms()].map { ScriptedOrigin.Reply.key($0) }
        var harness = EngineHarness.playing(
            "vod.m3u8", from: Self.leased(replies[0], replies[1].after(.seconds(5))))
        harness.runToEnd()
        #expect(harness.didPlayToEnd, "\(harness.story)")
        #expect(Self.reasons(harness) == [.needed, .renewal])
        let began = try #require(harness.requests(of: "k.key").last?.began)
        #expect(began >= .seconds(20))
    }

    @Test(
        "N04: a pause longer than the lease renews no key; after play() the next segment gets a renewed key")
    func pausedBeyondLease() throws {
        let terms = KeyTerms(renewal: .seconds(20), expiration: .seconds(40))
        var harness = EngineHarness.playing(
            "vod.m3u8", from: Self.leased(.key(terms), .key(KeyTerms()).after(.seconds(3)), segments: 60))
        harness.run(until: .seconds(10))
        harness.control(.pause)
        harness.run(until: .seconds(3_600))
        #expect(Self.reasons(harness) == [.needed], "nothing is begun, so nothing is asked for")
        let requestCount = harness.requests.count
        harness.control(.play)
        #expect(harness.state.timeControlStatus == .playing, "what was loaded is decrypted")
        harness.runToEnd(by: .seconds(5_000))
        #expect(harness.didPlayToEnd, "\(harness.story)")
        #expect(Self.reasons(harness) == [.needed, .renewal])
        #expect(harness.requests[requestCount...].contains { $0.keyReason == .renewal && $0.began >= .seconds(3_600) })
        #expect(harness.state.statistics.numberOfStalls == 0)
    }

    @Test("N04: while a paused player loads, keys are renewed as during playback")
    func renewedWhilePaused() {
        var origin = Self.leased(.key(KeyTerms(expiration: .seconds(20))), .key(KeyTerms()), segments: 30)
        // The segment is so slow that the buffer is full long after the lease expires.
        origin.routes["s3.ts"] = { _ in .media(100_000).after(.seconds(25)) }
        var configuration = EngineConfiguration()
        configuration.parallelLoading = .sequential
        var harness = EngineHarness(origin: origin, configuration: configuration)
        harness.open("vod.m3u8")
        harness.run(until: .seconds(600))
        #expect(harness.state.timeControlStatus == .paused)
        #expect(Self.reasons(harness) == [.needed, .renewal])
        #expect(harness.error == nil)
    }

    @Test("N04: a refused renewal fails the item only when the old key has expired")
    func refusedRenewal() {
        let refused = ScriptedOrigin.Reply.failure(.application)
        var lasting = EngineHarness.playing(
            "vod.m3u8", from: Self.leased(.key(KeyTerms(renewal: .seconds(20))), refused))
        lasting.runToEnd()
        #expect(lasting.didPlayToEnd, "\(lasting.story)")
        #expect(lasting.requests(of: "k.key").count > 1)
        var expiring = EngineHarness.playing(
            "vod.m3u8", from: Self.leased(.key(KeyTerms(renewal: .seconds(20), expiration: .seconds(40))), refused))
        expiring.runToEnd()
        #expect(expiring.error?.code == .contentKey)
        #expect(expiring.error?.urlString == "https://host/k.key")
        #expect(expiring.state.currentTime.seconds > 40, "what was loaded is played")
    }

    @Test("N04: an app's key that does not decrypt is requested once more, with the reason", arguments: [1, 2])
    func obsolete(badCount: Int) {
        var origin = Self.leased(.key(), segments: 10)
        origin.routes["s3.ts"] = { visit in visit.earlierCount < badCount ? .spoiled(.wrongKey) : .media(100_000) }
        var harness = EngineHarness.playing("vod.m3u8", from: origin)
        harness.runToEnd()
        #expect(Self.reasons(harness) == [.needed, .receivedObsoleteContentKey])
        #expect(harness.didPlayToEnd == (badCount == 1), "\(harness.story)")
        #expect(badCount == 1 || harness.error?.code == .contentKey)
    }

    @Test(
        "a network key that once decrypted segments is requested again if a segment does not decrypt"
    )
    func rotation() {
        let garbage = SegmentFailure.media(MediaError(code: .unknownContainer, byteOffset: 0, text: ""))
        for failure in [SegmentFailure.wrongKey, garbage] {
            var origin = Self.leased(.media(16), segments: 10)
            for name in ["s3.ts", "s7.ts"] {
                origin.routes[name] = { visit in visit.earlierCount == 0 ? .spoiled(failure) : .media(100_000) }
            }
            var harness = EngineHarness.playing("vod.m3u8", from: origin)
            harness.runToEnd()
            #expect(harness.didPlayToEnd, "\(harness.story)")
            #expect(Self.reasons(harness) == [.needed, .receivedObsoleteContentKey, .receivedObsoleteContentKey])
        }
    }

    @Test(
        "live segments with an earlier key are skipped; if the newest fails, too, the item fails"
    )
    func earlierKey() {
        for oldCount in [2, 6] {
            var origin = ScriptedOrigin.live(Broadcast(laterCount: 8, tags: { _ in [Self.tag] }))
            for number in 100..<(100 + oldCount) { origin.answer("s\(number).ts", .spoiled(.wrongKey)) }
            var preferences = PlayerItemPreferences()
            preferences.startPosition = .oldest
            var harness = EngineHarness.playing("live.m3u8", from: origin, preferences: preferences)
            harness.runToEnd()
            #expect(harness.didPlayToEnd == (oldCount == 2), "\(harness.story)")
            #expect(oldCount == 2 || harness.error?.code == .contentKey)
            #expect(harness.requests(of: "k.key").count == 1)
        }
    }

    @Test("a key that never decrypted a segment is not requested again, and undecryptable segments are skipped")
    func unproven() {
        let garbage = SegmentFailure.media(MediaError(code: .unknownContainer, byteOffset: 0, text: ""))
        var origin = Self.leased(.media(16), segments: 10)
        origin.answer("s0.ts", .spoiled(garbage))
        origin.answer("s5.ts", .spoiled(garbage))
        var harness = EngineHarness.playing("vod.m3u8", from: origin)
        harness.runToEnd()
        #expect(harness.didPlayToEnd, "\(harness.story)")
        #expect(Self.reasons(harness) == [.needed, .receivedObsoleteContentKey])
    }

    @Test("N04: one renewal request serves all lanes")
    func sharedRenewal() {
        var origin = Self.origin()
        for name in ["v", "a"] {
            var text = PlaylistText.numbered(0, count: 30, prefix: name, isEnded: true)
            text.segments[0].tags = [Self.tag]
            origin.answer("\(name).m3u8", .text(text))
        }
        origin.answer("k.key", .key(KeyTerms(renewal: .seconds(20))), .key())
        var harness = EngineHarness.playing("main.m3u8", from: origin)
        harness.runToEnd()
        #expect(harness.didPlayToEnd)
        #expect(Self.reasons(harness) == [.needed, .renewal])
    }

    @Test("N05: a key override applies to all key systems, and a URL override replaces all key URLs")
    func override() {
        let tags = [
            #"#EXT-X-KEY:METHOD=SAMPLE-AES,URI="skd://asset",KEYFORMAT="com.example""#,
            #"#EXT-X-KEY:METHOD=AES-128,URI="l.key""#,
        ]
        let origin = ScriptedOrigin.vod {
            $0.segments[0].tags = [tags[0]]
            $0.segments[5].tags = [tags[1]]
        }
        var byKey = EngineHarness.playing("vod.m3u8", from: origin) {
            $0.keyRules.override = ContentKeyOverride(key: [UInt8](repeating: 1, count: 16))
        }
        byKey.runToEnd()
        #expect(byKey.didPlayToEnd, "\(byKey.story)")
        var byURL = EngineHarness.playing("vod.m3u8", from: origin) {
            $0.keyRules.override = ContentKeyOverride(urlString: "https://host/mine")
        }
        byURL.runToEnd()
        #expect(byURL.didPlayToEnd)
        #expect(byURL.requests(of: "mine").count == 1)
        #expect(byURL.requests(of: "l.key").isEmpty && byURL.requests(of: "skd://asset").isEmpty)
    }
}
