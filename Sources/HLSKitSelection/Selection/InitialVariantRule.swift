import HLSKitLoading

package struct InitialVariantRule: Sendable, Hashable {
    /// The share of the known throughput that the first variant may use.
    var share = 0.8

    package init() {}

    /// Returns the variant to start with, or nil if there is none.
    ///
    /// - Parameters:
    ///   - eligible: The eligible variants in playlist order.
    ///   - knownThroughput: The throughput in bits per second, or nil if it is unknown.
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
