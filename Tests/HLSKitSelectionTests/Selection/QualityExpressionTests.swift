import HLSKitLoading
import HLSKitPlaylist
import HLSKitSelection
import Synchronization
import Testing

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

    @Test(
        "a variant without BANDWIDTH matches no bit rate",
        arguments: [
            ("bitrate<=1M", []), ("bitrate>=0", []), ("bitrate=0", []), ("height=720", [0]), ("bitrate<1,best", [0]),
        ])
    func undeclaredBitRate(_ text: String, _ expected: [Int]) throws {
        let variant = AssetVariant(index: 0, peakBitRate: 0, presentationSize: PixelSize(width: 1280, height: 720))
        #expect(try QualityExpression(parsing: text).matches([variant]) == expected)
    }

    private static let renditions = [
        RenditionCandidate(index: 0, language: "en", name: "English", channelCount: 2, codecs: ["mp4a.40.2"]),
        RenditionCandidate(index: 1, language: "en", name: "English 5.1", channelCount: 6, codecs: ["ec-3"]),
        RenditionCandidate(index: 2, language: "de-AT", name: "Deutsch", channelCount: 2),
        RenditionCandidate(index: 3, language: "den", name: "Forced", isForced: true),
        RenditionCandidate(index: 4, name: "Commentary"),
    ]

    @Test(
        "matching variants are sorted, best first",
        arguments: [
            ("best", [2]), ("worst", [4]), ("720p", [1, 0]), ("720p60", [1]), ("720p30", [0]), ("720p50", []),
            ("480p,720p60,best", [1]), ("480p,360p", [3]), ("height<=720", [1, 0, 3]), ("height<720", [3]),
            ("height>720", [2]), ("height>=720 fps>=60", [2, 1]), ("width=1280 bitrate<4M", [0]),
            ("bitrate>3000k", [2, 1]),
            ("bitrate<=0.8M", [3, 4]), ("bitrate<1g worst", [4]), ("codec=hevc", [2]), ("codec=AVC best", [1]),
            ("codec=h264 worst", [3]), ("codec=mp4a.40.5", [4]), ("codec=eac3", [2]), ("range=pq", [2]),
            ("range=hdr", [2]),
            ("range=sdr 720p", [1, 0]), ("  720p   codec=avc ", [1, 0]), ("codec!=hevc", [1, 0, 3, 4]),
            ("height!=720", [2, 3, 4]), ("fps!=60 height>=720", [0]),
        ])
    func variantMatches(text: String, expected: [Int]) throws {
        #expect(try QualityExpression(parsing: text).matches(Self.variants) == expected)
    }

    @Test(
        "matching renditions are sorted, more channels first",
        arguments: [
            ("lang=en", [1, 0]), ("lang=EN channels=2", [0]), ("lang=de", [2]), ("lang=fr,lang=de-at", [2]),
            ("channels>=6,best", [1]), ("name=commentary", [4]), ("forced=yes", [3]), ("forced=no lang=de", [2]),
            ("codec=eac3", [1]), ("worst", [4]), ("lang=en best", [1]), ("lang=e", []),
            ("lang=en codec!=eac3", [0]), ("lang!=en channels=2", [2]),
        ])
    func renditionMatches(text: String, expected: [Int]) throws {
        #expect(try QualityExpression(parsing: text, for: .renditions).matches(Self.renditions) == expected)
    }

    @Test(
        "errors give the mistake and the correct form",
        arguments: [
            ("", "\"\": nothing between two commas"),
            ("720p,,best", "\"\" in \"720p,,best\": nothing between two commas"),
            (
                "heigth<=720",
                "\"heigth<=720\": unknown key \"heigth\": height, width, bitrate, fps, codec, range, channels, binaural, immersive, downmix"
            ),
            (
                "lang=de",
                "\"lang=de\": unknown key \"lang\": height, width, bitrate, fps, codec, range, channels, binaural, immersive, downmix"
            ),
            (
                "hd",
                "\"hd\": not a term: best, worst, 720p, 720p60, or height, width, bitrate, fps, codec, range, channels, binaural, immersive, downmix with =, !=, <=, >=, <, > or ~"
            ),
            ("best height=", "\"height=\" in \"best height=\": no value after ="),
            ("height<=tall", "\"height<=tall\": \"tall\" is not a number"),
            ("height=3M", "\"height=3M\": \"3M\" is not a number"),
            ("bitrate<3X", "\"bitrate<3X\": \"3X\" is not a number, with k, M or G"),
            ("bitrate<inf", "\"bitrate<inf\": \"inf\" is not a number, with k, M or G"),
            ("codec<avc", "\"codec<avc\": codec allows =, != and ~ only"),
            ("best worst", "\"worst\" in \"best worst\": best or worst is already given"),
            (
                "=720",
                "\"=720\": not a term: best, worst, 720p, 720p60, or height, width, bitrate, fps, codec, range, channels, binaural, immersive, downmix with =, !=, <=, >=, <, > or ~"
            ),
        ])
    func errors(text: String, expected: String) {
        let error = #expect(throws: HLSError.self) { try QualityExpression(parsing: text) }
        #expect(error?.description == expected)
    }

    @Test(
        "errors about renditions give the mistake and the correct form",
        arguments: [
            (
                "720p",
                "\"720p\": not a term: best, worst, or lang, name, channels, codec, forced, sdh, described, characteristic, binaural, immersive, downmix with =, !=, <=, >=, <, > or ~"
            ),
            ("forced=maybe", "\"forced=maybe\": forced is yes or no"),
            ("binaural=2", "\"binaural=2\": binaural is yes or no"),
        ])
    func renditionErrors(text: String, expected: String) {
        let error = #expect(throws: HLSError.self) {
            try QualityExpression(parsing: text, for: .renditions)
        }
        #expect(error?.description == expected)
    }

    // MARK: Literal names

    private static let named = [
        RenditionCandidate(index: 0, language: "en", name: "English"),
        RenditionCandidate(
            index: 1, language: "en", name: "English (Audio Description)",
            characteristics: ["public.accessibility.describes-video"]),
        RenditionCandidate(
            index: 2, language: "en", name: "English (SDH)",
            characteristics: [
                "public.accessibility.transcribes-spoken-dialog", "public.accessibility.describes-music-and-sound",
            ]),
        RenditionCandidate(index: 3, language: "es-419", name: "Español (Latinoamérica), \"neutro\""),
        RenditionCandidate(index: 4, language: "fr", name: "L'original"),
        RenditionCandidate(index: 5, language: "en", name: "English (Forced)", isForced: true),
    ]

    @Test(
        "names with blanks, commas and quotes are quoted or escaped; ~ matches a substring",
        arguments: [
            (#"name="English (SDH)""#, [2]), ("name='English (SDH)'", [2]), (#"name=English\ (SDH)"#, [2]),
            ("name~sdh", [2]), ("lang=en name~DESC", [1]), (#"name~"(audio d""#, [1]),
            (#"name="Español (Latinoamérica), \"neutro\"""#, [3]), ("name=l'original", [4]),
            (#"name=L\'Original"#, [4]),
            ("sdh=yes", [2]), ("described=yes", [1]), ("sdh=no lang=en", [0, 1, 5]), ("characteristic~music", [2]),
            ("characteristic=public.accessibility.describes-video", [1]), ("lang~419", [3]),
            (#"name="nothing, here",lang=fr"#, [4]), ("lang=en name=English", [0]),
        ] as [(String, [Int])])
    func names(text: String, expected: [Int]) throws {
        #expect(try QualityExpression(parsing: text, for: .renditions).matches(Self.named) == expected)
    }

    @Test(
        "unclosed quotes, and operators that do not fit, are refused",
        arguments: [
            (#"name="English"#, "a quote is not closed"), (#"name=English\"#, "nothing after the backslash"),
            ("sdh~y", "sdh allows = and != only"), ("channels~2", "channels is a number and allows no ~"),
            (#"name="" lang=en"#, "no value after ="), ("name>x", "name allows =, != and ~ only"),
        ])
    func unclosed(text: String, cause: String) {
        let error = #expect(throws: HLSError.self) { try QualityExpression(parsing: text, for: .renditions) }
        #expect(error?.description.hasSuffix(cause) == true, "\(error?.description ?? "")")
    }

    @Test("a value is quoted if necessary, and read back unchanged")
    func quoting() throws {
        #expect(QualityExpression.quoted("English") == "English")
        for name in ["English (SDH)", "a,b", #"say "hi""#, #"back\slash"#, "L'original", " "] {
            let candidates = [RenditionCandidate(index: 0, name: "other"), RenditionCandidate(index: 1, name: name)]
            let text = "name=" + QualityExpression.quoted(name)
            #expect(try QualityExpression(parsing: text, for: .renditions).matches(candidates) == [1], "\(text)")
        }
        let term = QualityExpression([.contains(.name, "SDH")], subject: .renditions)
        #expect(term.matches(Self.named) == [2])
    }

    // MARK: Channels

    private static func variant(_ index: Int, _ renditions: [AudioRendition]) -> AssetVariant {
        AssetVariant(index: index, peakBitRate: Double(index + 1) * 1e6, audioGroup: "a", audioRenditions: renditions)
    }

    private static let stereo = AudioRendition(id: "2", channelCount: 2)
    private static let headphones = AudioRendition(
        id: "b", channelCount: 2, channelUsage: [.binaural, .downmix])
    private static let objects = AudioRendition(id: "16", channelCount: 16, channelUsage: [.immersive])

    @Test(
        "E15: variants match by audio channels and their usage",
        arguments: [
            ("channels>2", [2]), ("channels<=2", [1, 0]), ("binaural=yes", [1]), ("binaural=no", [2, 0]),
            ("immersive=yes", [2]), ("downmix=yes", [1]), ("channels>=6,binaural=yes", [2]),
        ])
    func channels(text: String, expected: [Int]) throws {
        let variants = [
            Self.variant(0, [Self.stereo]), Self.variant(1, [Self.stereo, Self.headphones]),
            Self.variant(2, [Self.objects]), Self.variant(3, [AudioRendition(id: "?")]),
        ]
        #expect(try QualityExpression(parsing: text).matches(variants) == expected)
    }

    @Test("E15: renditions match by audio usage; undeclared ones match neither value")
    func usage() throws {
        let renditions = [
            RenditionCandidate(index: 0, name: "a", channelCount: 2, channelUsage: [.binaural]),
            RenditionCandidate(index: 1, name: "b", channelCount: 2, channelUsage: []),
            RenditionCandidate(index: 2, name: "c"),
        ]
        #expect(try QualityExpression(parsing: "binaural=yes", for: .renditions).matches(renditions) == [0])
        #expect(try QualityExpression(parsing: "binaural=no", for: .renditions).matches(renditions) == [1])
    }

    // MARK: Values

    @Test("E15: an expression of values matches like its text")
    func values() throws {
        let cases: [(QualityExpression, String)] = [
            (QualityExpression([.best]), "best"), (QualityExpression([.atMost(.height, 720)]), "height<=720"),
            (QualityExpression([.equal(.height, 480)], [.equal(.codec, "hevc"), .best]), "height=480,codec=hevc best"),
            (QualityExpression([.atLeast(.bitrate, 3e6), .worst]), "bitrate>=3000k worst"),
            (QualityExpression([.equal(.range, "hdr")]), "range=hdr"),
            (QualityExpression([.atLeast(.fps, 50), .atMost(.fps, 60)]), "fps>=50 fps<=60"),
        ]
        for (expression, text) in cases {
            let expected = try QualityExpression(parsing: text).matches(Self.variants)
            #expect(expression.matches(Self.variants) == expected, "\(text)")
        }
        let forced = QualityExpression([.has(.forced)], subject: .renditions)
        #expect(forced.matches(Self.renditions) == [3])
        #expect(QualityExpression([.equal(.lang, "de")], [.best], subject: .renditions).matches(Self.renditions) == [2])
    }

    @Test("E15: an app's condition works in combination with others, in order")
    func predicate() {
        let own = QualityExpression([.matching { $0.index == 9 }], [.matching { $0.index < 3 }, .worst])
        #expect(own.matches(Self.variants) == [0])
        #expect(own.description == "matching,matching worst")
        #expect(own == own)
        #expect(own != QualityExpression([.matching { $0.index == 9 }], [.matching { $0.index < 3 }, .worst]))
        #expect(QualityExpression([.matching { _ in true }], subject: .renditions).matches(Self.renditions).isEmpty)
        #expect(QualityExpression([]).matches(Self.variants).count == Self.variants.count)
        #expect(QualityExpression().matches(Self.variants).isEmpty)
    }

    @Test("E15: an app's condition is called once per variant, in advance")
    func judged() {
        let asked = Mutex<[Int]>([])
        let own = QualityExpression([
            .matching { variant in
                asked.withLock { $0.append(variant.index) }
                return variant.index == 2
            }
        ])
        own.judge(Self.variants)
        #expect(asked.withLock { $0 } == [0, 1, 2, 3, 4])
        #expect(own.matches(Self.variants) == [2])
        #expect(own.matches(Self.variants) == [2])
        #expect(asked.withLock { $0.count } == 5)
    }
}
