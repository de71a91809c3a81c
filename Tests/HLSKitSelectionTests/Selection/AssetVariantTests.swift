import HLSKitPlaylist
import HLSKitSelection
import Testing

@Suite("Asset variants")
struct AssetVariantTests {
    private static func list(_ lines: [String]) throws -> [AssetVariant] {
        let text = (["#EXTM3U"] + lines).joined(separator: "\n") + "\n"
        return AssetVariant.list(of: try MultivariantPlaylist(parsing: text, url: "https://host/main.m3u8"))
    }

    private static let low = "#EXT-X-STREAM-INF:BANDWIDTH=1000000,RESOLUTION=640x360,CODECS=\"avc1.4d401e\""
    private static let high = "#EXT-X-STREAM-INF:BANDWIDTH=3000000,RESOLUTION=1280x720,CODECS=\"avc1.4d401f\""

    @Test("E13: a variant keeps its name if order, URL or other variants change")
    func names() throws {
        let before = try Self.list([Self.low, "low.m3u8?token=1", Self.high, "high.m3u8?token=1"])
        let after = try Self.list([
            "#EXT-X-STREAM-INF:BANDWIDTH=500000", "lowest.m3u8", Self.high, "https://other/token2/h.m3u8", Self.low,
            "low.m3u8?token=2",
        ])
        #expect(before.map(\.id) == [after[2].id, after[1].id])
        #expect(Set(after.map(\.id)).count == 3)
        #expect(before[0].urlString == "https://host/low.m3u8?token=1")
    }

    @Test("E13: STABLE-VARIANT-ID is the name if declared, whatever else changes")
    func stable() throws {
        let before = try Self.list([Self.low + ",STABLE-VARIANT-ID=\"a\"", "x.m3u8"])
        let after = try Self.list([Self.high + ",STABLE-VARIANT-ID=\"a\"", "y.m3u8"])
        #expect(before[0].id == AssetVariant.ID(rawValue: "a"))
        #expect(after[0].id == before[0].id)
    }

    @Test("E13: identical variants have distinct names, numbered in order")
    func alike() throws {
        let variants = try Self.list([Self.low, "one.m3u8", Self.low, "two.m3u8", Self.high, "three.m3u8"])
        #expect(variants[1].id.rawValue == variants[0].id.rawValue + "#2")
        #expect(Set(variants.map(\.id)).count == 3)
    }

    @Test("E13: no two variants have the same name, whatever names the playlist declares")
    func unique() throws {
        let variants = try Self.list(
            ["a", "a", "a#2", "a#2", "a"].flatMap { [Self.low + ",STABLE-VARIANT-ID=\"\($0)\"", "\($0).m3u8"] })
        #expect(variants.map(\.id.rawValue) == ["a", "a#2", "a#2#2", "a#2#3", "a#3"])
    }

    @Test("E13: a variant is equal whether or not its playability is known")
    func equality() throws {
        let text = "#EXTM3U\n\(Self.low)\nlow.m3u8\n\(Self.high)\nhigh.m3u8\n"
        let playlist = try MultivariantPlaylist(parsing: text, url: "https://host/main.m3u8")
        let known = AssetVariant.list(of: playlist)
        var context = SelectionContext()
        context.canDecode = { $0 != "avc1.4d401f" }
        let judged = AssetVariant.list(of: playlist, judgedIn: context)
        #expect(judged.map(\.ineligibilityReasons) == [[], [.codec]])
        #expect(known.map(\.ineligibilityReasons) == [[], []])
        #expect(judged == known && Set(judged + known).count == 2)
    }

    @Test("A13: undeclared values are nil, and no number traps")
    func undeclared() throws {
        let bare = AssetVariant(onlyVariantAt: "https://host/media.m3u8")
        #expect(bare.peakBitRate == nil && bare.averageBitRate == nil && bare.hdcpLevel == nil)
        #expect(bare.videoAttributes?.presentationSize == nil)
        #expect(bare.description == "variant 0")
        let huge = try #require(try Self.list(["#EXT-X-STREAM-INF:BANDWIDTH=9223372036854775807", "v.m3u8"]).first)
        #expect(huge.description.hasSuffix("bit/s"))
    }

    @Test("E15: CHANNELS gives the number of channels and their usage")
    func channels() throws {
        let variants = try Self.list([
            #"#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="English",LANGUAGE="en",CHANNELS="2",URI="a.m3u8""#,
            #"#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="Headphones",CHANNELS="2/-/BINAURAL,DOWNMIX",URI="b.m3u8""#,
            #"#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="Objects",CHANNELS="16/JOC",URI="c.m3u8""#,
            Self.low + ",AUDIO=\"a\"", "v.m3u8",
        ])
        let renditions = try #require(variants.first?.audioAttributes?.renditions)
        #expect(renditions.map(\.channelCount) == [2, 2, 16])
        #expect(renditions.map(\.channelUsage) == [[], [.binaural, .downmix], []])
    }

    @Test("E09: HDCP levels are ordered by protection, unknown ones above all")
    func levels() {
        let levels: [HDCPLevel] = [.init(rawValue: "TYPE-9"), .type1, .none, .type0]
        #expect(levels.sorted().map(\.rawValue) == ["NONE", "TYPE-0", "TYPE-1", "TYPE-9"])
    }
}
