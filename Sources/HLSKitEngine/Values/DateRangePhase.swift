/// The change of a date range that a player reports. An open set: a `switch` needs a `default`.
///
/// See ``PlayerEvent/Kind/dateRange(_:_:)``.
public struct DateRangePhase: RawRepresentable, Sendable, Hashable, CustomStringConvertible {
    public let rawValue: String
    public init(rawValue: String) { self.rawValue = rawValue }

    public var description: String { rawValue }

    /// The playhead has entered the date range, during playback or by a seek.
    public static let entered = DateRangePhase(rawValue: "entered")
    /// The playlist has changed the date range while the playhead is in it.
    ///
    /// Attributes are new or different, or its end has become known.
    public static let updated = DateRangePhase(rawValue: "updated")
    /// The playhead has left the date range.
    public static let left = DateRangePhase(rawValue: "left")
    /// The playlist has removed the date range while the playhead is in it.
    public static let removed = DateRangePhase(rawValue: "removed")
}
