import HLSKitSelection
import TestSupport
import Testing

@Suite("Variant rule for recordings")
struct RecordingRuleTests {
    /// Variants of 5, 3 and 1 Mbit/s, and the best one again.
    private static let candidates = [5e6, 3e6, 1e6, 5e6].enumerated().map { AssetVariant(index: $0, peakBitRate: $1) }

    private static func window(before: Int, after: Int) -> RecordingRule.Window {
        RecordingRule.Window(before: .seconds(before), after: .seconds(after), targetDuration: .seconds(6))
    }

    struct Row: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var current: Int?
        var throughput: Double?
        var window: RecordingRule.Window?
        var chosen: Int
    }

    private static let rows: [Row] = [
        Row(testDescription: "at the start", chosen: 0),
        Row(testDescription: "VOD on a slow link", current: 0, throughput: 1e5, chosen: 0),
        Row(testDescription: "VOD, after another had to stand in", current: 2, throughput: 1e5, chosen: 0),
        Row(testDescription: "redundant: none is better", current: 3, throughput: 1e9, chosen: 3),
        Row(
            testDescription: "live at the edge", current: 0, throughput: 1e6, window: window(before: 18, after: 6),
            chosen: 0),
        Row(
            testDescription: "live, behind, much is listed before", current: 0, throughput: 4e6,
            window: window(before: 600, after: 18), chosen: 0),
        Row(
            testDescription: "live from the oldest segment on a fast link", current: 0, throughput: 2e7,
            window: window(before: 0, after: 36), chosen: 0),
        Row(
            testDescription: "live, about to lose media", current: 0, throughput: 4e6,
            window: window(before: 12, after: 24), chosen: 1),
        Row(
            testDescription: "live, about to lose media, nothing fits", current: 0, throughput: 1e5,
            window: window(before: 0, after: 30), chosen: 2),
        Row(
            testDescription: "live, nothing measured", current: 0, window: window(before: 0, after: 30), chosen: 0),
    ]

    @Test("the best variant is recorded, and a lower one before media is lost", arguments: rows)
    func choice(_ row: Row) {
        var rule = RecordingRule()
        let situation = RecordingRule.Situation(
            candidates: Self.candidates, current: row.current.map(AssetVariant.ID.init(number:)),
            throughput: row.throughput, itemTime: .seconds(60),
            window: row.window)
        #expect(rule.decide(situation).number == row.chosen)
    }

    @Test("the best variant returns after keeping up for a while, each time later")
    func comesBack() {
        var rule = RecordingRule()
        func decide(_ time: Int, _ current: Int, _ throughput: Double, after: Int) -> Int {
            rule.decide(
                RecordingRule.Situation(
                    candidates: Self.candidates, current: AssetVariant.ID(number: current), throughput: throughput,
                    itemTime: .seconds(time),
                    window: Self.window(before: 6, after: after))
            ).number
        }
        #expect(decide(0, 0, 4e6, after: 24) == 1)
        #expect(decide(6, 1, 1e7, after: 24) == 1)
        #expect(decide(54, 1, 1e7, after: 6) == 1)
        #expect(decide(60, 1, 5e6, after: 6) == 1, "it would not carry the best")
        #expect(decide(66, 1, 1e7, after: 6) == 0)
        #expect(decide(72, 0, 4e6, after: 24) == 1)
        #expect(decide(138, 1, 1e7, after: 6) == 1)
        #expect(decide(192, 1, 1e7, after: 6) == 0)
    }

    struct Judgement: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var remaining: Int
        var window: RecordingRule.Window
        var chosen: Int?
    }

    private static let judgements: [Judgement] = [
        Judgement(testDescription: "in time", remaining: 1_000_000, window: window(before: 6, after: 30)),
        Judgement(
            testDescription: "too late", remaining: 3_000_000, window: window(before: 6, after: 30), chosen: 2),
        Judgement(
            testDescription: "too late, but at the edge", remaining: 3_000_000, window: window(before: 6, after: 6)
        ),
        Judgement(testDescription: "much is listed", remaining: 3_000_000, window: window(before: 60, after: 30)),
    ]

    @Test("a segment is abandoned if its loading time would lose later segments", arguments: judgements)
    func judgement(_ row: Judgement) {
        var rule = RecordingRule()
        let download = RecordingRule.Download(
            current: Self.candidates[0], duration: .seconds(6), remainingByteCount: row.remaining, throughput: 1.3e6,
            window: row.window)
        #expect(rule.judge(download, among: Self.candidates, at: .zero)?.number == row.chosen)
    }
}
