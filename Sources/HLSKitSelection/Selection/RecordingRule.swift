import HLSKitLoading

/// Chooses the variant that is recorded: the best, and another one only where a live window would move past media that
/// was not loaded.
///
/// Source: docs/behaviour/recording.md.
package struct RecordingRule: Sendable, Hashable {
    /// The part of a live playlist around the next segment.
    package struct Window: Sendable, Hashable {
        /// Media before it: so long it stays listed at the least.
        var before = Duration.zero
        /// Media from it on.
        var behind = Duration.zero
        var targetDuration: Duration

        package init(before: Duration = .zero, behind: Duration = .zero, targetDuration: Duration) {
            self.before = before
            self.behind = behind
            self.targetDuration = targetDuration
        }
    }

    package struct Situation: Sendable {
        /// Not empty.
        package var candidates: [AssetVariant]
        package var current: AssetVariant.ID?
        /// Bits per second; nil while nothing was measured.
        package var throughput: Double?
        /// Where the segment begins.
        package var itemTime: Duration
        /// nil for VOD, of which nothing goes away.
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

    /// A live segment on its way.
    package struct Download: Sendable {
        var current: AssetVariant
        var duration: Duration
        var remainingByteCount: Int
        /// Bits per second.
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

    /// A variant that takes more than this share of the throughput is no way out.
    private static let share = 0.8
    /// Media after which a better variant is tried again; doubled each time that it failed.
    private static let firstPatience = Duration.seconds(60)
    private static let longestPatience = Duration.seconds(1920)

    /// Where a lower variant took over because the window moved too fast.
    private var loweredAt: Duration?
    private var patience = RecordingRule.firstPatience
    /// Where a variant was left that failed.
    package private(set) var leftAt: Duration?

    package init() {}

    /// A variant failed at this item time; nil if that is forgiven.
    package mutating func left(at time: Duration?) { leftAt = time }

    /// The best, of equals the first in the playlist.
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
        // Of redundant variants none is better.
        if current.bandwidth == best.bandwidth, current.resolution == best.resolution { best = current }
        guard let window = situation.window, let throughput = situation.throughput else {
            // The rest of a stream that has ended is not worth another change.
            guard loweredAt == nil else { return Self.decision(current, "the live stream could not be kept up with") }
            return Self.decision(best, "the best that may be used")
        }
        let isLosing =
            throughput < current.meanBitRate && window.behind > window.targetDuration * 2
            && window.before <= window.targetDuration * 2
        if isLosing, let lower = Self.lower(than: current, in: sorted, throughput: throughput) {
            lowered(at: situation.itemTime)
            return Self.decision(lower, "the live stream cannot be kept up with")
        }
        guard let loweredAt else { return Self.decision(best, "the best that may be used") }
        let hasCaughtUp = window.behind <= window.targetDuration * 2
        guard hasCaughtUp, best.bandwidth <= throughput * Self.share, situation.itemTime - loweredAt >= patience else {
            return Self.decision(current, "the live stream could not be kept up with")
        }
        self.loweredAt = nil
        patience = min(patience * 2, Self.longestPatience)
        return Self.decision(best, "the live stream can be kept up with again")
    }

    /// The variant to load a segment from instead, where what is under way takes so long that what follows is gone when
    /// it is there; nil lets it continue.
    package mutating func judge(
        _ download: Download, among candidates: [AssetVariant], at itemTime: Duration
    ) -> SelectionDecision? {
        let bitsPerSecond = max(download.throughput, 1)
        let remaining = Double(max(0, download.remainingByteCount)) * 8 / bitsPerSecond
        // The next segment is listed until the window has passed this one.
        let time = (download.window.before + download.duration).seconds
        guard remaining > time, download.window.behind > download.window.targetDuration * 2 else { return nil }
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

    /// The best below `current` that the throughput carries, else the lowest.
    private static func lower(
        than current: AssetVariant, in sorted: [AssetVariant], throughput: Double
    ) -> AssetVariant? {
        let lower = sorted.filter { $0.bandwidth < current.bandwidth }
        return lower.last { $0.bandwidth <= throughput * share } ?? lower.lowestBandwidth
    }
}

extension AssetVariant {
    /// Its average bit rate, in bits per second.
    fileprivate var meanBitRate: Double { averageBandwidth ?? bandwidth }
}
