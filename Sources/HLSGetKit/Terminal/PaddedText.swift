extension String {
    /// Pads the text at its end to `width` characters.
    package func padded(to width: Int) -> String { self + String(repeating: " ", count: max(0, width - count)) }
    /// Pads the text at its start to `width` characters.
    package func leftPadded(to width: Int) -> String { String(repeating: " ", count: max(0, width - count)) + self }
}
