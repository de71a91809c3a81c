import HLSKitLoading
import HLSKitPlaylist
import HLSKitSelection
import TestSupport
import Testing

@testable import HLSKitEngine

/// The capabilities of the machine and explicit bounds limit an item's variants (docs/reference/selection.md).
@Suite("Engine: capabilities")
struct EngineCapabilityTests {
    struct Case: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var attributes: String
        var isTaken: Bool
        var outputs = OutputLimits()
        var isPassThrough = false
        var policy = VariantPolicy.automatic
        var change: @Sendable (inout PlaybackCapabilities) -> Void = { _ in }
    }

    @Test(
        "each capability limit excludes the variants above it",
        arguments: [
            Case(testDescription: "nothing special", attributes: "", isTaken: true),
            Case(testDescription: "HDCP", attributes: ",HDCP-LEVEL=TYPE-0", isTaken: false),
            Case(
                testDescription: "HDCP, allowed", attributes: ",HDCP-LEVEL=TYPE-0", isTaken: true,
                change: { $0.allowedHDCPLevel = .type0 }),
            Case(
                testDescription: "a higher HDCP level", attributes: ",HDCP-LEVEL=TYPE-1", isTaken: false,
                change: { $0.allowedHDCPLevel = .type0 }),
            Case(
                testDescription: "HDCP, samples only", attributes: ",HDCP-LEVEL=TYPE-1", isTaken: true,
                isPassThrough: true),
            Case(testDescription: "PQ", attributes: ",VIDEO-RANGE=PQ", isTaken: true),
            Case(
                testDescription: "PQ, not supported", attributes: ",VIDEO-RANGE=PQ", isTaken: false,
                change: { $0.supportedVideoRanges = [.sdr, .hlg] }),
            Case(
                testDescription: "HLG, an output of standard range", attributes: ",VIDEO-RANGE=HLG", isTaken: false,
                outputs: OutputLimits(needsStandardRange: true)),
            Case(
                testDescription: "stereoscopic", attributes: #",REQ-VIDEO-LAYOUT="CH-STEREO""#, isTaken: false),
            Case(
                testDescription: "stereoscopic, understood", attributes: #",REQ-VIDEO-LAYOUT="CH-STEREO""#,
                isTaken: true, change: { $0.understoodVideoLayouts = [.monoscopicVideo, .stereoVideo] }),
            Case(
                testDescription: "content protection", attributes: #",ALLOWED-CPC="com.example.drm1:SMART-TV/PC""#,
                isTaken: false),
            Case(
                testDescription: "content protection, offered",
                attributes: #",ALLOWED-CPC="com.example.drm1:SMART-TV/PC""#, isTaken: true,
                change: { $0.contentProtection = ["com.example.drm1:PC"] }),
            Case(testDescription: "surround", attributes: #",AUDIO="six""#, isTaken: true),
            Case(
                testDescription: "surround on two channels", attributes: #",AUDIO="six""#, isTaken: false,
                change: { $0.maximumChannelCount = 2 }),
            Case(
                testDescription: "pixels", attributes: ",RESOLUTION=3840x2160", isTaken: false,
                change: { $0.maximumPixelCount = 1920 * 1080 }),
            Case(
                testDescription: "pixels, just so", attributes: ",RESOLUTION=1920x1080", isTaken: true,
                change: { $0.maximumPixelCount = 1920 * 1080 }),
            Case(
                testDescription: "frame rate", attributes: ",FRAME-RATE=60.000", isTaken: false,
                change: { $0.maximumFrameRate = 30 }),
            Case(
                testDescription: "frame rate, just so", attributes: ",FRAME-RATE=30.000", isTaken: true,
                change: { $0.maximumFrameRate = 30 }),
            Case(
                testDescription: "E13: above the bounds", attributes: "", isTaken: false,
                policy: .bounded(500_000...1_500_000)),
            Case(
                testDescription: "E13: below the bounds is the other", attributes: "", isTaken: true,
                policy: .bounded(1_500_000...9_000_000)),
            Case(
                testDescription: "E13: nothing is within the bounds", attributes: "", isTaken: false,
                policy: .bounded(1...2)),
        ])
    func limits(_ limits: Case) {
        var configuration = EngineConfiguration()
        if !limits.isPassThrough { configuration.canPlayCodec = { _ in true } }
        limits.change(&configuration.capabilities)
        var preferences = PlayerItemPreferences()
        preferences.variantPolicy = limits.policy
        var harness = EngineHarness(origin: Self.origin(limits.attributes), configuration: configuration)
        harness.control(.setOutputLimits(limits.outputs))
        harness.control(.setPreferences(preferences))
        harness.open("main.m3u8")
        harness.control(.play)
        harness.run(until: .seconds(60)) { $0.mediaPaths.contains { ["a0.ts", "b0.ts"].contains($0) } }
        let first = harness.mediaPaths.first { ["a0.ts", "b0.ts"].contains($0) }
        #expect(first == (limits.isTaken ? "a0.ts" : "b0.ts"))
    }

    @Test("if every variant has an unsupported video range, the limit is ignored")
    func onlyUnsupportedRanges() {
        var configuration = EngineConfiguration()
        configuration.capabilities.supportedVideoRanges = [.sdr]
        var origin = Self.origin(",VIDEO-RANGE=PQ")
        origin.answer(
            "main.m3u8", .text("#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=2000000,VIDEO-RANGE=PQ\na.m3u8\n"))
        var harness = EngineHarness.playing("main.m3u8", from: origin) { $0 = configuration }
        harness.runToEnd()
        #expect(harness.mediaPaths.first == "a0.ts")
    }

    @Test("an item without a playable variant fails and gives the reason for each variant")
    func nothingEligible() {
        var origin = Self.origin("")
        origin.answer(
            "main.m3u8",
            .text(
                """
                #EXTM3U
                #EXT-X-STREAM-INF:BANDWIDTH=2000000,CODECS="xyz1"
                a.m3u8
                #EXT-X-STREAM-INF:BANDWIDTH=1000000,HDCP-LEVEL=TYPE-1
                b.m3u8

                """))
        var configuration = EngineConfiguration()
        configuration.canPlayCodec = { $0 != "xyz1" }
        var harness = EngineHarness.playing("main.m3u8", from: origin) { $0 = configuration }
        harness.run(until: .seconds(5))
        #expect(harness.state.itemStatus == .failed)
        #expect(harness.engine.item?.error?.code == .noEligibleVariant)
        #expect(harness.engine.item?.error?.detail == "#0: codec, #1: hdcpLevel")
        #expect(harness.mediaPaths.isEmpty)
    }

    private static func origin(_ attributes: String) -> ScriptedOrigin {
        var origin = ScriptedOrigin()
        origin.media = { _ in .media(100_000) }
        origin.answer(
            "main.m3u8",
            .text(
                """
                #EXTM3U
                #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="six",NAME="surround",LANGUAGE="en",DEFAULT=YES,CHANNELS="6",URI="s.m3u8"
                #EXT-X-STREAM-INF:BANDWIDTH=2000000\(attributes)
                a.m3u8
                #EXT-X-STREAM-INF:BANDWIDTH=1000000
                b.m3u8

                """))
        for name in ["a", "b", "s"] {
            origin.answer("\(name).m3u8", .text(.numbered(0, count: 4, prefix: name, isEnded: true)))
        }
        return origin
    }
}
