extension MediaTime {
    /// The rounding that applies if a timescale cannot represent a time exactly.
    ///
    /// The cases have the names of `CMTimeRoundingMethod`.
    public enum RoundingMethod: Sendable, Hashable, CaseIterable {
        /// To the nearest value, and halfway values away from zero. This is the default.
        case halfAwayFromZero
        /// Towards zero (cut off).
        case towardZero
        /// Away from zero.
        case awayFromZero
        /// Up.
        case towardPositiveInfinity
        /// Down.
        case towardNegativeInfinity
        /// Towards zero if the new timescale is coarser, and away from zero if it is finer. A negative time never
        /// becomes zero.
        case quickTime
    }
}

extension MediaTime.RoundingMethod {
    /// Divides with this rounding. The `denominator` must be greater than zero. ``quickTime`` uses `coarsening` to
    /// select the direction.
    func divide(_ numerator: Int128, by denominator: Int128, coarsening: Bool = true) -> (value: Int128, exact: Bool) {
        let (quotient, remainder) = numerator.quotientAndRemainder(dividingBy: denominator)
        guard remainder != 0 else { return (quotient, true) }
        let away: Int128 = numerator < 0 ? -1 : 1
        let magnitude = remainder.magnitude
        let step: Int128 =
            switch self {
            case .halfAwayFromZero: magnitude >= denominator.magnitude - magnitude ? away : 0
            case .towardZero: 0
            case .awayFromZero: away
            case .towardPositiveInfinity: numerator > 0 ? 1 : 0
            case .towardNegativeInfinity: numerator < 0 ? -1 : 0
            case .quickTime: !coarsening || (quotient == 0 && numerator < 0) ? away : 0
            }
        return (quotient + step, false)
    }
}
