/// A range of a media timeline from ``start`` up to, but not including, ``end``.
///
/// The type has the semantics of `CMTimeRange`.
public struct MediaTimeRange: Sendable, Hashable, Codable {
    /// The first time in the range.
    public var start: MediaTime
    /// The duration, which is not negative in a valid range.
    public var duration: MediaTime

    /// Creates the range that starts at `start` and has the given duration.
    public init(start: MediaTime, duration: MediaTime) {
        self.start = start
        self.duration = duration
    }

    /// Creates the range from `start` up to, but not including, `end`.
    public init(start: MediaTime, end: MediaTime) {
        self.init(start: start, duration: end - start)
    }

    /// An empty range at zero.
    public static let zero = MediaTimeRange(start: .zero, duration: .zero)
    /// A value that is not a range: the result of operations without a meaningful result.
    public static let invalid = MediaTimeRange(start: .invalid, duration: .invalid)

    /// The first time after the range.
    public var end: MediaTime { start + duration }

    /// A Boolean value that indicates whether the range is valid.
    ///
    /// Both parts are valid, and the duration has epoch 0 and is not negative.
    public var isValid: Bool {
        start.isValid && duration.isValid && (!duration.isNumeric || duration.epoch == 0) && duration >= .zero
    }

    /// A Boolean value that indicates whether the range is valid but contains no time.
    public var isEmpty: Bool { isValid && duration == .zero }

    /// Returns whether `time` is in `[start, end)`.
    public func contains(_ time: MediaTime) -> Bool {
        isValid && time.isNumeric && start <= time && time < end
    }

    /// Returns whether all of `range` is in this range.
    ///
    /// An empty range is contained if its start is in this range or at its end.
    public func contains(_ range: MediaTimeRange) -> Bool {
        isValid && range.isValid && start <= range.start && range.end <= end
    }

    /// Returns the smallest range that contains both.
    ///
    /// If only one of them is valid, the result is that range.
    public func union(_ other: MediaTimeRange) -> MediaTimeRange {
        guard isValid else { return other.isValid ? other : .invalid }
        guard other.isValid else { return self }
        return MediaTimeRange(start: min(start, other.start), end: max(end, other.end))
    }

    /// Returns the overlap of both ranges: ``zero`` if there is none, or ``invalid`` if either is invalid.
    public func intersection(_ other: MediaTimeRange) -> MediaTimeRange {
        guard isValid, other.isValid else { return .invalid }
        let first = max(start, other.start)
        let last = min(end, other.end)
        return first < last ? MediaTimeRange(start: first, end: last) : .zero
    }
}

extension MediaTimeRange: CustomStringConvertible {
    /// The start and end, like `[1.5 s, 4 s)`.
    public var description: String { "[\(start), \(end))" }
}
