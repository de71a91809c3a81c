/// Ranges of bytes that are open at their end: `bytes=N-`. The resource may be growing, and its end not be known.
///
/// Source: RFC 9110 §14.1.2, rfc8216bis §4.4.5.3.
extension Range<UInt64> {
    /// From a byte to the end of the resource.
    package static func bytes(from start: UInt64) -> Range<UInt64> { start..<UInt64.max }

    /// It goes to the end of the resource, wherever that is.
    package var isOpenEnded: Bool { upperBound == .max }

    /// The bytes of a resource that is whole; nil where they are not in it.
    package func bytes(ofResourceOf byteCount: UInt64) -> Range<UInt64>? {
        let end = isOpenEnded ? byteCount : upperBound
        return lowerBound < end && end <= byteCount ? lowerBound..<end : nil
    }

    /// As a server is asked for it (RFC 9110 §14.1.1).
    package var headerText: String { isOpenEnded ? "\(lowerBound)-" : "\(lowerBound)-\(upperBound &- 1)" }
}
