import HLSKitLoading
import HLSKitSelection

/// Failures that are over, where the best variant is kept.
extension VariantChooser {
    /// What tells whether a failure of before is over.
    struct Past: Sendable, Hashable {
        var isPaced = false
        var isLive = false
        /// The start of the first segment that is under way; nil while there is none.
        var next: Duration?
    }

    /// Whether a failure is over for the segment that starts at `time`.
    ///
    /// What is recorded faster than it plays comes back to a variant after as much media as it would have stayed away in
    /// time. As long as the segment is under way that was the reason, it may yet be in vain.
    func forgivesPassed(upTo time: Duration, _ past: Past) -> Bool {
        guard keepsBest, !past.isPaced, !past.isLive, let failedAt, time - failedAt >= avoided.duration else {
            return false
        }
        return past.next.map { $0 > failedAt + .seconds(1) } ?? true
    }

    /// Whether a failure is over, as the segment that starts at `start` was skipped: no variant that was left has it, and
    /// none is worse for that.
    func forgivesLost(at start: Duration) -> Bool {
        keepsBest && failedAt.map { abs($0 - start) < .seconds(1) } == true
    }

    /// Whether a segment that is under way behind a lost one is loaded again, from a better variant.
    func isReloaded(from time: Duration, behind start: Duration, among eligible: [AssetVariant]) -> Bool {
        RecordingRule.best(of: eligible)?.index != current && time >= start
    }
}
