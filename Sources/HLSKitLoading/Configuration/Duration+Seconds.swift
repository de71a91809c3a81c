extension Duration {
    /// The seconds as the nearest floating-point number, for formulas and reports, but not for comparisons.
    package var seconds: Double {
        let (seconds, attoseconds) = components
        return Double(seconds) + Double(attoseconds) * 1e-18
    }
}

extension Duration {
    /// The whole microseconds, as in a journal.
    package var wholeMicroseconds: Int64 {
        let (seconds, attoseconds) = components
        let (value, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000)
        return overflow ? (seconds < 0 ? .min : .max) : value &+ attoseconds / 1_000_000_000_000
    }
}

package func abs(_ duration: Duration) -> Duration { duration < .zero ? .zero - duration : duration }
