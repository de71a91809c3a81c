extension Int64 {
    /// The nearest integer, for texts; 0 for what is not a number.
    package init(clamping value: Double) {
        self = value.isNaN ? 0 : value >= 0x1p63 ? .max : value <= -0x1p63 ? .min : Int64(value)
    }
}
