import HLSKitLoading
import HLSKitPlaylist
import HLSKitSelection

/// Tracks the variants of an item, and decides which one the next segment comes from.
///
/// The engine calls ``consider(_:_:separateAudio:_:)`` before each segment. If a rule has to choose, ``take(_:for:)``
/// turns its decision into a ``VariantChooser/VariantSwitch``. The rule is a separate value (``VariantRule``), because an app's rule
/// answers later.
struct VariantChooser: Sendable {
    /// All variants of the item in playlist order. Empty without a multivariant playlist.
    private(set) var candidates: [AssetVariant] = []
    /// The index of the current variant.
    private(set) var current: Int?
    private(set) var description: AssetVariant?
    /// The rule's last limit: the next segment is loaded only if no more than this is buffered.
    private(set) var maximumForwardBuffer: Duration?
    private(set) var sizes = VariantSizes()
    /// The variants that the rule can choose from, sorted by ascending `BANDWIDTH`.
    private(set) var choice: [AssetVariant] = []
    /// Whether the best variant is kept, so that no rule chooses.
    private(set) var keepsBest = false

    /// The handling of a live window that moves too fast while the best variant is kept.
    private var recording = RecordingRule()
    private(set) var unplayable: Set<Int> = []
    private(set) var avoided = AvoidedSources()
    private(set) var pathways = Pathways()
    @Shared private var known: KnownLimits? = nil
    /// The start of the segment that was last decided.
    private var decidedFor: Duration?
    /// The start of the segment that was last abandoned for another pathway.
    private var movedLate: Duration?
    @Shared private var lastSwitch: VariantSwitch? = nil
    /// The variant of the last completely read segment.
    private(set) var lastRead: Int?
    /// The limits that apply as long as the item is played.
    @Shared private var context = SelectionContext()

    /// The switch in progress, from which no segment was read yet.
    var underWay: VariantSwitch? { lastSwitch?.to == lastRead ? nil : lastSwitch }

    var hasChoice: Bool { choice.count > 1 && !keepsBest }

    func hasLower(than variant: AssetVariant?) -> Bool {
        guard hasChoice, let lowest = choice.first else { return false }
        return variant.map { $0.index != lowest.index } ?? true
    }

    // MARK: Variants

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

    /// Called when the playlist was loaded from a fresh URL, or has additional variants at its end.
    ///
    /// The variants are the same, but their URLs may differ.
    mutating func renew(_ candidates: [AssetVariant], base: String?) {
        self.candidates = candidates
        pathways.place(candidates, base: base)
        known = nil
        decidedFor = nil
        if let old = description, let same = candidates.first(where: { $0.id == old.id }) { description = same }
    }

    /// Called when there is no multivariant playlist, and so no choice.
    mutating func openSingle(at url: String) { description = AssetVariant(onlyVariantAt: url) }

    mutating func follow(keepsBest: Bool) { self.keepsBest = keepsBest }

    mutating func exclude(_ index: Int) { unplayable.insert(index) }

    func eligibility(in limits: SelectionLimits) -> VariantEligibility {
        let context = context(in: limits)
        guard pathways.isNamed, context.pinnedVariant == nil else { return VariantEligibility(candidates, in: context) }
        return limits.pathways.lazy.map { eligibility(on: $0, in: context) }.first { !$0.eligible.isEmpty }
            ?? VariantEligibility(candidates, in: context)
    }

    private func eligibility(on pathway: String, in context: SelectionContext) -> VariantEligibility {
        VariantEligibility(candidates.filter { pathways[$0.index] == pathway }, in: context)
    }

    /// Variants of other pathways that may replace the current variant if it fails.
    ///
    /// If the playlist does not name pathways, these are variants of other origins. They qualify if one of them is the
    /// same variant, or if another variant of this origin has failed recently too.
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

    func reasons(against id: AssetVariant.ID, in limits: SelectionLimits) -> [IneligibilityReason] {
        guard let index = candidates.first(where: { $0.id == id })?.index else { return [] }
        return VariantEligibility.reasons(candidates, in: context(in: limits))[index] ?? []
    }

    /// The variants that a viewer can choose, one of each quality, the lowest first. Neither the size of the display nor
    /// earlier failures limit them.
    func selectable(in limits: SelectionLimits) -> [AssetVariant] {
        var limits = limits
        limits.preferences.variantPolicy = .automatic
        let reasons = VariantEligibility.reasons(candidates, in: context(in: limits))
        let playable = candidates.filter { variant in
            (reasons[variant.index] ?? []).allSatisfy { $0 == .displaySize || $0 == .penalized }
        }
        return RedundantVariants.withoutOthers(playable, current: current, at: limits.pathways.first) { pathways[$0] }
            .sortedByQuality()
    }

    private func context(in limits: SelectionLimits) -> SelectionContext {
        var context = context
        context.unplayableVariants = unplayable
        limits.limit(&context)
        return context
    }

    /// Returns one eligible variant of each quality or, for audio alone, the one that provides the audio.
    ///
    /// - Parameters:
    ///   - place: The preferred pathway for identical variants.
    ///   - separateAudio: The variants with separate audio if only audio is played, or `nil` otherwise.
    private func qualities(
        of eligible: [AssetVariant], at place: String?, separateAudio: Set<Int>?
    ) -> [AssetVariant] {
        guard let separateAudio else {
            return RedundantVariants.withoutOthers(eligible, current: current, at: place) { pathways[$0] }
        }
        return AudioOnlyRule(wantsBest: keepsBest).choose(from: eligible) { separateAudio.contains($0.index) }.map {
            [$0]
        } ?? []
    }

    private var currentCandidate: AssetVariant? {
        current.flatMap { index in candidates.first { $0.index == index } }
    }

    func id(of index: Int?) -> AssetVariant.ID? {
        index.flatMap { index in candidates.first { $0.index == index }?.id }
    }

    func index(of id: AssetVariant.ID) -> Int? { candidates.playlistIndex(of: id) }

    // MARK: First choice

    /// Chooses the first variant from the eligible ones. The decision is `nil` if there are none.
    ///
    /// - Parameter startsOnFirst: Whether to use the first eligible variant, regardless of the network.
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

    /// Whether the variant of the segment that starts at `start` is still undecided.
    func isOpen(at start: Duration) -> Bool { candidates.count > 1 && decidedFor != start }

    /// Decides about the next segment and returns the actions in order. Without an eligible variant, the choice does
    /// not change.
    func consider(
        _ segment: Segment, _ limits: SelectionLimits, separateAudio: Set<Int>?, _ facts: Facts
    ) -> [Action] {
        guard knownLimits(limits) != known else {
            return [decide(about: segment, facts, limits, among: choice)].compactMap(\.self)
        }
        let eligibility = eligibility(in: limits)
        guard !eligibility.eligible.isEmpty else { return [.report(eligibility)] }
        let choice = qualities(
            of: eligibility.eligible, at: limits.pathways.first, separateAudio: separateAudio
        ).sortedByBandwidth()
        let decision = decide(about: segment, facts, limits, among: choice)
        return [.report(eligibility), .choose(choice), decision].compactMap(\.self)
    }

    private func knownLimits(_ limits: SelectionLimits) -> KnownLimits {
        KnownLimits(limits: limits, place: pathways.current, unplayable: unplayable)
    }

    private func decide(
        about segment: Segment, _ facts: Facts, _ limits: SelectionLimits, among choice: [AssetVariant]
    ) -> Action? {
        guard let current else { return nil }
        if let decision = move(in: limits, among: choice, isHeld: facts.isFixed || facts.isAudioOnly) {
            return .take(decision)
        }
        if facts.isFirstSegment, let same = choice.first(where: { $0.index == current }) {
            return .take(
                SelectionDecision(
                    variantID: same.id, maximumForwardBuffer: maximumForwardBuffer,
                    explanation: "nothing was measured yet"))
        }
        if keepsBest, !facts.isAudioOnly { return .takeBest }
        if choice.count == 1 {
            return .take(
                SelectionDecision(variantID: choice[0].id, explanation: "the only one that may be used"))
        }
        return .ask(input(for: segment, facts.moment, bufferCapacity: facts.bufferCapacity, among: choice))
    }

    /// Decides which variant replaces the current one if another pathway has to be used.
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
        // If the choice is from the current pathway, its variants cannot serve as a replacement.
        guard pathways.isNamed, choice.first.flatMap({ pathways[$0.index] }) != pathways.current else { return nil }
        return choice.last { $0.bandwidth <= own.bandwidth } ?? choice.first
    }

    /// Sets the variants that a rule chooses from as long as the limits do not change.
    mutating func choose(from variants: [AssetVariant], _ limits: SelectionLimits) {
        known = knownLimits(limits)
        choice = variants
    }

    /// Applies the decision for the segment that starts at `start`. Returns `nil` if the variant does not change.
    mutating func take(_ decision: SelectionDecision, for start: Duration) -> VariantSwitch? {
        decidedFor = start
        maximumForwardBuffer = decision.maximumForwardBuffer
        guard let index = index(of: decision.variantID), index != current else { return nil }
        return change(to: index, at: start, because: decision.explanation)
    }

    mutating func giveUp(for decision: SelectionDecision, at start: Duration) -> VariantSwitch? {
        decidedFor = start
        return index(of: decision.variantID).map { change(to: $0, at: start, because: decision.explanation) }
    }

    /// Decides where to load a late segment if another pathway has to be used. Each segment is moved at most once.
    mutating func moveLate(from start: Duration, in limits: SelectionLimits, isHeld: Bool) -> SelectionDecision? {
        guard movedLate != start else { return nil }
        let choice = qualities(of: eligibility(in: limits).eligible, at: limits.pathways.first, separateAudio: nil)
        guard let decision = move(in: limits, among: choice.sortedByBandwidth(), isHeld: isHeld) else { return nil }
        movedLate = start
        return decision
    }

    /// Whether the segment that starts at `start` may be abandoned for another pathway. It may be only once.
    mutating func mayMoveLate(from start: Duration) -> Bool {
        guard movedLate != start else { return false }
        movedLate = start
        return true
    }

    /// Discards the decision about the next segment, because it is another segment now.
    mutating func decideAgain() { decidedFor = nil }

    func holdsBack(_ ahead: @autoclosure () -> Duration) -> Bool { maximumForwardBuffer.map { ahead() > $0 } ?? false }

    /// The input for a rule's decision.
    ///
    /// - Parameter choice: The variants to choose from, or `nil` for the last ones.
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

    func change(to index: Int, at time: Duration, because text: String) -> VariantSwitch {
        VariantSwitch(from: current, to: index, at: time, because: text)
    }

    /// Carries out a switch, so that the next segment comes from another variant.
    ///
    /// - Returns: The move to another pathway, or `nil` if the pathway is the same.
    @discardableResult
    mutating func carryOut(_ change: VariantSwitch, as description: AssetVariant) -> Pathways.Move? {
        current = change.to
        self.description = description
        lastSwitch = change
        sizes.beginVariant()
        return pathways.use(change.to)
    }

    // MARK: Pathways

    mutating func leavePathway(at now: Duration) { pathways.leave(at: now) }

    mutating func follow(_ priority: [String], without vanished: Set<String>) {
        pathways.follow(priority, without: vanished)
        decidedFor = nil
    }

    mutating func prefer(_ pathway: String?) {
        guard pathways.preferred != pathway else { return }
        pathways.prefer(pathway)
        decidedFor = nil
    }

    /// Called when a segment of a variant was completely read, or with `nil` when all media was dropped.
    mutating func noteRead(of index: Int?) { lastRead = index }

    mutating func noteLoaded(byteCount: Int, duration: Duration, of index: Int?) {
        sizes.note(byteCount: byteCount, duration: duration, of: index)
    }

    mutating func learn(_ playlist: SizedPlaylist?, of index: Int) { sizes.learn(playlist, of: index) }

    // MARK: Keeping the best

    /// Decides about a segment with regard to the live window, and applies the decision.
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

    /// Decides whether a live segment in progress should be loaded from another variant. Returns `nil` to continue.
    mutating func judge(
        _ download: RecordingRule.Download, at start: Duration, in limits: SelectionLimits
    ) -> SelectionDecision? {
        recording.judge(download, among: eligibility(in: limits).eligible, at: start)
    }

    /// Called when variants failed. Their next segment starts at `place`.
    mutating func avoid(_ indices: [Int], from place: Duration, at now: Duration) {
        avoided.avoid(variants: indices, at: now)
        recording.left(at: place)
    }

    mutating func avoid(rendition url: String, at now: Duration) { avoided.avoid(rendition: url, at: now) }

    /// The position at which the last failed variant was left, or `nil` if the failure is forgiven.
    var failedAt: Duration? { recording.leftAt }

    mutating func forgive() {
        recording.left(at: nil)
        avoided.forgiveVariants()
        if !pathways.isNamed { pathways.forgive() }
        decidedFor = nil
    }
}
