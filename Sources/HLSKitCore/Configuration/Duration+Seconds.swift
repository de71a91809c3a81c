extension Duration {
    /// Seconds as the nearest floating-point number, for formulas and reports; never for comparisons.
    package var seconds: Double {
        let (seconds, attoseconds) = components
        return Double(seconds) + Double(attoseconds) * 1e-18
    }
}
