extension Duration {
    /// Seconds as the nearest floating-point number, for formulas and reports; never for comparisons.
    package var seconds: Double {
        let (seconds, attoseconds) = components
        return Double(seconds) + Double(attoseconds) * 1e-18
    }
}

extension Duration {
    /// Whole microseconds, as a journal holds them.
    package var wholeMicroseconds: Int64 {
        let (seconds, attoseconds) = components
        let (value, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000)
        return overflow ? (seconds < 0 ? .min : .max) : value &+ attoseconds / 1_000_000_000_000
    }
}

package func abs(_ duration: Duration) -> Duration { duration < .zero ? .zero - duration : duration }
