import Testing

@testable import HLSKitCore

@Suite("Quality expressions")
struct QualityExpressionTests {
    private static let variants = [
        AssetVariant(
            index: 0, peakBitRate: 3e6, codecs: ["avc1.4d401f", "mp4a.40.2"],
            presentationSize: PixelSize(width: 1280, height: 720),
            nominalFrameRate: 30),
        AssetVariant(
            index: 1, peakBitRate: 4e6, codecs: ["avc1.4d401f", "mp4a.40.2"],
            presentationSize: PixelSize(width: 1280, height: 720),
            nominalFrameRate: 59.94),
        AssetVariant(
            index: 2, peakBitRate: 6e6, codecs: ["hvc1.2.4.L123", "ec-3"],
            presentationSize: PixelSize(width: 1920, height: 1080),
            nominalFrameRate: 60, videoRange: .pq),
        AssetVariant(
            index: 3, peakBitRate: 0.8e6, codecs: ["avc1.42c01e"], presentationSize: PixelSize(width: 640, height: 360)),
        AssetVariant(index: 4, peakBitRate: 0.1e6, codecs: ["mp4a.40.5"], hasVideo: false),
    ]

    private static let renditions = [
        RenditionCandidate(index: 0, language: "en", name: "English", channelCount: 2, codecs: ["mp4a.40.2"]),
        RenditionCandidate(index: 1, language: "en", name: "English 5.1", channelCount: 6, codecs: ["ec-3"]),
        RenditionCandidate(index: 2, language: "de-AT", name: "Deutsch", channelCount: 2),
        RenditionCandidate(index: 3, language: "den", name: "Forced", isForced: true),
        RenditionCandidate(index: 4, name: "Commentary"),
    ]

    @Test(
        "variants that match, best first",
        arguments: [
            ("best", [2]), ("worst", [4]), ("720p", [1, 0]), ("720p60", [1]), ("720p30", [0]), ("720p50", []),
            ("480p,720p60,best", [1]), ("480p,360p", [3]), ("height<=720", [1, 0, 3]), ("height<720", [3]),
            ("height>720", [2]), ("height>=720 fps>=60", [2, 1]), ("width=1280 bitrate<4M", [0]),
            ("bitrate>3000k", [2, 1]),
            ("bitrate<=0.8M", [3, 4]), ("bitrate<1g worst", [4]), ("codec=hevc", [2]), ("codec=AVC best", [1]),
            ("codec=h264 worst", [3]), ("codec=mp4a.40.5", [4]), ("codec=eac3", [2]), ("range=pq", [2]),
            ("range=hdr", [2]),
            ("range=sdr 720p", [1, 0]), ("  720p   codec=avc ", [1, 0]),
        ])
    func variantMatches(text: String, expected: [Int]) throws {
        #expect(try QualityExpression(parsing: text).matches(Self.variants) == expected)
    }

    @Test(
        "renditions that match, more channels first",
        arguments: [
            ("lang=en", [1, 0]), ("lang=EN channels=2", [0]), ("lang=de", [2]), ("lang=fr,lang=de-at", [2]),
            ("channels>=6,best", [1]), ("name=commentary", [4]), ("forced=yes", [3]), ("forced=no lang=de", [2]),
            ("codec=eac3", [1]), ("worst", [4]), ("lang=en best", [1]), ("lang=e", []),
        ])
    func renditionMatches(text: String, expected: [Int]) throws {
        #expect(try QualityExpression(parsing: text, for: .renditions).matches(Self.renditions) == expected)
    }

    @Test(
        "errors say what is wrong and what would be right",
        arguments: [
            ("", "\"\": nothing between two commas"),
            ("720p,,best", "\"\" in \"720p,,best\": nothing between two commas"),
            ("heigth<=720", "\"heigth<=720\": unknown key \"heigth\": height, width, bitrate, fps, codec, range"),
            ("lang=de", "\"lang=de\": unknown key \"lang\": height, width, bitrate, fps, codec, range"),
            (
                "hd",
                "\"hd\": not a term: best, worst, 720p, 720p60, or height, width, bitrate, fps, codec, range with =, <=, >=, < or >"
            ),
            ("best height=", "\"height=\" in \"best height=\": no value after ="),
            ("height<=tall", "\"height<=tall\": \"tall\" is not a number"),
            ("height=3M", "\"height=3M\": \"3M\" is not a number"),
            ("bitrate<3X", "\"bitrate<3X\": \"3X\" is not a number, with k, M or G"),
            ("bitrate<inf", "\"bitrate<inf\": \"inf\" is not a number, with k, M or G"),
            ("codec<avc", "\"codec<avc\": codec allows = only"),
            ("best worst", "\"worst\" in \"best worst\": best or worst is already given"),
            (
                "=720",
                "\"=720\": not a term: best, worst, 720p, 720p60, or height, width, bitrate, fps, codec, range with =, <=, >=, < or >"
            ),
        ])
    func errors(text: String, expected: String) {
        let error = #expect(throws: QualityExpressionError.self) { try QualityExpression(parsing: text) }
        #expect(error?.description == expected)
    }

    @Test(
        "errors about renditions",
        arguments: [
            (
                "720p",
                "\"720p\": not a term: best, worst, or lang, name, channels, codec, forced with =, <=, >=, < or >"
            ),
            ("forced=maybe", "\"forced=maybe\": forced is yes or no"),
        ])
    func renditionErrors(text: String, expected: String) {
        let error = #expect(throws: QualityExpressionError.self) {
            try QualityExpression(parsing: text, for: .renditions)
        }
        #expect(error?.description == expected)
    }
}
