/// Notices which outputs of an item are new, and what they can show together.
struct OutputWatch {
    /// Outputs that were told what is known already.
    private var greeted: Set<ObjectIdentifier> = []
    private var limits: OutputLimits?

    /// The outputs that have come since the last call.
    mutating func takeNew(of board: OutputBoard) -> [any OutputReceiving] {
        let receivers = board.receivers
        defer { greeted = Set(receivers.map(ObjectIdentifier.init)) }
        return receivers.filter { !greeted.contains(ObjectIdentifier($0)) }
    }

    /// What the outputs can show, where that has changed since the last call.
    mutating func takeChangedLimits(of board: OutputBoard) -> OutputLimits? {
        let current = board.limits
        guard current != limits else { return nil }
        limits = current
        return current
    }
}
