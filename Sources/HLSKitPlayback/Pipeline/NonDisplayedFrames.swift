import HLSKitMedia
import HLSKitTime

/// Hides frames that are shown after a break but decoded before it, because earlier frames depend on them.
///
/// In a file of copied samples, each of them appears briefly before the break, and again at its proper time.
struct NonDisplayedFrames: Sendable {
    /// The number of hidden frames with distinct times. Further ones share a time.
    private static let count: Int64 = 16

    private var number: Int64 = 0

    /// Returns a sample with the timestamps to write.
    ///
    /// - Parameters:
    ///   - until: The item time of the break.
    ///   - offset: The offset from track time to item time.
    mutating func hide(
        _ sample: MediaSample, before until: Duration, offset: Duration, timescale: Int32
    ) -> MediaSample {
        let end = ItemTimeline.ticks(until - offset, timescale)
        // In a coarse timescale, a tick may be as long as a frame, which leaves no time for hidden frames.
        guard sample.pts >= end, timescale >= 1000 else { return sample }
        var hidden = sample
        hidden.pts = max(sample.dts, end - Self.count + min(number, Self.count - 1))
        number += 1
        return hidden.pts < end ? hidden : sample
    }
}
