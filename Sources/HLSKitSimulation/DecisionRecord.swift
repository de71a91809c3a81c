import HLSKitCore
import Synchronization

final class DecisionRecord: Sendable {
    let entries = Mutex<[SimulatedSession.Decision]>([])
}

/// Forwards all calls to a rule and records its decisions.
struct ExplainingSelector: VariantSelector {
    var rule: any VariantSelector
    /// The movie's variants by their position in the multivariant playlist.
    let variants: [Int]
    let record: DecisionRecord

    mutating func decide(_ input: SelectionInput) -> SelectionDecision {
        let decision = rule.decide(input)
        // Most checks of a running download let it continue.
        if let download = input.download, download.variantID == decision.variantID { return decision }
        guard let index = input.candidates.playlistIndex(of: decision.variantID), variants.indices.contains(index)
        else {
            return decision
        }
        let entry = SimulatedSession.Decision(
            time: input.now.milliseconds, variant: variants[index],
            abandonsDownload: input.download != nil, explanation: decision.explanation)
        record.entries.withLock { $0.append(entry) }
        return decision
    }
}
