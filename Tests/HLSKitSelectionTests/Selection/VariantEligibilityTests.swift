import HLSKitLoading
import HLSKitPlaylist
import TestSupport
import Testing

@testable import HLSKitSelection

@Suite("Variant eligibility")
struct VariantEligibilityTests {
    struct Case: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var variants: [AssetVariant]
        var context: SelectionContext
        var eligible: [Int]
        var exclusions: [Int: IneligibilityReason]

        init(
            _ name: String, _ variants: [AssetVariant], _ change: (inout SelectionContext) -> Void = { _ in },
            eligible: [Int], _ exclusions: [Int: IneligibilityReason] = [:]
        ) {
            testDescription = name
            self.variants = variants
            context = SelectionContext()
            change(&context)
            self.eligible = eligible
            self.exclusions = exclusions
        }
    }

    private static func variant(
        _ index: Int, _ bandwidth: Double = 1e6, change: (inout AssetVariant.Facts) -> Void = { _ in }
    ) -> AssetVariant {
        var variant = AssetVariant(index: index, peakBitRate: bandwidth)
        change(&variant.facts)
        return variant
    }

    private static func sized(_ index: Int, _ width: Int, _ height: Int, _ bandwidth: Double = 1e6) -> AssetVariant {
        variant(index, bandwidth) { $0.resolution = PixelSize(width: width, height: height) }
    }

    private static func withAudio(_ index: Int, _ options: [AudioRendition]) -> AssetVariant {
        variant(index) { $0.audioOptions = options }
    }

    private static let ladder = [sized(0, 640, 360, 1e6), sized(1, 1280, 720, 3e6), sized(2, 1920, 1080, 6e6)]
    private static let english = AudioRendition(id: "en", language: "en", channelCount: 2)
    private static let englishSurround = AudioRendition(id: "en51", language: "en", channelCount: 6)
    private static let german = AudioRendition(id: "de", language: "de", channelCount: 2)

    private static let hardSteps: [Case] = [
        Case("nothing said: all", ladder, eligible: [0, 1, 2]),
        Case("no variants", [], eligible: []),
        Case(
            "1: a codec that cannot be decoded",
            [variant(0) { $0.codecs = ["avc1", "mp4a"] }, variant(1) { $0.codecs = ["avc1", "xyz1"] }, variant(2)],
            { $0.canDecode = { $0 != "xyz1" } }, eligible: [0, 2], [1: .codec]),
        Case(
            "1: none left is none", [variant(0) { $0.codecs = ["xyz1"] }], { $0.canDecode = { _ in false } },
            eligible: [], [0: .codec]),
        Case(
            "1: a failed probe", [variant(0), variant(1)], { $0.unplayableVariants = [0] }, eligible: [1], [0: .codec]),
        Case(
            "1, 3: pass-through takes all codecs and levels",
            [variant(0) { $0.codecs = ["xyz1"] }, variant(1) { $0.hdcpLevel = .type1 }],
            {
                $0.canDecode = { _ in false }
                $0.isPassThrough = true
            }, eligible: [0, 1]),
        Case(
            "2: a layout nobody understands",
            [
                variant(0) { $0.requiredVideoLayouts = ["CH-STEREO"] },
                variant(1) { $0.requiredVideoLayouts = ["CH-MONO"] },
            ],
            eligible: [1], [0: .requirement]),
        Case(
            "2: a content protection that is not there",
            [
                variant(0) { $0.allowedCPC = ["com.example:HW"] },
                variant(1) { $0.allowedCPC = ["com.example:HW", "com.example:SW"] },
            ],
            { $0.contentProtection = ["com.example:SW"] }, eligible: [1], [0: .requirement]),
        Case(
            "3: HDCP above what is allowed",
            [
                variant(0) { $0.hdcpLevel = HDCPLevel.none }, variant(1) { $0.hdcpLevel = .type0 },
                variant(2) { $0.hdcpLevel = .type1 }, variant(3) { $0.hdcpLevel = HDCPLevel(rawValue: "TYPE-9") },
            ],
            { $0.allowedHDCPLevel = .type0 }, eligible: [0, 1], [2: .hdcpLevel, 3: .hdcpLevel]),
        Case(
            "3: none by default", [variant(0), variant(1) { $0.hdcpLevel = .type0 }], eligible: [0], [1: .hdcpLevel]),
        Case(
            "4: a range that outputs do not take", [variant(0) { $0.videoRange = .pq }, variant(1)],
            { $0.supportedVideoRanges = [.sdr] }, eligible: [1], [0: .videoRange]),
        Case(
            "4: all would fall, all stay", [variant(0) { $0.videoRange = .pq }, variant(1) { $0.videoRange = .hlg }],
            { $0.supportedVideoRanges = [.sdr] }, eligible: [0, 1]),
        Case(
            "5: the audio option itself", [withAudio(0, [english]), withAudio(1, [englishSurround]), variant(2)],
            { $0.audibleOption = english }, eligible: [0], [1: .audioGroup, 2: .audioGroup]),
        Case(
            "5: else its language", [withAudio(0, [german]), withAudio(1, [englishSurround])],
            { $0.audibleOption = english }, eligible: [1], [0: .audioGroup]),
        Case("5: else any", [withAudio(0, [german]), variant(1)], { $0.audibleOption = english }, eligible: [0, 1]),
    ]

    private static let softSteps: [Case] = [
        Case(
            "6: more channels than the output", [withAudio(0, [englishSurround]), withAudio(1, [english])],
            { $0.maximumChannelCount = 2 }, eligible: [1], [0: .audioFormat]),
        Case(
            "6: lossless audio only on request",
            [variant(0) { $0.codecs = ["avc1", "fLaC"] }, variant(1) { $0.codecs = ["avc1", "mp4a"] }],
            eligible: [1], [0: .audioFormat]),
        Case(
            "6: lossless audio on request", [variant(0) { $0.codecs = ["avc1", "fLaC"] }, variant(1)],
            { $0.prefersLosslessAudio = true }, eligible: [0, 1]),
        Case("7: the penalty box", ladder, { $0.penalizedVariants = [1] }, eligible: [0, 2], [1: .penalized]),
        Case("7: all in the box, all stay", ladder, { $0.penalizedVariants = [0, 1, 2] }, eligible: [0, 1, 2]),
        Case(
            "8: audio only beside video", [variant(0) { $0.hasVideo = false }, variant(1)], eligible: [1],
            [0: .audioOnly]),
        Case("8: audio only alone", [variant(0) { $0.hasVideo = false }], eligible: [0]),
        Case(
            "9: the cap is inclusive", ladder, { $0.preferredPeakBitRate = 3e6 }, eligible: [0, 1], [2: .peakBitRate]),
        Case(
            "9: below all, the lowest stays", ladder, { $0.preferredPeakBitRate = 1 }, eligible: [0],
            [1: .peakBitRate, 2: .peakBitRate]),
        Case(
            "10: both sides", ladder, { $0.preferredMaximumResolution = PixelSize(width: 1280, height: 700) },
            eligible: [0],
            [1: .maximumResolution, 2: .maximumResolution]),
        Case(
            "10: undeclared passes", [variant(0), sized(1, 640, 360)],
            { $0.preferredMaximumResolution = PixelSize(width: 100, height: 100) }, eligible: [0],
            [1: .maximumResolution]),
        Case(
            "11: nothing above the smallest that fills the display", ladder,
            { $0.display = .init(size: PixelSize(width: 1000, height: 1000)) }, eligible: [0, 1], [2: .displaySize]),
        Case(
            "11: fill needs both sides", ladder,
            { $0.display = .init(size: PixelSize(width: 1000, height: 1000), gravity: .resizeAspectFill) },
            eligible: [0, 1, 2]),
        Case(
            "11: exactly the display", ladder,
            { $0.display = .init(size: PixelSize(width: 640, height: 360), gravity: .resize) }, eligible: [0],
            [1: .displaySize, 2: .displaySize]),
        Case(
            "11: a display larger than all", ladder, { $0.display = .init(size: PixelSize(width: 3840, height: 2160)) },
            eligible: [0, 1, 2]),
        Case("12: too many pixels", ladder, { $0.maximumPixelCount = 1280 * 720 }, eligible: [0, 1], [2: .limits]),
        Case(
            "12: too many frames", [variant(0) { $0.frameRate = 30 }, variant(1) { $0.frameRate = 59.94 }, variant(2)],
            { $0.maximumFrameRate = 30 }, eligible: [0, 2], [1: .limits]),
        Case("12: bounds", ladder, { $0.bitRateBounds = 2e6...4e6 }, eligible: [1], [0: .limits, 2: .limits]),
        Case("pinned", ladder, { $0.pinnedVariant = ladder[2].id }, eligible: [2], [0: .notPinned, 1: .notPinned]),
        Case(
            "pinned to what does not exist", ladder, { $0.pinnedVariant = .init(rawValue: "9") }, eligible: [0, 1, 2]),
        Case(
            "a step sees what the steps before it left", ladder,
            {
                $0.unplayableVariants = [0]
                $0.preferredPeakBitRate = 1
            }, eligible: [1], [0: .codec, 2: .peakBitRate]),
    ]

    @Test("E05, E08, E09, E10: each step excludes its variants and gives the reason", arguments: hardSteps + softSteps)
    func step(_ testCase: Case) {
        let eligibility = VariantEligibility(testCase.variants, in: testCase.context)
        #expect(eligibility.eligible.map(\.index) == testCase.eligible)
        #expect(eligibility.exclusions == testCase.exclusions)
    }

    struct Reasons: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var variants: [AssetVariant]
        var context: SelectionContext
        var reasons: [Int: [IneligibilityReason]]

        init(
            _ name: String, _ variants: [AssetVariant], _ reasons: [Int: [IneligibilityReason]],
            _ change: (inout SelectionContext) -> Void = { _ in }
        ) {
            testDescription = name
            self.variants = variants
            context = SelectionContext()
            change(&context)
            self.reasons = reasons
        }
    }

    @Test(
        "A13: an excluded variant has all its reasons, in the order of the steps",
        arguments: [
            Reasons("nothing", ladder, [:]),
            Reasons(
                "codec, protection, HDCP and range",
                [
                    variant(0),
                    variant(1) {
                        $0.codecs = ["xyz1"]
                        $0.requiredVideoLayouts = ["CH-STEREO"]
                        $0.hdcpLevel = .type1
                        $0.videoRange = .pq
                    },
                ], [1: [.codec, .requirement, .hdcpLevel, .videoRange]]
            ) {
                $0.canDecode = { $0 != "xyz1" }
                $0.supportedVideoRanges = [.sdr]
            },
            Reasons(
                "caps beside each other", ladder,
                [1: [.peakBitRate, .maximumResolution], 2: [.peakBitRate, .maximumResolution, .limits]]
            ) {
                $0.preferredPeakBitRate = 2e6
                $0.preferredMaximumResolution = PixelSize(width: 640, height: 360)
                $0.bitRateBounds = 1e6...4e6
            },
            Reasons(
                "a cap counts also where nothing is left", [variant(0, 6e6) { $0.codecs = ["xyz1"] }],
                [0: [.codec, .peakBitRate]]
            ) {
                $0.canDecode = { _ in false }
                $0.preferredPeakBitRate = 2e6
            },
            Reasons("the lowest stays below a cap, and has none", ladder, [1: [.peakBitRate], 2: [.peakBitRate]]) {
                $0.preferredPeakBitRate = 1
            },
            Reasons(
                "a step that takes nothing is none", [variant(0) { $0.codecs = ["xyz1"] }, variant(1)], [0: [.codec]]
            ) {
                $0.canDecode = { $0 != "xyz1" }
                $0.penalizedVariants = [1]
            },
            Reasons("pinned: nothing else is looked at", ladder, [0: [.notPinned], 1: [.notPinned]]) {
                $0.pinnedVariant = ladder[2].id
                $0.canDecode = { _ in false }
            },
        ])
    private func reasons(_ testCase: Reasons) {
        let reasons = VariantEligibility.reasons(testCase.variants, in: testCase.context)
        #expect(reasons == testCase.reasons)
        let eligibility = VariantEligibility(testCase.variants, in: testCase.context)
        #expect(reasons.compactMapValues(\.first) == eligibility.exclusions)
    }

    @Test("a quality keeps matching variants, prefers the caps, and overrides them")
    func quality() throws {
        func eligible(_ quality: String, peak: Double? = nil) throws -> [Int] {
            var context = SelectionContext()
            context.quality = try QualityExpression(parsing: quality)
            context.preferredPeakBitRate = peak
            return VariantEligibility(Self.ladder, in: context).eligible.map(\.index)
        }
        #expect(try eligible("height<=720") == [0, 1])
        #expect(try eligible("best") == [2])
        #expect(try eligible("best", peak: 3e6) == [1])
        #expect(try eligible("1080p", peak: 3e6) == [2])
        #expect(try eligible("2160p") == [])
        #expect(try eligible("2160p,worst") == [0])
    }

    @Test("the documented example gives its result")
    func example() {
        let variants = [
            Self.sized(0, 1280, 720, 3e6), Self.sized(1, 640, 360, 0.8e6), Self.sized(2, 1920, 1080, 6e6),
            Self.variant(3, 15e6) {
                $0.resolution = PixelSize(width: 3840, height: 2160)
                $0.codecs = ["hvc1.2.4.L153"]
                $0.videoRange = .pq
            },
        ]
        var context = SelectionContext()
        context.display = .init(size: PixelSize(width: 1280, height: 720))
        context.supportedVideoRanges = [.sdr]
        func first() -> Int? {
            let eligible = VariantEligibility(variants, in: context).eligible
            return InitialVariantRule().choose(from: eligible, knownThroughput: nil)?.number
        }
        let eligibility = VariantEligibility(variants, in: context)
        #expect(eligibility.eligible.map(\.index) == [0, 1])
        #expect(eligibility.exclusions == [3: .videoRange, 2: .displaySize])
        #expect(first() == 0)
        context.preferredPeakBitRate = 2e6
        #expect(first() == 1)
        context.preferredPeakBitRate = nil
        #expect(first() == 0)
        context.preferredPeakBitRate = 0.5e6
        #expect(first() == 1)
    }

    struct Start: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var scores: [Double?] = [nil, nil, nil]
        var throughput: Double?
        var takesFirst = false
        var expected: Int
    }

    @Test(
        "E01, E02, E03: the first variant follows from the known throughput",
        arguments: [
            Start(testDescription: "nothing known", expected: 0),
            Start(testDescription: "asked for the first", throughput: 10e6, takesFirst: true, expected: 0),
            Start(testDescription: "exactly 0.8 of what is known", throughput: 7.5e6, expected: 2),
            Start(testDescription: "a little less", throughput: 7.4e6, expected: 0),
            Start(testDescription: "less than the lowest", throughput: 0.1e6, expected: 1),
            Start(testDescription: "by score", scores: [3, 1, 2], throughput: 10e6, expected: 0),
            Start(testDescription: "scores that are not complete", scores: [3, nil, 2], throughput: 10e6, expected: 2),
        ])
    func initialVariant(_ start: Start) {
        var variants = [Self.variant(0, 3e6), Self.variant(1, 1e6), Self.variant(2, 6e6)]
        for (index, score) in start.scores.enumerated() { variants[index].facts.score = score }
        let decision = InitialVariantRule().choose(
            from: variants, knownThroughput: start.throughput, startsOnFirstEligibleVariant: start.takesFirst)
        #expect(decision?.number == start.expected)
        #expect(decision?.explanation.isEmpty == false)
        #expect(InitialVariantRule().choose(from: [], knownThroughput: 1) == nil)
    }
}
