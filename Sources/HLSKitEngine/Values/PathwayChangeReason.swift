/// Why media is loaded from another pathway. An open set: a `switch` needs a `default`.
public struct PathwayChangeReason: RawRepresentable, Sendable, Hashable, CustomStringConvertible {
    public let rawValue: String
    public init(rawValue: String) { self.rawValue = rawValue }
    /// ``rawValue``.
    public var description: String { rawValue }

    /// The steering server prefers it, or does not offer the other any more.
    public static let steering = PathwayChangeReason(rawValue: "steering")
    /// The other did not deliver.
    public static let failure = PathwayChangeReason(rawValue: "failure")
    /// It failed before, and its penalty is over.
    public static let recovery = PathwayChangeReason(rawValue: "recovery")
    /// The program prefers it (``PlayerItem/preferredPathway``).
    public static let preference = PathwayChangeReason(rawValue: "preference")
    /// The variant that was chosen comes from there only.
    public static let variant = PathwayChangeReason(rawValue: "variant")
}
