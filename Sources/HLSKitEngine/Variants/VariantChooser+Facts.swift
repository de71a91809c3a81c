import HLSKitSelection

/// The facts that decisions about the next segment depend on, and the decisions.
extension VariantChooser {
    /// A segment to decide about.
    struct Segment {
        /// The segment's index in the playlist of the current variant.
        var index: Int
        var tracker: PlaylistTracker
        /// The playlist of the separately loaded audio.
        var audio: PlaylistTracker?

        var start: Duration { tracker.starts[index] }
    }

    /// The facts in addition to the variants that a decision depends on.
    struct Facts {
        var moment: SelectionMoment
        var bufferCapacity: Duration
        var startsOnFirst = false
        /// Whether only audio is played.
        var isSoundOnly = false
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
        case tell(VariantEligibility)
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
    /// Whether the best variant is kept, so that no rule chooses.
    var keepsBest: Bool { if case .best = self { true } else { false } }
    /// Whether no other variant may be used once media of the best one is loaded.
    var isFixed: Bool { self == .best(isFixed: true) }
}

extension [AssetVariant] {
    func sortedByBandwidth() -> [AssetVariant] {
        sorted { ($0.bandwidth, $0.index) < ($1.bandwidth, $1.index) }
    }
}
