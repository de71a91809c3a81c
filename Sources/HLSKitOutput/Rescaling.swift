/// Converts `value` from units of 1/`source` s to units of 1/`target` s. Rounds to the nearest unit, with halves away
/// from zero, and limits the result to `Int64`.
func rescaled(_ value: Int64, from source: Int32, to target: Int32) -> Int64 {
    guard source > 0, source != target else { return value }
    let product = Int128(value) * Int128(target)
    let half = Int128(source / 2)
    return Int64(clamping: (product + (product < 0 ? -half : half)) / Int128(source))
}
