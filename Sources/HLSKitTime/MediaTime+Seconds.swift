// MARK: - Seconds

extension MediaTime {
    /// Returns a whole number of seconds, in timescale 1.
    ///
    /// A number beyond 64 bits is clamped.
    public static func seconds(_ seconds: some BinaryInteger) -> MediaTime {
        MediaTime(value: Int64(clamping: seconds), timescale: 1)
    }

    /// Returns a time from a number of seconds: `.seconds(1.5)`.
    ///
    /// The timescale is the first of 1, 600, 90,000, 1,000,000 and 1,000,000,000 that represents `seconds` exactly. If
    /// there is none, the time is rounded to a nanosecond. NaN gives ``invalid``. A value out of range is handled as in
    /// ``init(seconds:preferredTimescale:)``.
    public static func seconds(_ seconds: Double) -> MediaTime {
        if seconds.isFinite {
            for scale in [1, 600, 90_000, 1_000_000] as [Int32] {
                let value = (seconds * Double(scale)).rounded()
                // Beyond this value, a double cannot represent single units.
                guard value.magnitude < 9_007_199_254_740_992 else { break }
                if value / Double(scale) == seconds { return MediaTime(value: Int64(value), timescale: scale) }
            }
        }
        return MediaTime(seconds: seconds, preferredTimescale: 1_000_000_000)
    }

    /// Returns a whole number of milliseconds, in timescale 1,000.
    ///
    /// A number beyond 64 bits is clamped.
    public static func milliseconds(_ milliseconds: some BinaryInteger) -> MediaTime {
        MediaTime(value: Int64(clamping: milliseconds), timescale: 1000)
    }
}

// MARK: - Text

extension MediaTime: CustomStringConvertible, CustomDebugStringConvertible {
    /// The time in seconds, like `1.5 s`, rounded to a nanosecond.
    ///
    /// A nonzero epoch adds, for example, `epoch 1`. Times that are not numbers are `indefinite`, `invalid`,
    /// `+infinity` and `-infinity`.
    public var description: String {
        guard isNumeric else { return debugDescription }
        return Self.decimals(value, timescale) + " s" + (epoch == 0 ? "" : " epoch \(epoch)")
    }

    /// The ``description`` with the exact fraction, like `0.033366667 s (1001/30000)`.
    ///
    /// A rounded time adds `rounded`. Arrays and optionals show this text.
    public var debugDescription: String {
        if isNumeric { return "\(self) (\(value)/\(timescale)\(hasBeenRounded ? ", rounded" : ""))" }
        if isPositiveInfinity { return "+infinity" }
        if isNegativeInfinity { return "-infinity" }
        return isIndefinite ? "indefinite" : "invalid"
    }

    /// A fraction with at most nine decimals, without trailing zeros. `timescale` is greater than zero.
    private static func decimals(_ value: Int64, _ timescale: Int32) -> String {
        let scaled = Int128(value) * 1_000_000_000
        let (units, _) = MediaTime.RoundingMethod.halfAwayFromZero.divide(scaled, by: Int128(timescale))
        let (seconds, rest) = units.magnitude.quotientAndRemainder(dividingBy: 1_000_000_000)
        let sign = units < 0 ? "-" : ""
        guard rest != 0 else { return "\(sign)\(seconds)" }
        return "\(sign)\(seconds).\(UInt64(truncatingIfNeeded: rest).decimals(9))"
    }
}
