/// A point on a media timeline, or a length of it, as an exact fraction of a second.
public struct MediaTime: Sendable, Hashable {
    /// The number of units.
    public var value: Int64
    /// Units per second.
    public var timescale: Int32
    public init(value: Int64, timescale: Int32) {
        self.value = value
        self.timescale = timescale
    }
    public static let zero = MediaTime(value: 0, timescale: 1)
    public static let indefinite = MediaTime(value: 0, timescale: 0)
    public var seconds: Double { timescale == 0 ? .nan : Double(value) / Double(timescale) }
    public var isNumeric: Bool { timescale > 0 }
}
public struct MediaTimeRange: Sendable, Hashable {
    public var start: MediaTime
    public var duration: MediaTime
    public init(start: MediaTime, duration: MediaTime) {
        self.start = start
        self.duration = duration
    }
}
