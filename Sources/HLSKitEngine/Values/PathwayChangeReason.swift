/// The reason for a switch to another pathway. An open set: a `switch` needs a `default`.
public struct PathwayChangeReason: RawRepresentable, Sendable, Hashable, CustomStringConvertible {
    public let rawValue: String
    public init(rawValue: String) { self.rawValue = rawValue }
    /// The same as ``rawValue``.
    public var description: String { rawValue }

    /// The steering server prefers the new pathway, or no longer offers the old one.
    public static let steering = PathwayChangeReason(rawValue: "steering")
    /// The old pathway failed.
    public static let failure = PathwayChangeReason(rawValue: "failure")
    /// The new pathway had failed earlier, and its penalty has ended.
    public static let recovery = PathwayChangeReason(rawValue: "recovery")
    /// The app prefers the new pathway (``PlayerItem/preferredPathway``).
    public static let preference = PathwayChangeReason(rawValue: "preference")
    /// The selected variant is available only on the new pathway.
    public static let variant = PathwayChangeReason(rawValue: "variant")
}
