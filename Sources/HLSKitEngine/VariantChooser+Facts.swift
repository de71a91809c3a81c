import HLSKitSelection

/// What decisions about the next segment depend on, and what they are.
extension VariantChooser {
    /// A segment to decide about.
    struct Segment {
        /// Its place in the playlist of the variant in use.
        var index: Int
        var tracker: PlaylistTracker
        /// The playlist of the audio that is loaded beside.
        var audio: PlaylistTracker?

        var start: Duration { tracker.starts[index] }
    }

    /// What a decision depends on besides the variants.
    struct Facts {
        var moment: SelectionMoment
        var bufferCapacity: Duration
        var startsOnFirst = false
        /// Only audio is played.
        var isSoundOnly = false
        /// No other variant may take the place of the one that is kept.
        var isFixed = false
        /// Nothing was measured since the first choice.
        var isFirstSegment = false
        /// Bits per second; nil while nothing is known.
        var throughput: Double?
    }

    /// All that a choice depends on and that can change.
    struct KnownLimits: Sendable, Equatable {
        var limits: SelectionLimits
        /// Where the variant in use comes from.
        var place: String?
        var unplayable: Set<Int>
    }

    enum Action: Sendable {
        /// What may be used has changed.
        case tell(VariantEligibility)
        /// A rule chooses from these from now on (``choose(from:_:)``).
        case choose([AssetVariant])
        /// It is decided (``take(_:for:)``).
        case take(SelectionDecision)
        /// The best is kept (``takeBest(for:_:)``).
        case takeBest
        /// The rule is to choose.
        case ask(SelectionInput)
    }
}

extension VariantPolicy {
    /// The best variant is kept, and no rule chooses.
    var keepsBest: Bool { if case .best = self { true } else { false } }
    /// No other takes its place once there is media of it.
    var isFixed: Bool { self == .best(isFixed: true) }
}

extension [AssetVariant] {
    func sortedByBandwidth() -> [AssetVariant] {
        sorted { ($0.bandwidth, $0.index) < ($1.bandwidth, $1.index) }
    }
}
