import HLSPlaylist
import Testing

@testable import HLSKitCore

@Suite("Engine, keys")
struct EngineKeyTests {
    private static let tag = #"#EXT-X-KEY:METHOD=AES-128,URI="k.key""#

    /// Video and separate audio with one key, which changes with the fifth segment.
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

    @Test("N01: a key is asked for once, however many segments and renditions need it")
    func once() {
        var harness = EngineHarness.playing("main.m3u8", from: Self.origin())
        harness.runToEnd()
        #expect(harness.didPlayToEnd, "\(harness.story)")
        #expect(harness.requests(of: "k.key").count == 1)
        #expect(harness.requests(of: "l.key").count == 1)
    }

    @Test("N01, R49: a key that fails once is asked for once more, for both renditions")
    func retry() {
        var origin = Self.origin()
        origin.answer("k.key", .status(503), .media(16))
        var harness = EngineHarness.playing("main.m3u8", from: origin)
        harness.runToEnd()
        #expect(harness.didPlayToEnd, "\(harness.story)")
        #expect(harness.requests(of: "k.key").count == 2)
    }

    @Test("R50: a key that is not there ends the item, and no one asks more than once again")
    func missing() {
        var origin = Self.origin()
        origin.answer("k.key", .status(404))
        var harness = EngineHarness.playing("main.m3u8", from: origin)
        harness.runToEnd()
        #expect(harness.error?.code == .contentKey)
        #expect(harness.error?.url == "https://host/k.key")
        #expect(harness.requests(of: "k.key").count <= 2)
    }

    @Test("N03: keys that the multivariant playlist announces are loaded before any media playlist is there")
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

    @Test("N04: a key system is used where the program has its keys, and is an error that names it otherwise")
    func keyFormat() {
        let tag = #"#EXT-X-KEY:METHOD=SAMPLE-AES,URI="skd://asset",KEYFORMAT="com.example""#
        let origin = ScriptedOrigin.vod { $0.segments[0].tags = [tag] }
        var alone = EngineHarness.playing("vod.m3u8", from: origin)
        alone.runToEnd()
        #expect(alone.error?.code == .contentKey)
        #expect(alone.error?.detail?.contains("com.example") == true)
        var harness = EngineHarness.playing("vod.m3u8", from: origin) { $0.keyFormats = ["com.example"] }
        harness.runToEnd()
        #expect(harness.didPlayToEnd)
        #expect(harness.requests(of: "skd://asset").count == 1)
    }
}
