import HLSKitLoading

/// Chooses the variant to start on.
///
/// See docs/behaviour/selection.md.
package struct InitialVariantRule: Sendable, Hashable {
    /// The share of the known throughput that the first variant may take.
    var share = 0.8

    package init() {}

    /// The variant to start on, nil when there is none.
    ///
    /// `eligible` is in playlist order; `knownThroughput` in bits per second, nil when nothing is known.
    package func choose(
        from eligible: [AssetVariant], knownThroughput: Double?, startsOnFirstEligibleVariant: Bool = false
    ) -> SelectionDecision? {
        guard let first = eligible.first, let lowest = eligible.lowestBandwidth else { return nil }
        if startsOnFirstEligibleVariant {
            return SelectionDecision(variantID: first.id, explanation: "first eligible variant, as asked for")
        }
        guard let knownThroughput else {
            return SelectionDecision(
                variantID: first.id, explanation: "first eligible variant, throughput unknown")
        }
        let limit = share * knownThroughput
        let best = eligible.sortedByQuality().last { $0.bandwidth <= limit }
        return SelectionDecision(
            variantID: (best ?? lowest).id,
            explanation: best == nil
                ? "lowest variant, none within \(Int64(clamping: limit)) bit/s"
                : "best variant within \(Int64(clamping: limit)) bit/s")
    }
}
