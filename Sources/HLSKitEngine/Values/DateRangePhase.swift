/// What happened to a date range of the playlist that is played. An open set.
///
/// See ``PlayerEvent/Kind/dateRange(_:_:)``.
public struct DateRangePhase: RawRepresentable, Sendable, Hashable, CustomStringConvertible {
    public let rawValue: String
    public init(rawValue: String) { self.rawValue = rawValue }

    public var description: String { rawValue }

    /// The playhead has come into it, by playing or by a seek.
    public static let entered = DateRangePhase(rawValue: "entered")
    /// While the playhead is in it, the playlist says something else of it: attributes are new or different, or its end is
    /// known now.
    public static let updated = DateRangePhase(rawValue: "updated")
    /// The playhead has left it.
    public static let left = DateRangePhase(rawValue: "left")
    /// While the playhead is in it, the playlist has it no longer.
    public static let removed = DateRangePhase(rawValue: "removed")
}
