extension String {
    /// The text with blanks behind it up to `width` characters.
    package func padded(to width: Int) -> String { self + String(repeating: " ", count: max(0, width - count)) }
    /// The text with blanks before it up to `width` characters.
    package func leftPadded(to width: Int) -> String { String(repeating: " ", count: max(0, width - count)) + self }
}
