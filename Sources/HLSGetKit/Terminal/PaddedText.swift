extension String {
    package func padded(to width: Int) -> String { self + String(repeating: " ", count: max(0, width - count)) }
    package func leftPadded(to width: Int) -> String { String(repeating: " ", count: max(0, width - count)) + self }
}
