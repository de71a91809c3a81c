import HLSKitLoading
import HLSKitSelection

/// The end of penalties while the best variant is kept.
extension VariantChooser {
    /// The facts that determine whether a failure may be forgiven.
    struct Past: Sendable, Hashable {
        var isPaced = false
        var isLive = false
        /// The start of the first segment in progress, or `nil` if there is none.
        var next: Duration?
    }

    /// Whether an earlier failure may be forgiven for the segment that starts at `time`.
    ///
    /// A recording that is faster than real time returns to a variant after as much media as the penalty lasts. It does
    /// not return while the segment that failed is still loading, because that segment may fail again.
    func forgivesPassed(upTo time: Duration, _ past: Past) -> Bool {
        guard keepsBest, !past.isPaced, !past.isLive, let failedAt, time - failedAt >= avoided.duration else {
            return false
        }
        return past.next.map { $0 > failedAt + .seconds(1) } ?? true
    }

    /// Whether a failure may be forgiven because the segment that starts at `start` was skipped.
    ///
    /// No variant that was left has the segment, so none of them is worse than the others.
    func forgivesLost(at start: Duration) -> Bool {
        keepsBest && failedAt.map { abs($0 - start) < .seconds(1) } == true
    }

    /// Whether a segment in progress after a lost one is loaded again, from a better variant.
    func isReloaded(from time: Duration, behind start: Duration, among eligible: [AssetVariant]) -> Bool {
        RecordingRule.best(of: eligible)?.index != current && time >= start
    }
}
