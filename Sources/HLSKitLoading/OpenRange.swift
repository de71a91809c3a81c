/// Byte ranges without an end (`bytes=N-`), for a resource that may grow and whose end may be unknown.
///
/// Source: RFC 9110 §14.1.2, rfc8216bis §4.4.5.3.
extension Range<UInt64> {
    package static func bytes(from start: UInt64) -> Range<UInt64> { start..<UInt64.max }

    package var isOpenEnded: Bool { upperBound == .max }

    /// Returns the range within a complete resource of this size, or nil if the resource does not contain it.
    package func bytes(ofResourceOf byteCount: UInt64) -> Range<UInt64>? {
        let end = isOpenEnded ? byteCount : upperBound
        return lowerBound < end && end <= byteCount ? lowerBound..<end : nil
    }

    /// The range in a `Range` header field (RFC 9110 §14.1.1).
    package var headerText: String { isOpenEnded ? "\(lowerBound)-" : "\(lowerBound)-\(upperBound &- 1)" }
}
