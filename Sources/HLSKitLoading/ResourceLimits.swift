import HLSKitTime

/// The largest accepted bodies (R27, R28), in bytes after content decoding.
package enum ResourceLimits {
    package static let playlistByteCount = 16 << 20
    package static let keyByteCount = 4 << 10
    package static let initializationSectionByteCount = 16 << 20
    private static let maximumSegmentByteCount = 256 << 20
    private static let segmentAllowance = 8 << 20

    /// Returns four times the size by the variant's bit rate plus a margin, or the general limit without a bit rate.
    package static func segmentByteCount(duration: Duration, bitRate: Int?) -> Int {
        guard let bitRate, bitRate > 0 else { return maximumSegmentByteCount }
        let expected = 4 * Double(bitRate) * duration.seconds / 8
        return Int(min(expected + Double(segmentAllowance), Double(maximumSegmentByteCount)))
    }
}
