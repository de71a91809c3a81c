/// One variant from beginning to end (``VariantPolicy/best(isFixed:)``).
extension PlaybackEngine {
    /// The best variant is kept, and no rule chooses.
    var keepsVariant: Bool {
        if case .best = preferences.variantPolicy { true } else { false }
    }

    /// Whoever looks at the item knows whether there is a choice.
    mutating func noteVariantPolicy() {
        let keeps = keepsVariant
        item?.keepsVariant = keeps
    }

    /// There is media of a variant that is to be the only one.
    var isVariantFixed: Bool {
        if case .best(isFixed: true) = preferences.variantPolicy { item?.hasPresentable == true } else { false }
    }

    /// The variant to start with.
    func firstOfRecording(from eligible: [VariantCandidate]) -> SelectionDecision? {
        if preferences.startsOnFirstEligibleVariant, let first = eligible.first {
            return SelectionDecision(variantIndex: first.index, explanation: "first eligible variant, which is kept")
        }
        return RecordingRule.best(of: eligible).map {
            SelectionDecision(variantIndex: $0.index, explanation: "the best that may be used, kept throughout")
        }
    }

    /// The variant of the segment at `index`.
    mutating func recordingDecision(
        at index: Int, in tracker: PlaylistTracker, among choice: [VariantCandidate]
    ) -> SelectionDecision {
        let current = item?.variantIndex
        if isVariantFixed, let current {
            return SelectionDecision(variantIndex: current, explanation: "the only one that the outputs can hold")
        }
        var candidates = choice
        if preferences.startsOnFirstEligibleVariant, let first = choice.min(by: { $0.index < $1.index }) {
            candidates = choice.filter { $0.index == first.index || $0.bandwidth < first.bandwidth }
        }
        let situation = RecordingRule.Situation(
            candidates: candidates, current: current, throughput: loading.estimatedBitsPerSecond(at: now),
            itemTime: tracker.starts[index], window: window(at: tracker.starts[index], in: tracker))
        return item?.recording.decide(situation)
            ?? SelectionDecision(variantIndex: choice[0].index, explanation: "no item")
    }

    /// Gives up a segment of a live stream that would take so long that those after it are gone when it is there.
    mutating func judgeRecording(_ id: RequestID) {
        loading.requests.judge(id, at: now)
        guard !isVariantFixed, let item, item.error == nil, let request = loading.requests[id],
            let responded = request.responded, now > responded, let lane = item.lanes[.main],
            let tracker = lane.tracker, tracker.isLive, let flight = lane.loading, flight.request == id,
            let variantIndex = flight.variantIndex, let total = request.declaredByteCount,
            let current = item.candidates.first(where: { $0.index == variantIndex })
        else { return }
        let measured = Double(request.receivedByteCount) * 8 / (now - responded).seconds
        let download = RecordingRule.Download(
            current: current, duration: flight.job.duration, remainingByteCount: total - request.receivedByteCount,
            throughput: min(measured, loading.estimatedBitsPerSecond(at: now) ?? measured),
            window: window(at: flight.job.start, in: tracker) ?? RecordingRule.Window(targetDuration: .zero))
        let candidates = eligibility().eligible
        guard let decision = self.item?.recording.judge(download, among: candidates, at: flight.job.start) else {
            return
        }
        abandon(flight.id, for: decision)
    }

    private func window(at time: Duration, in tracker: PlaylistTracker) -> RecordingRule.Window? {
        guard tracker.isLive else { return nil }
        return RecordingRule.Window(
            before: max(.zero, time - tracker.start), behind: max(.zero, tracker.end - time),
            targetDuration: tracker.pacingTarget)
    }

    /// What is recorded faster than it plays comes back to a variant after as much media as it would have stayed away
    /// in time. As long as the segment is under way that was the reason, it may yet be in vain.
    mutating func forgivePassed(upTo time: Duration) {
        guard configuration.pacing == .unpaced, item?.isLive == false, let left = item?.recording.leftAt,
            time - left >= loading.failures.penalty,
            item?.lanes[.main]?.segments.first.map({ $0.job.start > left + .seconds(1) }) ?? true
        else { return }
        forgive()
    }

    private mutating func forgive() {
        item?.recording.left(at: nil)
        item?.decidedFor = nil
        for candidate in item?.candidates ?? [] { loading.failures.forgive(variant: candidate.index) }
    }

    /// A segment was passed over: no variant that was left has it, and none is worse for that. What is behind it comes from
    /// the one that is recorded.
    mutating func forgiveLost(at start: Duration) {
        guard keepsVariant, !isVariantFixed, let left = item?.recording.leftAt,
            abs(left - start) < .seconds(1)
        else { return }
        let current = item?.variantIndex
        forgive()
        let best = RecordingRule.best(of: eligibility().eligible)?.index
        guard best != current, let next = item?.lanes[.main]?.segments.first, next.job.start >= start else { return }
        goBack(to: next.id)
    }

    /// Where the variant's lane goes on.
    func resumeTimeOfMain(_ tracker: PlaylistTracker) -> Duration {
        item?.lanes[.main]?.resumeTime(in: tracker) ?? .zero
    }
}
