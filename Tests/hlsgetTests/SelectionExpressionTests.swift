import HLSKitCore
import Testing

@testable import hlsget

@Suite("selection expressions")
struct SelectionExpressionTests {
    static let variants: [SelectionExpression.Candidate] = [
        VariantDescription(
            index: 0, bandwidth: 3_000_000, width: 1280, height: 720, frameRate: 29.97, codecs: "avc1.4d401f,mp4a.40.2"),
        VariantDescription(
            index: 1, bandwidth: 800_000, width: 640, height: 360, frameRate: 29.97, codecs: "avc1.4d401e,mp4a.40.2"),
        VariantDescription(
            index: 2, bandwidth: 4_500_000, width: 1280, height: 720, frameRate: 59.94,
            codecs: "hvc1.1.6.L93, mp4a.40.2"),
        VariantDescription(index: 3, bandwidth: 64_000, codecs: "mp4a.40.5"),
        VariantDescription(
            index: 4, bandwidth: 15_000_000, width: 3840, height: 2160, frameRate: 24, codecs: "hvc1.2.4.L150"),
    ].map { SelectionExpression.Candidate(variant: $0, videoRange: $0.height == 2160 ? "PQ" : nil) }

    @Test(
        "an expression leaves the variants that match its first fitting alternative",
        arguments: [
            ("best", [4]), ("worst", [3]), ("720p", [0, 2]), ("720p60", [2]), ("720p30", [0]), ("1080p", []),
            ("1080p,720p", [0, 2]), ("1080p,best", [4]), ("height<=720", [0, 1, 2]), ("height<=720 codec=hevc", [2]),
            ("height<720,worst", [1]), ("bitrate<=3M bitrate>800k", [0]), ("bitrate=800k", [1]), ("fps>=50", [2]),
            ("codec=h264", [0, 1]), ("codec=avc1", [0, 1]), ("codec=aac", [0, 1, 2, 3]), ("range=pq", [4]),
            ("range=SDR height>0", [0, 1, 2]), ("best height<=720", [2]), ("720p worst", [0]), ("width=640", [1]),
            ("  720p  ", [0, 2]), ("height>=4000", []),
        ])
    func quality(text: String, positions: [Int]) throws {
        let expression = try SelectionExpression(parsing: text, for: .quality)
        #expect(expression.matches(in: Self.variants) == positions)
    }

    static let renditions: [SelectionExpression.Candidate] = [
        .init(language: "en", name: "English", channelCount: 2, codecs: ["mp4a.40.2"], isForced: false),
        .init(language: "de-AT", name: "Deutsch", channelCount: 6, codecs: ["ec-3"], isForced: false),
        .init(language: nil, name: "Music", channelCount: nil, codecs: [], isForced: true),
    ]

    @Test(
        "renditions are chosen by language, name, channels, codec and forced",
        arguments: [
            ("lang=en", [0]), ("lang=de", [1]), ("lang=de-at", [1]), ("lang=d", []), ("lang=fr,lang=en", [0]),
            ("name=music", [2]), ("channels=2", [0]), ("channels>2", [1]), ("codec=eac3", [1]), ("forced=yes", [2]),
            ("forced=no channels>=1", [0, 1]),
        ])
    func rendition(text: String, positions: [Int]) throws {
        let expression = try SelectionExpression(parsing: text, for: .rendition)
        #expect(expression.matches(in: Self.renditions) == positions)
    }

    @Test(
        "what is not understood is refused with a hint",
        arguments: [
            ("", "empty"), ("720p,", "empty"), (",", "empty"), ("best worst", "contradict"), ("foo", "720p60"),
            ("lang=en", "not one of height"), ("height<=x", "number"), ("codec<hevc", "="), ("p", "not understood"),
            ("720px", "not understood"), ("height", "not understood"), ("=5", "not understood"),
            ("0p", "not understood"),
        ])
    func refused(text: String, words: String) {
        let error = #expect(throws: ArgumentValueError.self) { try SelectionExpression(parsing: text, for: .quality) }
        #expect(error?.description.contains(words) == true, "\(error?.description ?? "")")
    }

    @Test("a bare language is answered with how to write it")
    func bareLanguage() {
        let error = #expect(throws: ArgumentValueError.self) { try SelectionExpression(parsing: "de", for: .rendition) }
        #expect(error?.description.contains("lang=de") == true)
    }
}
