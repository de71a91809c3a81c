import HLSKitLoading
import HLSKitTime

/// Selects the variant to record.
///
/// It is the best one, unless a live window would move past media before it is loaded.
package struct RecordingRule: Sendable, Hashable {
    package struct Window: Sendable, Hashable {
        /// The duration of media before it, which is the least time that it remains listed.
        var before = Duration.zero
        var after = Duration.zero
        var targetDuration: Duration

        package init(before: Duration = .zero, after: Duration = .zero, targetDuration: Duration) {
            self.before = before
            self.after = after
            self.targetDuration = targetDuration
        }
    }

    package struct Situation: Sendable {
        /// Never empty.
        package var candidates: [AssetVariant]
        package var current: AssetVariant.ID?
        /// The throughput in bits per second, or nil before the first measurement.
        package var throughput: Double?
        package var itemTime: Duration
        /// The live window, or nil for VOD, which does not expire.
        package var window: Window?

        package init(
            candidates: [AssetVariant], current: AssetVariant.ID? = nil, throughput: Double? = nil, itemTime: Duration,
            window: Window? = nil
        ) {
            self.candidates = candidates
            self.current = current
            self.throughput = throughput
            self.itemTime = itemTime
            self.window = window
        }
    }

    package struct Download: Sendable {
        var current: AssetVariant
        var duration: Duration
        var remainingByteCount: Int
        /// In bits per second.
        var throughput: Double
        var window: Window

        package init(
            current: AssetVariant, duration: Duration, remainingByteCount: Int, throughput: Double, window: Window
        ) {
            self.current = current
            self.duration = duration
            self.remainingByteCount = remainingByteCount
            self.throughput = throughput
            self.window = window
        }
    }

    /// The largest share of the throughput that a variant may use if the rule changes to it.
    private static let share = 0.8
    /// The duration of media after which a better variant is tried again. It doubles with each failure.
    private static let firstPatience = Duration.seconds(60)
    private static let longestPatience = Duration.seconds(1920)

    /// The item time at which a lower variant took over because the window moved too fast.
    private var loweredAt: Duration?
    private var patience = RecordingRule.firstPatience
    /// The item time at which a failing variant was left.
    package private(set) var leftAt: Duration?

    package init() {}

    /// Records the item time at which a variant failed, or nil to forgive it.
    package mutating func left(at time: Duration?) { leftAt = time }

    package static func best(of candidates: [AssetVariant]) -> AssetVariant? {
        let sorted = candidates.sortedByQuality()
        guard let best = sorted.last else { return nil }
        return sorted.first {
            $0.bandwidth == best.bandwidth && $0.resolution == best.resolution && $0.score == best.score
        }
    }

    package mutating func decide(_ situation: Situation) -> SelectionDecision {
        let sorted = situation.candidates.sortedByQuality()
        guard var best = Self.best(of: sorted) else {
            let id = situation.current ?? AssetVariant.ID(rawValue: "")
            return SelectionDecision(variantID: id, explanation: "the only one")
        }
        let current = sorted.first { $0.id == situation.current } ?? best
        // Redundant variants are equally good.
        if current.bandwidth == best.bandwidth, current.resolution == best.resolution { best = current }
        guard let window = situation.window, let throughput = situation.throughput else {
            // The rest of a stream that has ended does not justify another change.
            guard loweredAt == nil else { return Self.decision(current, "the live stream could not be kept up with") }
            return Self.decision(best, "the best that may be used")
        }
        let isLosing =
            throughput < current.meanBitRate && window.after > window.targetDuration * 2
            && window.before <= window.targetDuration * 2
        if isLosing, let lower = Self.lower(than: current, in: sorted, throughput: throughput) {
            lowered(at: situation.itemTime)
            return Self.decision(lower, "the live stream cannot be kept up with")
        }
        guard let loweredAt else { return Self.decision(best, "the best that may be used") }
        let hasCaughtUp = window.after <= window.targetDuration * 2
        guard hasCaughtUp, best.bandwidth <= throughput * Self.share, situation.itemTime - loweredAt >= patience else {
            return Self.decision(current, "the live stream could not be kept up with")
        }
        self.loweredAt = nil
        patience = min(patience * 2, Self.longestPatience)
        return Self.decision(best, "the live stream can be kept up with again")
    }

    /// Returns a variant from which to load a segment instead, or nil to continue the running download.
    ///
    /// The download is replaced if it would finish too late for the next segment.
    package mutating func judge(
        _ download: Download, among candidates: [AssetVariant], at itemTime: Duration
    ) -> SelectionDecision? {
        let bitsPerSecond = max(download.throughput, 1)
        let remaining = Double(max(0, download.remainingByteCount)) * 8 / bitsPerSecond
        // The next segment is listed until the window has passed this one.
        let time = (download.window.before + download.duration).seconds
        guard remaining > time, download.window.after > download.window.targetDuration * 2 else { return nil }
        let sorted = candidates.sortedByQuality()
        guard let lower = Self.lower(than: download.current, in: sorted, throughput: bitsPerSecond),
            lower.meanBitRate * download.duration.seconds / bitsPerSecond < remaining / 2
        else { return nil }
        lowered(at: itemTime)
        return Self.decision(lower, "the live stream cannot be kept up with")
    }

    private mutating func lowered(at time: Duration) { loweredAt = time }

    private static func decision(_ candidate: AssetVariant, _ text: String) -> SelectionDecision {
        SelectionDecision(variantID: candidate.id, explanation: text)
    }

    /// Returns the best variant below `current` that the throughput supports, otherwise the lowest.
    private static func lower(
        than current: AssetVariant, in sorted: [AssetVariant], throughput: Double
    ) -> AssetVariant? {
        let lower = sorted.filter { $0.bandwidth < current.bandwidth }
        return lower.last { $0.bandwidth <= throughput * share } ?? lower.lowestBandwidth
    }
}

extension AssetVariant {
    fileprivate var meanBitRate: Double { averageBandwidth ?? bandwidth }
}
