extension Duration {
    /// The seconds as the nearest floating-point number, for formulas and reports, but not for comparisons.
    package var seconds: Double {
        let (seconds, attoseconds) = components
        return Double(seconds) + Double(attoseconds) * 1e-18
    }

    /// The milliseconds, rounded to the precision of a `Double`.
    package var milliseconds: Double {
        Double(components.seconds) * 1000 + Double(components.attoseconds) / 1e15
    }

    /// The whole microseconds, rounded towards zero and clamped to 64 bits.
    package var wholeMicroseconds: Int64 { whole(1_000_000) }

    /// The whole nanoseconds, rounded towards zero and clamped to 64 bits (292 years).
    package var wholeNanoseconds: Int64 { whole(1_000_000_000) }

    private func whole(_ unitsPerSecond: Int64) -> Int64 {
        let (seconds, attoseconds) = components
        let (whole, overflow) = seconds.multipliedReportingOverflow(by: unitsPerSecond)
        let (sum, overflow2) = whole.addingReportingOverflow(attoseconds / (1_000_000_000_000_000_000 / unitsPerSecond))
        return overflow || overflow2 ? (seconds < 0 ? .min : .max) : sum
    }

    /// Returns the seconds with at most `places` decimals, without rounding: `6.006`, `-12`, `10`. The result is exact
    /// by default, and has at least `minimum` decimals.
    package func decimalText(_ places: Int = 18, atLeast minimum: Int = 0) -> String {
        let (seconds, attoseconds) = components
        var unit: UInt64 = 1
        for _ in places..<18 { unit *= 10 }
        let fraction = attoseconds.magnitude / unit
        let text = (seconds < 0 || (attoseconds < 0 && fraction > 0) ? "-" : "") + String(seconds.magnitude)
        return fraction == 0 && minimum == 0 ? text : "\(text).\(fraction.decimals(places, atLeast: minimum))"
    }
}

package func abs(_ duration: Duration) -> Duration { duration < .zero ? .zero - duration : duration }
