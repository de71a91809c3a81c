package import HLSKitLoading
package import HLSKitSelection

/// A decision of an engine with its inputs. Decisions are sent only to the app's logger.
package enum Decision: Sendable {
    /// Whether playback would keep up if it started now.
    case keepUp(KeepUpInput, isLikely: Bool)
    /// The variants that may be used. Sent after each evaluation.
    case eligibility(VariantEligibility)
    /// The variant that the item starts with.
    case firstVariant(index: Int, explanation: String)
    /// The variant of the next segment, or whether a segment in flight continues.
    case variant(SelectionInput, SelectionDecision)
    /// Parts are requested over separate connections from now on because they are late on shared ones.
    case ownConnections(url: String)
    /// The item cannot be played, or not to its end.
    case failure(HLSError)
}

package enum DecisionDetail: Int, Sendable, Comparable {
    case nothing
    /// Decisions that change what is loaded.
    case choices
    /// All decisions, including checks for each received byte.
    case everything

    package static func < (left: DecisionDetail, right: DecisionDetail) -> Bool { left.rawValue < right.rawValue }
}
