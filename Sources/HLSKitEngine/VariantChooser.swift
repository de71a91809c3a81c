import HLSKitLoading
import HLSKitPlaylist
import HLSKitSelection

/// Knows the variants of an item, which of them may be used, and which one the next segment comes from.
///
/// Asked before each segment (``consider(_:_:separateAudio:_:)``). Where a rule is to choose, ``take(_:for:)`` makes a
/// ``VariantSwitch`` of what it decided. The rule itself is another value (``VariantRule``), since it may be the
/// program's, which answers later.
///
/// Source: docs/behaviour/selection.md.
struct VariantChooser: Sendable {
    /// All variants of the item, in the order of the playlist; empty without a multivariant playlist.
    private(set) var candidates: [AssetVariant] = []
    /// Index of the variant in use.
    private(set) var current: Int?
    private(set) var description: AssetVariant?
    /// What the rule said last: load only when no more than this is ahead.
    private(set) var maximumForwardBuffer: Duration?
    /// How large segments are.
    private(set) var sizes = VariantSizes()
    /// Those that the rule can choose from, lowest `BANDWIDTH` first.
    private(set) var choice: [AssetVariant] = []
    /// The best variant is kept, and no rule chooses.
    private(set) var keepsBest = false

    /// What was done about a window that moves too fast, where the best is kept.
    private var recording = RecordingRule()
    /// Those whose media turned out not to be playable here.
    private(set) var unplayable: Set<Int> = []
    /// Those that failed of late.
    private(set) var avoided = AvoidedSources()
    /// Where they come from.
    private(set) var pathways = Pathways()
    /// What limited the choice.
    @Shared private var known: KnownLimits? = nil
    /// The start of the segment that was decided for last.
    private var decidedFor: Duration?
    /// The start of the segment that was given up last for another pathway.
    private var movedLate: Duration?
    @Shared private var lastSwitch: VariantSwitch? = nil
    /// The variant of the segment that was read last.
    private(set) var lastRead: Int?
    /// What limits the choice as long as the item is played.
    @Shared private var context = SelectionContext()

    /// The switch that is under way: no segment of the new variant was read yet.
    var underWay: VariantSwitch? { lastSwitch?.to == lastRead ? nil : lastSwitch }

    /// A rule has something to choose from.
    var hasChoice: Bool { choice.count > 1 && !keepsBest }

    /// A rule could choose a variant that is lower than this one.
    func hasLower(than variant: AssetVariant?) -> Bool {
        guard hasChoice, let lowest = choice.first else { return false }
        return variant.map { $0.index != lowest.index } ?? true
    }

    // MARK: Variants

    /// Takes the variants of a multivariant playlist.
    ///
    /// - Parameters:
    ///   - base: the URL of the playlist.
    ///   - penalty: how long one that failed is avoided.
    ///   - steering: the tag of the playlist.
    mutating func open(
        _ candidates: [AssetVariant], base: String?, in context: SelectionContext,
        penalty: Duration = RetryPolicies().penalty, steering: ContentSteering? = nil
    ) {
        avoided = AvoidedSources(duration: penalty)
        self.candidates = candidates
        self.context = context
        pathways = Pathways(penalty: penalty)
        pathways.open(candidates, steering: steering, base: base)
    }

    /// The playlist was loaded from a fresh URL, or has got others at its end: the variants are the same, perhaps at other
    /// places.
    mutating func renew(_ candidates: [AssetVariant], base: String?) {
        self.candidates = candidates
        pathways.place(candidates, base: base)
        known = nil
        decidedFor = nil
        if let old = description, let same = candidates.first(where: { $0.id == old.id }) { description = same }
    }

    /// There is no multivariant playlist, and nothing to choose.
    mutating func openSingle(at url: String) { description = AssetVariant(onlyVariantAt: url) }

    /// - Parameter keepsBest: the best variant is wanted from beginning to end.
    mutating func follow(keepsBest: Bool) { self.keepsBest = keepsBest }

    /// Media of this variant cannot be played here.
    mutating func exclude(_ index: Int) { unplayable.insert(index) }

    /// Which variants may be used.
    func eligibility(in limits: SelectionLimits) -> VariantEligibility {
        let context = context(in: limits)
        guard pathways.isNamed, context.pinnedVariant == nil else { return VariantEligibility(candidates, in: context) }
        return limits.pathways.lazy.map { eligibility(on: $0, in: context) }.first { !$0.eligible.isEmpty }
            ?? VariantEligibility(candidates, in: context)
    }

    private func eligibility(on pathway: String, in context: SelectionContext) -> VariantEligibility {
        VariantEligibility(candidates.filter { pathways[$0.index] == pathway }, in: context)
    }

    /// Variants of other pathways that may take the place of the one in use if it fails.
    ///
    /// Where the playlist names no pathways, those of the other origins; but only if one of them is the same, or another
    /// variant of this origin has failed of late as well.
    func elsewhere(in limits: SelectionLimits, at now: Duration) -> [AssetVariant] {
        let context = context(in: limits)
        guard pathways.mayLeave(at: now), context.pinnedVariant == nil, let own = currentCandidate else { return [] }
        guard !pathways.isNamed else {
            let others = limits.pathways.lazy.filter { $0 != pathways.current }
            return others.map { eligibility(on: $0, in: context).eligible }.first { !$0.isEmpty } ?? []
        }
        let others = VariantEligibility(candidates, in: context).eligible.filter {
            pathways[$0.index] != pathways.current
        }
        let hasFailedTwice = avoided.variants(of: nil, at: now).contains {
            pathways[$0] == pathways.current && candidates[$0].uri != own.uri
        }
        return hasFailedTwice || others.contains { RedundantVariants.areSame($0, own) } ? others : []
    }

    /// Why a variant may not be used: all reasons.
    func reasons(against id: AssetVariant.ID, in limits: SelectionLimits) -> [IneligibilityReason] {
        guard let index = candidates.first(where: { $0.id == id })?.index else { return [] }
        return VariantEligibility.reasons(candidates, in: context(in: limits))[index] ?? []
    }

    private func context(in limits: SelectionLimits) -> SelectionContext {
        var context = context
        context.unplayableVariants = unplayable
        limits.limit(&context)
        return context
    }

    /// Of those that may be used, one of each quality, or the one that brings the audio if nothing else is played.
    ///
    /// - Parameters:
    ///   - place: the pathway whose variants are used where there are several alike.
    ///   - separateAudio: the variants whose audio is apart, if only audio is played; else nil.
    private func qualities(
        of eligible: [AssetVariant], at place: String?, separateAudio: Set<Int>?
    ) -> [AssetVariant] {
        guard let separateAudio else {
            return RedundantVariants.withoutOthers(eligible, current: current, at: place) { pathways[$0] }
        }
        return SoundOnlyRule(wantsBest: keepsBest).choose(from: eligible) { separateAudio.contains($0.index) }.map {
            [$0]
        } ?? []
    }

    private var currentCandidate: AssetVariant? {
        current.flatMap { index in candidates.first { $0.index == index } }
    }

    /// The name of a variant of the item, by which rules know it.
    func id(of index: Int?) -> AssetVariant.ID? {
        index.flatMap { index in candidates.first { $0.index == index }?.id }
    }

    /// The position of a variant of the item; nil where it has none of this name.
    func index(of id: AssetVariant.ID) -> Int? { candidates.playlistIndex(of: id) }

    // MARK: First choice

    /// The variant to begin with, of those that may be used; nil where that is none.
    ///
    /// - Parameter startsOnFirst: not by what is known of the network.
    mutating func first(
        in limits: SelectionLimits, separateAudio: Set<Int>?, throughput: Double?, startsOnFirst: Bool
    ) -> (eligibility: VariantEligibility, decision: SelectionDecision?) {
        let eligibility = eligibility(in: limits)
        let qualities = qualities(
            of: eligibility.eligible, at: limits.pathways.first, separateAudio: separateAudio)
        choice = qualities.sortedByBandwidth()
        guard keepsBest else {
            let decision = InitialVariantRule().choose(
                from: qualities, knownThroughput: throughput, startsOnFirstEligibleVariant: startsOnFirst)
            return (eligibility, decision)
        }
        let best = startsOnFirst ? qualities.first : RecordingRule.best(of: qualities)
        let text =
            startsOnFirst ? "first eligible variant, which is kept" : "the best that may be used, kept throughout"
        return (eligibility, best.map { SelectionDecision(variantID: $0.id, explanation: text) })
    }

    // MARK: Next segment

    /// Whether something is to be decided for the segment that starts at `start`.
    func isOpen(at start: Duration) -> Bool { candidates.count > 1 && decidedFor != start }

    /// What is decided about the next segment, in order. Where nothing may be used, the choice stays as it is.
    func consider(
        _ segment: Segment, _ limits: SelectionLimits, separateAudio: Set<Int>?, _ facts: Facts
    ) -> [Action] {
        guard knownLimits(limits) != known else {
            return [decide(about: segment, facts, limits, among: choice)].compactMap(\.self)
        }
        let eligibility = eligibility(in: limits)
        guard !eligibility.eligible.isEmpty else { return [.tell(eligibility)] }
        let choice = qualities(
            of: eligibility.eligible, at: limits.pathways.first, separateAudio: separateAudio
        ).sortedByBandwidth()
        let decision = decide(about: segment, facts, limits, among: choice)
        return [.tell(eligibility), .choose(choice), decision].compactMap(\.self)
    }

    private func knownLimits(_ limits: SelectionLimits) -> KnownLimits {
        KnownLimits(limits: limits, place: pathways.current, unplayable: unplayable)
    }

    private func decide(
        about segment: Segment, _ facts: Facts, _ limits: SelectionLimits, among choice: [AssetVariant]
    ) -> Action? {
        guard let current else { return nil }
        if let decision = move(in: limits, among: choice, isHeld: facts.isFixed || facts.isSoundOnly) {
            return .take(decision)
        }
        if facts.isFirstSegment, let same = choice.first(where: { $0.index == current }) {
            return .take(
                SelectionDecision(
                    variantID: same.id, maximumForwardBuffer: maximumForwardBuffer,
                    explanation: "nothing was measured yet"))
        }
        if keepsBest, !facts.isSoundOnly { return .takeBest }
        if choice.count == 1 {
            return .take(
                SelectionDecision(variantID: choice[0].id, explanation: "the only one that may be used"))
        }
        return .ask(input(for: segment, facts.moment, bufferCapacity: facts.bufferCapacity, among: choice))
    }

    /// To the variant that is to take the place of the one in use, since another pathway is to be used.
    ///
    /// - Parameter isHeld: the one in use is the only one.
    private func move(in limits: SelectionLimits, among choice: [AssetVariant], isHeld: Bool) -> SelectionDecision? {
        guard !isHeld, let pathway = limits.pathways.first, pathways.current != pathway,
            let other = counterpart(among: choice)
        else { return nil }
        return SelectionDecision(
            variantID: other.id, maximumForwardBuffer: maximumForwardBuffer,
            explanation: "pathway \(pathways[other.index] ?? pathway)")
    }

    private func counterpart(among choice: [AssetVariant]) -> AssetVariant? {
        guard let own = currentCandidate, !choice.contains(where: { $0.index == own.index })
        else { return nil }
        if let same = choice.first(where: { RedundantVariants.areSame($0, own) }) { return same }
        // Nothing of the other may be used where the choice is of the one in use.
        guard pathways.isNamed, choice.first.flatMap({ pathways[$0.index] }) != pathways.current else { return nil }
        return choice.last { $0.bandwidth <= own.bandwidth } ?? choice.first
    }

    /// A rule chooses from these from now on, as long as the limits are the same.
    mutating func choose(from variants: [AssetVariant], _ limits: SelectionLimits) {
        known = knownLimits(limits)
        choice = variants
    }

    /// Takes what was decided for the segment that starts at `start`; nil where the variant stays the same.
    mutating func take(_ decision: SelectionDecision, for start: Duration) -> VariantSwitch? {
        decidedFor = start
        maximumForwardBuffer = decision.maximumForwardBuffer
        guard let index = index(of: decision.variantID), index != current else { return nil }
        return change(to: index, at: start, because: decision.explanation)
    }

    /// The segment that starts at `start` was given up half loaded, for another variant.
    mutating func giveUp(for decision: SelectionDecision, at start: Duration) -> VariantSwitch? {
        decidedFor = start
        return index(of: decision.variantID).map { change(to: $0, at: start, because: decision.explanation) }
    }

    /// Where the segment goes that starts at `start` and comes too late, since another pathway is to be used: there at
    /// most once.
    mutating func moveLate(from start: Duration, in limits: SelectionLimits, isHeld: Bool) -> SelectionDecision? {
        guard movedLate != start else { return nil }
        let choice = qualities(of: eligibility(in: limits).eligible, at: limits.pathways.first, separateAudio: nil)
        guard let decision = move(in: limits, among: choice.sortedByBandwidth(), isHeld: isHeld) else { return nil }
        movedLate = start
        return decision
    }

    /// The segment that starts there is given up for another pathway, unless it was.
    mutating func mayMoveLate(from start: Duration) -> Bool {
        guard movedLate != start else { return false }
        movedLate = start
        return true
    }

    /// What is decided for the next segment is decided once more: it is another one.
    mutating func decideAgain() { decidedFor = nil }

    /// The rule wants the next segment loaded later: more is ahead than it said.
    func holdsBack(_ ahead: @autoclosure () -> Duration) -> Bool { maximumForwardBuffer.map { ahead() > $0 } ?? false }

    /// What a rule decides from.
    ///
    /// - Parameter choice: nil for those that it was given last.
    func input(
        for segment: Segment, _ moment: SelectionMoment, bufferCapacity: Duration,
        among choice: [AssetVariant]? = nil
    ) -> SelectionInput {
        let choice = choice ?? self.choice
        var input = SelectionInput(
            now: moment.now, candidates: choice, currentVariantID: id(of: current), forwardBuffer: .zero,
            upcoming: sizes.upcomingSegments(
                at: segment.index, in: segment.tracker, candidates: choice, current: current, of: candidates,
                audio: segment.audio))
        input.bufferCapacity = bufferCapacity
        if segment.tracker.usesParts { input.partTarget = segment.tracker.playlist.partTarget }
        if !segment.tracker.isLive {
            input.segmentNumber = segment.index
            input.segmentCount = segment.tracker.segmentCount
        }
        input.update(to: moment)
        return input
    }

    // MARK: Switching

    /// A switch from the variant in use.
    func change(to index: Int, at time: Duration, because text: String) -> VariantSwitch {
        VariantSwitch(from: current, to: index, at: time, because: text)
    }

    /// The next segment comes from another variant.
    ///
    /// - Returns: the move to another pathway, where that is one.
    @discardableResult
    mutating func carryOut(_ change: VariantSwitch, as description: AssetVariant) -> Pathways.Move? {
        current = change.to
        self.description = description
        lastSwitch = change
        sizes.beginVariant()
        return pathways.use(change.to)
    }

    // MARK: Pathways

    /// The place in use did not deliver.
    mutating func leavePathway(at now: Duration) { pathways.leave(at: now) }

    /// The order of a steering server.
    mutating func follow(_ priority: [String], without vanished: Set<String>) {
        pathways.follow(priority, without: vanished)
        decidedFor = nil
    }

    /// The one that the program prefers.
    mutating func prefer(_ pathway: String?) {
        guard pathways.preferred != pathway else { return }
        pathways.prefer(pathway)
        decidedFor = nil
    }

    /// A segment of a variant was read to its end; nil after all that was read was let go.
    mutating func noteRead(of index: Int?) { lastRead = index }

    /// Media was loaded (``VariantSizes/note(byteCount:duration:of:)``).
    mutating func noteLoaded(byteCount: Int, duration: Duration, of index: Int?) {
        sizes.note(byteCount: byteCount, duration: duration, of: index)
    }

    /// Takes the playlist of a variant that does not change any more.
    mutating func learn(_ playlist: SizeTellingPlaylist?, of index: Int) { sizes.learn(playlist, of: index) }

    // MARK: Keeping the best

    /// Decides about a segment by what a live window takes away, and takes that.
    mutating func takeBest(for segment: Segment, _ facts: Facts) -> VariantSwitch? {
        take(decideOnBest(for: segment, facts), for: segment.start)
    }

    private mutating func decideOnBest(for segment: Segment, _ facts: Facts) -> SelectionDecision {
        if facts.isFixed, let current = id(of: current) {
            return SelectionDecision(variantID: current, explanation: "the only one that the outputs can hold")
        }
        var candidates = choice
        if facts.startsOnFirst, let first = choice.min(by: { $0.index < $1.index }) {
            candidates = choice.filter { $0.index == first.index || $0.bandwidth < first.bandwidth }
        }
        return recording.decide(
            RecordingRule.Situation(
                candidates: candidates, current: id(of: current), throughput: facts.throughput, itemTime: segment.start,
                window: RecordingRule.Window(at: segment.start, in: segment.tracker)))
    }

    /// Whether a live segment that is on its way is to be loaded from another variant: nil lets it go on.
    mutating func judge(
        _ download: RecordingRule.Download, at start: Duration, in limits: SelectionLimits
    ) -> SelectionDecision? {
        recording.judge(download, among: eligibility(in: limits).eligible, at: start)
    }

    /// Variants failed, the next segment of which begins at `place`.
    mutating func avoid(_ indices: [Int], from place: Duration, at now: Duration) {
        avoided.avoid(variants: indices, at: now)
        recording.left(at: place)
    }

    /// The playlist of a rendition failed.
    mutating func avoid(rendition url: String, at now: Duration) { avoided.avoid(rendition: url, at: now) }

    /// Where the variant was left that failed last; nil where that is forgiven.
    var failedAt: Duration? { recording.leftAt }

    /// What failed may be used again.
    mutating func forgive() {
        recording.left(at: nil)
        avoided.forgiveVariants()
        if !pathways.isNamed { pathways.forgive() }
        decidedFor = nil
    }
}
