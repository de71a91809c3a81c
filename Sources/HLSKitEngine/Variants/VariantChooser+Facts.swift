import HLSKitLoading
import HLSKitSelection
import HLSKitTime

extension VariantChooser {
    struct Segment {
        /// The segment's index in the playlist of the current variant.
        var index: Int
        var tracker: PlaylistTracker
        /// The playlist of the separately loaded audio.
        var audio: PlaylistTracker?

        var start: Duration { tracker.starts[index] }
    }

    struct Facts {
        var moment: SelectionMoment
        var bufferCapacity: Duration
        var startsOnFirst = false
        var isAudioOnly = false
        /// Whether no other variant may replace the current one.
        var isFixed = false
        /// Whether there was no measurement since the first choice.
        var isFirstSegment = false
        /// The throughput in bits per second, or `nil` if it is unknown.
        var throughput: Double?
    }

    /// All limits on a choice that can change.
    struct KnownLimits: Sendable, Equatable {
        var limits: SelectionLimits
        /// The pathway of the current variant.
        var place: String?
        var unplayable: Set<Int>
    }

    enum Action: Sendable {
        /// Report the changed eligibility.
        case report(VariantEligibility)
        /// Choose from these variants from now on (``choose(from:_:)``).
        case choose([AssetVariant])
        /// Apply this decision (``take(_:for:)``).
        case take(SelectionDecision)
        /// Keep the best variant (``takeBest(for:_:)``).
        case takeBest
        /// Ask the rule.
        case ask(SelectionInput)
    }
}

extension VariantPolicy {
    var keepsBest: Bool { if case .best = self { true } else { false } }
    /// Whether no other variant may be used once media of the best one is loaded.
    var isFixed: Bool { self == .best(isFixed: true) }
}

extension [AssetVariant] {
    func sortedByBandwidth() -> [AssetVariant] {
        sorted { ($0.bandwidth, $0.index) < ($1.bandwidth, $1.index) }
    }
}

extension VariantChooser {
    struct VariantSwitch: Sendable, Hashable {
        /// The index of the old variant, or `nil` for the first choice.
        var from: Int?
        var to: Int
        /// The item time at which the first segment of the new variant begins.
        var at: Duration
        var because: String
    }
}

// MARK: - Recording

extension VariantChooser {
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
    func isReloaded(from time: Duration, after start: Duration, among eligible: [AssetVariant]) -> Bool {
        RecordingRule.best(of: eligible)?.index != current && time >= start
    }
}

// MARK: - Avoided sources

extension VariantChooser {
    /// Variants and rendition playlists that failed recently and are avoided for a while.
    ///
    /// Variants are identified by index, renditions by playlist URL.
    struct AvoidedSources: Sendable {
        /// The time that each source is avoided.
        let duration: Duration
        private var variants: PenaltyBox<Int>
        private var renditions: PenaltyBox<String>

        init(duration: Duration = RetryPolicies().penalty) {
            self.duration = duration
            variants = PenaltyBox(duration: duration)
            renditions = PenaltyBox(duration: duration)
        }

        mutating func avoid(variants indices: [Int], at now: Duration) {
            for index in indices { variants.add(index, at: now) }
        }

        mutating func avoid(rendition url: String, at now: Duration) { renditions.add(url, at: now) }

        mutating func forgiveVariants() { variants = PenaltyBox(duration: duration) }

        func renditions(at now: Duration) -> Set<String> { renditions.penalized(at: now) }

        /// Returns variants that failed and variants whose audio rendition failed.
        ///
        /// - Parameter sources: The variants and their renditions, or nil without a multivariant playlist.
        func variants(of sources: @autoclosure () -> VariantSources?, at now: Duration) -> Set<Int> {
            let (indices, urls) = (variants.penalized(at: now), renditions(at: now))
            return urls.isEmpty ? indices : indices.union(sources()?.variants(withAudioFrom: urls) ?? [])
        }
    }
}
