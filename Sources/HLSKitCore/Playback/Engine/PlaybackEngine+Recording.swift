/// One variant from beginning to end (``VariantPolicy/best(isFixed:)``).
extension PlaybackEngine {
    /// The best variant is kept, and no rule chooses.
    var keepsVariant: Bool {
        if case .best = preferences.variantPolicy { true } else { false }
    }

    /// Whoever looks at the item knows whether there is a choice.
    mutating func noteVariantPolicy() {
        let keeps = keepsVariant
        item?.variants.follow(keepsBest: keeps)
    }

    /// There is media of a variant that is to be the only one.
    var isVariantFixed: Bool {
        if case .best(isFixed: true) = preferences.variantPolicy { item?.hasPresentable == true } else { false }
    }

    /// Gives up a segment of a live stream that would take so long that those after it are gone when it is there.
    mutating func judgeRecording(_ id: RequestID) {
        loading.requests.judge(id, at: now)
        guard !isVariantFixed, let item, item.error == nil, let request = loading.requests[id],
            let responded = request.responded, now > responded, let lane = item.lanes[.main],
            let tracker = lane.tracker, tracker.isLive, let flight = lane.loading, flight.request == id,
            let variantIndex = flight.variantIndex, let total = request.declaredByteCount,
            let current = item.candidates.first(where: { $0.index == variantIndex }),
            let window = RecordingRule.Window(at: flight.job.start, in: tracker)
        else { return }
        let measured = Double(request.receivedByteCount) * 8 / (now - responded).seconds
        let download = RecordingRule.Download(
            current: current, duration: flight.job.duration, remainingByteCount: total - request.receivedByteCount,
            throughput: min(measured, loading.estimatedBitsPerSecond(at: now) ?? measured), window: window)
        let limits = selectionLimits
        guard let decision = self.item?.variants.judge(download, at: flight.job.start, in: limits) else { return }
        abandon(flight.id, for: decision)
    }

    /// What is recorded faster than it plays comes back to a variant after as much media as it would have stayed away
    /// in time. As long as the segment is under way that was the reason, it may yet be in vain.
    mutating func forgivePassed(upTo time: Duration) {
        guard configuration.pacing == .unpaced, item?.isLive == false, let left = item?.variants.failedAt,
            time - left >= loading.failures.penalty,
            item?.lanes[.main]?.segments.first.map({ $0.job.start > left + .seconds(1) }) ?? true
        else { return }
        forgive()
    }

    private mutating func forgive() {
        item?.variants.forgive()
        for candidate in item?.candidates ?? [] { loading.failures.forgive(variant: candidate.index) }
    }

    /// A segment was passed over: no variant that was left has it, and none is worse for that. What is behind it comes from
    /// the one that is recorded.
    mutating func forgiveLost(at start: Duration) {
        guard keepsVariant, !isVariantFixed, let left = item?.variants.failedAt,
            abs(left - start) < .seconds(1)
        else { return }
        let current = item?.variantIndex
        forgive()
        let best = RecordingRule.best(of: eligibility().eligible)?.index
        guard best != current, let next = item?.lanes[.main]?.segments.first, next.job.start >= start else { return }
        goBack(to: next.id)
    }
}

extension RecordingRule.Window {
    /// What is listed around an item time; nil where nothing goes away.
    init?(at time: Duration, in tracker: PlaylistTracker) {
        guard tracker.isLive else { return nil }
        self.init(
            before: max(.zero, time - tracker.start), behind: max(.zero, tracker.end - time),
            targetDuration: tracker.pacingTarget)
    }
}
