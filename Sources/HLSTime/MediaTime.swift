/// A point on a media timeline, or a length of it, as an exact fraction of a second.
public struct MediaTime: Sendable, Hashable {
    /// The number of units.
    public var value: Int64
    /// Units per second.
    public var timescale: Int32
}
