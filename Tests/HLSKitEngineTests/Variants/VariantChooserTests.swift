import HLSKitPlaylist
import HLSKitSelection
import TestSupport
import Testing

@testable import HLSKitEngine

@Suite("Variant chooser")
struct VariantChooserTests {
    private static let variants = [(0, 2e6), (1, 1e6), (2, 4e6)].map { index, bandwidth in
        AssetVariant(index: index, peakBitRate: bandwidth, uri: "v\(index).m3u8")
    }

    private static func chooser(keepsBest: Bool = false) -> VariantChooser {
        var chooser = VariantChooser()
        chooser.open(variants, base: "https://host/all.m3u8", in: SelectionContext(), penalty: .seconds(60))
        chooser.follow(keepsBest: keepsBest)
        return chooser
    }

    private static func playing(
        _ current: Int, keepsBest: Bool = false, _ limits: SelectionLimits = SelectionLimits()
    ) -> VariantChooser {
        var chooser = chooser(keepsBest: keepsBest)
        use(chooser.change(to: current, at: .zero, because: "first"), in: &chooser)
        _ = limit(&chooser, limits)
        return chooser
    }

    private static func limit(_ chooser: inout VariantChooser, _ limits: SelectionLimits) -> [Int]? {
        guard let segment = try? segment(1) else { return nil }
        var indices: [Int]?
        for action in chooser.consider(segment, limits, separateAudio: nil, facts()) {
            switch action {
            case .report(let eligibility): indices = eligibility.eligible.map(\.index)
            case .choose(let choice): chooser.choose(from: choice, limits)
            case .take, .takeBest, .ask: break
            }
        }
        return indices
    }

    private static func decide(
        _ chooser: VariantChooser, about index: Int, _ limits: SelectionLimits = SelectionLimits(),
        _ facts: VariantChooser.Facts = facts()
    ) throws -> VariantChooser.Action? {
        chooser.consider(try segment(index), limits, separateAudio: nil, facts).last
    }

    private static func use(_ change: VariantChooser.VariantSwitch, in chooser: inout VariantChooser) {
        chooser.carryOut(change, as: AssetVariant(index: change.to, peakBitRate: 1e6))
    }

    private static func segment(_ index: Int) throws -> VariantChooser.Segment {
        let tracker = PlaylistTracker(
            try PlaylistText.numbered(0, count: 6, isEnded: true).parsed(), requestURL: "https://host/v.m3u8",
            url: "https://host/v.m3u8", start: .zero, loadBegan: .zero, now: .zero)
        return VariantChooser.Segment(index: index, tracker: tracker)
    }

    private static func facts() -> VariantChooser.Facts {
        VariantChooser.Facts(moment: SelectionMoment(now: .zero), bufferCapacity: .seconds(30))
    }

    private static func decision(_ index: Int) -> SelectionDecision {
        SelectionDecision(number: index, maximumForwardBuffer: .seconds(9), explanation: "the rule says so")
    }

    // MARK: First choice

    struct First: CustomTestStringConvertible {
        var testDescription: String
        var keepsBest = false
        var separateAudio: Set<Int>?
        var throughput: Double?
        var startsOnFirst = false
        var index: Int
    }

    static let firsts: [First] = [
        First(testDescription: "nothing is known: the first of the playlist", index: 0),
        First(testDescription: "what the network carries", throughput: 6e6, index: 2),
        First(testDescription: "the lowest where it carries none", throughput: 1e5, index: 1),
        First(testDescription: "the first, as asked for", throughput: 6e6, startsOnFirst: true, index: 0),
        First(testDescription: "the best is kept", keepsBest: true, throughput: 1e5, index: 2),
        First(testDescription: "the first is kept", keepsBest: true, startsOnFirst: true, index: 0),
        First(testDescription: "the cheapest that has audio apart", separateAudio: [0, 2], throughput: 6e6, index: 0),
    ]

    @Test("the first variant follows from the playlist and the limits", arguments: firsts)
    func first(_ test: First) {
        var chooser = Self.chooser(keepsBest: test.keepsBest)
        let first = chooser.first(
            in: SelectionLimits(), separateAudio: test.separateAudio, throughput: test.throughput,
            startsOnFirst: test.startsOnFirst)
        #expect(first.eligibility.eligible.map(\.index) == [0, 1, 2])
        #expect(first.decision?.number == test.index)
        #expect(chooser.choice.map(\.index) == (test.separateAudio == nil ? [1, 0, 2] : [0]))
        #expect(chooser.hasChoice == (!test.keepsBest && test.separateAudio == nil))
    }

    // MARK: Next choices

    @Test("a decision for another variant is a switch at the segment, and is requested once")
    func switches() throws {
        var chooser = Self.playing(0)
        let segment = try Self.segment(2)
        #expect(chooser.isOpen(at: segment.start))
        guard case .ask(let input) = try Self.decide(chooser, about: 2) else {
            Issue.record("the rule is to choose")
            return
        }
        #expect(input.candidates.map(\.index) == [1, 0, 2])
        #expect((input.currentVariantID?.number, input.segmentNumber, input.segmentCount) == (0, 2, 6))
        let change = chooser.take(Self.decision(2), for: segment.start)
        #expect(change == VariantChooser.VariantSwitch(from: 0, to: 2, at: segment.start, because: "the rule says so"))
        #expect(chooser.maximumForwardBuffer == .seconds(9))
        #expect(!chooser.isOpen(at: segment.start))
        #expect(chooser.isOpen(at: try Self.segment(3).start))
        chooser.decideAgain()
        #expect(chooser.isOpen(at: segment.start))
    }

    @Test("a decision for the current variant is not a switch")
    func stays() throws {
        var chooser = Self.playing(0)
        let start = try Self.segment(2).start
        #expect(chooser.take(Self.decision(0), for: start) == nil)
        #expect(!chooser.isOpen(at: start))
    }

    @Test("before any measurement the first variant is kept, unless it is excluded")
    func firstSegment() throws {
        var facts = Self.facts()
        facts.isFirstSegment = true
        var chooser = Self.playing(0)
        guard case .take(let decision) = try Self.decide(chooser, about: 0, SelectionLimits(), facts) else {
            Issue.record("nothing is to be chosen")
            return
        }
        #expect(chooser.take(decision, for: .zero) == nil)
        #expect(!chooser.isOpen(at: .zero))
        let limits = SelectionLimits(penalized: [2])
        guard case .ask = try Self.decide(Self.playing(2, limits), about: 0, limits, facts) else {
            Issue.record("another one is to be chosen")
            return
        }
    }

    @Test("a decision names a variant: it survives reordering, and an unknown variant changes nothing")
    func decisionByName() {
        let named = [("low", 1e6), ("middle", 2e6), ("high", 4e6)].enumerated().map { index, variant in
            AssetVariant(index: index, id: AssetVariant.ID(rawValue: variant.0), peakBitRate: variant.1)
        }
        var chooser = VariantChooser()
        chooser.open(named, base: "https://host/all.m3u8", in: SelectionContext())
        Self.use(chooser.change(to: 1, at: .zero, because: "first"), in: &chooser)
        let decision = SelectionDecision(variantID: AssetVariant.ID(rawValue: "high"), explanation: "the rule says so")
        var other = chooser
        #expect(other.take(decision, for: .seconds(4))?.to == 2)

        let moved = [(0, "high"), (1, "middle"), (2, "low")].map { index, name in
            AssetVariant(index: index, id: AssetVariant.ID(rawValue: name), peakBitRate: 1e6)
        }
        other = chooser
        other.renew(moved, base: "https://host/all.m3u8")
        #expect(other.take(decision, for: .seconds(4))?.to == 0)
        other = chooser
        other.renew(Array(moved.dropFirst()), base: "https://host/all.m3u8")
        #expect(other.take(decision, for: .seconds(4)) == nil)
        #expect(other.giveUp(for: decision, at: .seconds(4)) == nil)
    }

    @Test("the rule is not asked if only one variant is left")
    func onlyOne() throws {
        let limits = SelectionLimits(penalized: [0, 2])
        guard case .take(let decision) = try Self.decide(Self.playing(0, limits), about: 1, limits) else {
            Issue.record("it is decided")
            return
        }
        #expect(decision.number == 1)
    }

    @Test("the best variant is kept, without a replacement if outputs cannot change formats", arguments: [false, true])
    func keepsBest(isFixed: Bool) throws {
        var chooser = Self.playing(0, keepsBest: true)
        var facts = Self.facts()
        facts.isFixed = isFixed
        guard case .takeBest = try Self.decide(chooser, about: 1, SelectionLimits(), facts) else {
            Issue.record("no rule is to choose")
            return
        }
        let change = chooser.takeBest(for: try Self.segment(1), facts)
        #expect(change?.to == (isFixed ? nil : 2))
    }

    @Test("an item without a multivariant playlist has no decisions")
    func single() {
        var chooser = VariantChooser()
        chooser.openSingle(at: "https://host/v.m3u8")
        #expect(!chooser.isOpen(at: .zero))
        #expect(!chooser.hasChoice)
        #expect(chooser.description?.index == 0)
        #expect(chooser.description?.urlString == "https://host/v.m3u8")
        #expect(chooser.description?.peakBitRate == nil)
    }

    // MARK: Limits

    @Test("eligible variants are reported when they change")
    func limits() {
        var chooser = Self.playing(0)
        #expect(Self.limit(&chooser, SelectionLimits()) == nil)
        #expect(Self.limit(&chooser, SelectionLimits(penalized: [2])) == [0, 1])
        #expect(chooser.choice.map(\.index) == [1, 0])
        chooser.exclude(1)
        #expect(Self.limit(&chooser, SelectionLimits(penalized: [2])) == [0])
        #expect(chooser.unplayable == [1])
        // Fresh URLs refer to the same variants, whose choice is computed again.
        chooser.renew(Self.variants, base: "https://fresh/all.m3u8")
        #expect(Self.limit(&chooser, SelectionLimits(penalized: [2])) == [0])
    }

    @Test("if no variant is eligible, the choice is kept and evaluated each time")
    func nothingLeft() {
        var chooser = Self.playing(0)
        for index in 0..<3 { chooser.exclude(index) }
        for _ in 0..<2 { #expect(Self.limit(&chooser, SelectionLimits()) == []) }
        #expect(chooser.choice.count == 3)
    }

    // MARK: Switches in progress

    @Test("a switch is in progress until a segment of the new variant was read")
    func underWay() {
        var chooser = Self.playing(0)
        #expect(chooser.underWay?.to == 0)
        chooser.noteRead(of: 0)
        #expect(chooser.underWay == nil)
        let change = chooser.change(to: 2, at: .seconds(8), because: "more")
        Self.use(change, in: &chooser)
        #expect(chooser.current == 2)
        #expect(chooser.underWay == change)
        chooser.noteRead(of: 0)
        #expect(chooser.underWay == change)
        #expect(chooser.lastRead == 0)
        chooser.noteRead(of: 2)
        #expect(chooser.underWay == nil)
    }

    @Test("an abandoned segment is already decided")
    func givesUp() {
        var chooser = Self.playing(2)
        let change = chooser.giveUp(for: Self.decision(1), at: .seconds(8))
        #expect(change == VariantChooser.VariantSwitch(from: 2, to: 1, at: .seconds(8), because: "the rule says so"))
        #expect(!chooser.isOpen(at: .seconds(8)))
        #expect(chooser.isOpen(at: .seconds(12)))
    }

    @Test("a failure is remembered until it is forgiven; then the next segment is decided once more")
    func forgives() {
        var chooser = Self.playing(0)
        _ = chooser.take(Self.decision(0), for: .seconds(8))
        chooser.avoid([0], from: .seconds(4), at: .zero)
        #expect(chooser.failedAt == .seconds(4))
        #expect(chooser.avoided.variants(of: nil, at: .zero) == [0])
        chooser.forgive()
        #expect(chooser.failedAt == nil)
        #expect(chooser.avoided.variants(of: nil, at: .zero).isEmpty)
        #expect(chooser.isOpen(at: .seconds(8)))
    }

    // MARK: Past failures

    struct Passed: CustomTestStringConvertible {
        var testDescription: String
        var isForgiven: Bool
        var keepsBest = true
        var failedAt: Duration? = .seconds(40)
        var time = Duration.seconds(100)
        var past = VariantChooser.Past()
    }

    static let passed: [Passed] = [
        Passed(testDescription: "as much media was loaded as the penalty is long", isForgiven: true),
        Passed(testDescription: "less was", isForgiven: false, time: .seconds(99)),
        Passed(testDescription: "nothing failed", isForgiven: false, failedAt: nil),
        Passed(testDescription: "a rule chooses", isForgiven: false, keepsBest: false),
        Passed(
            testDescription: "played in real time", isForgiven: false,
            past: VariantChooser.Past(isPaced: true)),
        Passed(
            testDescription: "live", isForgiven: false,
            past: VariantChooser.Past(isLive: true)),
        Passed(
            testDescription: "the segment that failed is still under way", isForgiven: false,
            past: VariantChooser.Past(next: .seconds(41))),
        Passed(
            testDescription: "a later one is under way", isForgiven: true,
            past: VariantChooser.Past(next: .seconds(42))),
    ]

    @Test("an unpaced recording returns to a failed variant after enough media", arguments: passed)
    func forgivesPassed(_ test: Passed) {
        var chooser = Self.playing(0, keepsBest: test.keepsBest)
        if let time = test.failedAt { chooser.avoid([0], from: time, at: .zero) }
        #expect(chooser.forgivesPassed(upTo: test.time, test.past) == test.isForgiven)
    }

    @Test("a failure is forgiven when the segment it concerned is lost")
    func forgivesLost() {
        var chooser = Self.playing(0, keepsBest: true)
        #expect(!chooser.forgivesLost(at: .seconds(4)))
        chooser.avoid([0], from: .seconds(4), at: .zero)
        #expect(chooser.forgivesLost(at: .milliseconds(4900)))
        #expect(!chooser.forgivesLost(at: .seconds(5)))
        // The next segment comes from the best variant again, which is a different one.
        #expect(chooser.isReloaded(from: .seconds(8), after: .seconds(4), among: Self.variants))
        #expect(!chooser.isReloaded(from: .seconds(2), after: .seconds(4), among: Self.variants))
        #expect(!chooser.isReloaded(from: .seconds(8), after: .seconds(4), among: [Self.variants[0]]))
    }

    @Test("a segment is held back while the buffer exceeds the rule's limit")
    func holdsBack() {
        var chooser = Self.playing(0)
        #expect(!chooser.holdsBack(.seconds(100)))
        _ = chooser.take(Self.decision(0), for: .zero)
        #expect(chooser.holdsBack(.seconds(10)))
        #expect(!chooser.holdsBack(.seconds(9)))
    }

    // MARK: Sizes

    @Test("loaded segments predict the sizes of later ones and the current bit rate")
    func sizes() throws {
        var chooser = Self.playing(0)
        #expect(chooser.sizes.loadedBitRate == nil)
        // Half of BANDWIDTH.
        chooser.noteLoaded(byteCount: 1_500_000, duration: .seconds(12), of: 0)
        #expect(chooser.sizes.loadedBitRate == 1e6)
        let segment = try Self.segment(2)
        let input = chooser.input(for: segment, SelectionMoment(now: .zero), bufferCapacity: .seconds(30))
        #expect(input.upcoming.first?.byteCounts == [250_000, 500_000, 1_000_000])
        Self.use(chooser.change(to: 1, at: .zero, because: ""), in: &chooser)
        #expect(chooser.sizes.loadedBitRate == nil)
    }
}
