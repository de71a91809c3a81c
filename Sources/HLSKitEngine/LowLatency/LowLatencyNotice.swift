import HLSKitSelection

/// Tracks whether the reason for declining an offer of low latency was reported.
struct LowLatencyNotice: Sendable {
    private var isTold = false

    /// Returns the reason to report, or nil if there is none or it was reported.
    mutating func news(_ profile: LowLatencyProfile) -> LowLatencyProfile.Reason? {
        switch profile {
        case .declined(let reason):
            defer { isTold = true }
            return isTold ? nil : reason
        case .lowLatency:
            isTold = false
            return nil
        // An ended playlist does not show what it was before.
        case .ordinary: return nil
        }
    }
}
