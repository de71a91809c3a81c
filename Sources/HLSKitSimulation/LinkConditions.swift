public import HLSKitCore

/// The conditions of a link that is simulated or imposed.
public struct LinkConditions: Sendable {}
