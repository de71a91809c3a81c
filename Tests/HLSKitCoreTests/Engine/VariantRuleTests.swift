import Testing

@testable import HLSKitCore

@Suite("Variant rule")
struct VariantRuleTests {
    /// Chooses the variant of a number, and counts how often it was asked.
    private struct Fixed: VariantSelector {
        var index = 1
        var count = 0

        mutating func decide(_ input: SelectionInput) -> SelectionDecision {
            count += 1
            let count = count
            return SelectionDecision(variantIndex: index, explanation: "asked \(count) times")
        }
    }

    private static let request = RequestID(rawValue: 3)
    private static let segment = SegmentID(lane: .main, rawValue: 7)

    /// A download of variant 1, of which 1,000 bytes are expected.
    private static var download: WatchedDownload {
        WatchedDownload(
            request: request, segment: segment, variantIndex: 1, segmentDuration: .seconds(4),
            probableByteCount: 1_000,
            input: SelectionInput(
                now: .zero, candidates: [0, 1].map { VariantCandidate(index: $0, bandwidth: 1e6) },
                forwardBuffer: .zero, upcoming: []))
    }

    @Test("a rule of the library is asked here, one of the program elsewhere")
    func kinds() {
        #expect(!VariantRule(ScenarioRule()).isOfProgram)
        var rule = VariantRule(Fixed())
        #expect(rule.isOfProgram)
        #expect(rule.decide(Self.download.input).explanation == "asked 1 times")
        #expect((rule.selector as? Fixed)?.count == 1)
        rule.goOn(with: Fixed(index: 2, count: 8))
        #expect(rule.decide(Self.download.input).explanation == "asked 9 times")
    }

    @Test(
        "a look knows what has come, and of how much, as far as that is told",
        arguments: [(nil, 10, 1_000), (400, 10, 400), (400, 500, 500), (nil, 2_000, 2_000)] as [(Int?, Int, Int)])
    func looks(declared: Int?, received: Int, expected: Int) {
        var rule = VariantRule(ScenarioRule())
        let moment = SelectionMoment(now: .seconds(9), forwardBuffer: .seconds(5), rate: 2, isPlaying: true)
        func look() -> SelectionInput? {
            rule.look(
                moment, requested: .seconds(7), responded: .seconds(8), receivedByteCount: received,
                declaredByteCount: declared)
        }
        #expect(look() == nil)
        rule.watch(Self.download)
        let input = look()
        #expect(
            input?.download
                == SelectionInput.Download(
                    variantIndex: 1, segmentDuration: .seconds(4), requested: .seconds(7), firstByte: .seconds(8),
                    receivedByteCount: received, expectedByteCount: expected))
        #expect((input?.now, input?.forwardBuffer, input?.rate) == (.seconds(9), .seconds(5), 2))
        #expect(rule.isWatching(Self.request))
        rule.watch(nil)
        #expect(!rule.isWatching(Self.request))
    }

    @Test(
        "a segment is given up for another variant of those there are",
        arguments: [(0, true), (1, false), (2, false)])
    func givesUp(index: Int, isGivenUp: Bool) {
        var rule = VariantRule(ScenarioRule())
        let decision = SelectionDecision(variantIndex: index, explanation: "")
        #expect(rule.segment(givenUpBy: decision) == nil)
        rule.watch(Self.download)
        #expect(rule.segment(givenUpBy: decision) == (isGivenUp ? Self.segment : nil))
    }
}
