extension Int64 {
    /// The nearest integer for texts, or 0 if the value is not a number.
    package init(clamping value: Double) {
        self = value.isNaN ? 0 : value >= 0x1p63 ? .max : value <= -0x1p63 ? .min : Int64(value)
    }
}
