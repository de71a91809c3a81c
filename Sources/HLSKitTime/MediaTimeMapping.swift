/// A linear mapping of one timeline to another, which stretches ``source`` to ``target``.
///
/// The type has the semantics of `CMTimeMapping`.
public struct MediaTimeMapping: Sendable, Hashable, Codable {
    /// The range on the source timeline.
    public var source: MediaTimeRange
    /// The range to which ``source`` is mapped.
    public var target: MediaTimeRange

    /// Creates a mapping.
    ///
    /// Neither range has to be valid.
    public init(source: MediaTimeRange, target: MediaTimeRange) {
        self.source = source
        self.target = target
    }

    /// Returns the time on the target timeline that corresponds to `time` on the source timeline.
    ///
    /// Times outside ``source`` continue with the same slope. An empty source moves times without stretching. Invalid
    /// ranges give ``MediaTime/invalid``.
    public func map(_ time: MediaTime) -> MediaTime {
        guard source.isValid, target.isValid else { return .invalid }
        let offset = time - source.start
        guard offset.isNumeric, !source.isEmpty, source.duration.isNumeric, target.duration.isNumeric,
            source.duration != target.duration
        else { return target.start + offset }
        // offset · (target / source), each as a fraction: 95 bits, which are usually 63 after reduction.
        let (from, to) = (source.duration, target.duration)
        let numerator = Int128(to.value) * Int128(from.timescale)
        let denominator = Int128(to.timescale) * Int128(from.value)
        let common = MediaTime.greatestCommonDivisor(numerator, denominator)
        if let numerator = Int64(exactly: numerator / common), let denominator = Int64(exactly: denominator / common) {
            return target.start + offset.multiplied(by: (numerator, denominator))
        }
        return target.start + offset.multiplied(by: to.seconds / from.seconds)
    }
}
