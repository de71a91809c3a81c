/// The bit rates of the segments of a media playlist.
public struct SegmentBitRates: Sendable, Hashable {
    /// The peak bit rate, in bits per second.
    ///
    /// It is the largest bit rate of any contiguous segments that together last from half to one and a half target
    /// durations. A longer segment counts alone. Source: rfc8216bis §4.1 "peak segment bit rate".
    public var peak: Double
    /// The average segment bit rate in bits per second: all bits divided by all durations.
    public var average: Double
    package var measuredSegmentCount: Int

    /// Calculates the bit rates of a playlist.
    ///
    /// - Parameters:
    ///   - playlist: The playlist, which provides the durations and the sizes of byte ranges.
    ///   - byteCounts: The size of each segment, or `nil` if unknown. Byte ranges need no size here.
    /// - Returns: The bit rates, or `nil` if no size is known or all durations are zero.
    public init?(of playlist: MediaPlaylist, byteCounts: [Int?] = []) {
        var sizes: [(bits: Double, seconds: Double)?] = []
        sizes.reserveCapacity(playlist.segments.count)
        for (index, segment) in playlist.segments.enumerated() {
            let count = segment.byteRange?.length ?? (byteCounts.indices.contains(index) ? byteCounts[index] : nil)
            sizes.append(segment.isGap ? nil : count.map { (Double($0) * 8, segment.duration / .seconds(1)) })
        }
        var bits = 0.0
        var seconds = 0.0
        measuredSegmentCount = 0
        for case let size? in sizes {
            bits += size.bits
            seconds += size.seconds
            measuredSegmentCount += 1
        }
        guard measuredSegmentCount > 0, seconds > 0 else { return nil }
        average = bits / seconds
        peak = Self.peak(sizes, targetDuration: playlist.targetDuration / .seconds(1)) ?? average
    }

    private static func peak(_ sizes: [(bits: Double, seconds: Double)?], targetDuration: Double) -> Double? {
        var peak: Double?
        for start in sizes.indices {
            var bits = 0.0
            var seconds = 0.0
            // Segments are rarely shorter than a hundredth of the target duration. The limit keeps the time linear if
            // they are.
            for index in start..<min(sizes.count, start + 150) {
                guard let size = sizes[index] else { break }
                bits += size.bits
                seconds += size.seconds
                if seconds > 1.5 * targetDuration, index > start { break }
                guard seconds >= 0.5 * targetDuration, seconds > 0 else { continue }
                peak = max(peak ?? 0, bits / seconds)
                if seconds > 1.5 * targetDuration { break }
            }
        }
        return peak
    }
}
