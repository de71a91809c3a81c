package import HLSKitLoading
package import HLSKitSelection

/// Something that an engine decided, with what it decided from. Told to a program's logger, to no one else.
package enum Decision: Sendable {
    /// Whether playback would keep up if it started now.
    case keepUp(KeepUpInput, isLikely: Bool)
    /// Which variants may be used. Told when that is worked out again.
    case eligibility(VariantEligibility)
    /// Which variant the item starts with.
    case firstVariant(index: Int, explanation: String)
    /// Which variant the next segment comes from, or whether one on its way continues.
    case variant(SelectionInput, SelectionDecision)
    /// Parts come late over a connection that requests share: they are asked for over others from now on.
    case ownConnections(url: String)
    /// That the item cannot be played, or not to its end.
    case failure(HLSError)
}

/// How much of what is decided is reported.
package enum DecisionDetail: Int, Sendable, Comparable {
    case nothing
    /// Decisions that change what is loaded.
    case choices
    /// All, also what is looked at with each byte.
    case everything

    package static func < (left: DecisionDetail, right: DecisionDetail) -> Bool { left.rawValue < right.rawValue }
}
