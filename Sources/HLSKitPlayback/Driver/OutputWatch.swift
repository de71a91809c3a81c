import HLSKitOutput
import HLSKitSelection

/// Detects new outputs of an item and changes of their combined limits.
struct OutputWatch {
    private var greeted: Set<ObjectIdentifier> = []
    private var limits: OutputLimits?

    mutating func takeNew(of registry: OutputRegistry) -> [OutputRegistry.OutputEntry] {
        let entries = registry.outputs
        defer { greeted = Set(entries.map { ObjectIdentifier($0.output) }) }
        return entries.filter { !greeted.contains(ObjectIdentifier($0.output)) }
    }

    /// Returns the outputs' combined limits if they have changed since the last call.
    mutating func takeChangedLimits(of registry: OutputRegistry) -> OutputLimits? {
        let current = registry.limits
        guard current != limits else { return nil }
        limits = current
        return current
    }
}
