import HLSKitSelection

/// Whether somebody knows why an item is not played with low latency, though it is offered.
struct LowLatencyNotice: Sendable {
    private var isTold = false

    /// The reason to tell; nil where there is none, or it was told.
    mutating func news(_ profile: LowLatencyProfile) -> LowLatencyProfile.Reason? {
        switch profile {
        case .declined(let reason):
            defer { isTold = true }
            return isTold ? nil : reason
        case .lowLatency:
            isTold = false
            return nil
        // An ending list says nothing of what it was.
        case .ordinary: return nil
        }
    }
}
