import HLSKitOutput
import HLSKitSelection

/// Notices which outputs of an item are new, and what they can show together.
struct OutputWatch {
    /// Outputs that were told what is known already.
    private var greeted: Set<ObjectIdentifier> = []
    private var limits: OutputLimits?

    /// The outputs that have come since the last call.
    mutating func takeNew(of registry: OutputRegistry) -> [OutputRegistry.OutputEntry] {
        let entries = registry.outputs
        defer { greeted = Set(entries.map { ObjectIdentifier($0.output) }) }
        return entries.filter { !greeted.contains(ObjectIdentifier($0.output)) }
    }

    /// What the outputs can show, where that has changed since the last call.
    mutating func takeChangedLimits(of registry: OutputRegistry) -> OutputLimits? {
        let current = registry.limits
        guard current != limits else { return nil }
        limits = current
        return current
    }
}
