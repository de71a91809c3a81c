import HLSKitMedia
import HLSKitTime

/// Pictures that are shown behind a break, and are decoded before it for those that are shown before it: in a file of copied
/// samples they are there before the break, each for a moment, and once more at their time.
struct HiddenPictures: Sendable {
    /// More of them than that stand in one place.
    private static let count: Int64 = 16

    private var number: Int64 = 0

    /// A picture as it is written.
    ///
    /// - Parameters:
    ///   - until: item time of the break.
    ///   - offset: from the times of the track to those of the item.
    mutating func hide(
        _ sample: MediaSample, before until: Duration, offset: Duration, timescale: Int32
    ) -> MediaSample {
        let end = ItemTimeline.ticks(until - offset, timescale)
        // Units so coarse that a moment is as long as a picture have no room.
        guard sample.pts >= end, timescale >= 1000 else { return sample }
        var hidden = sample
        hidden.pts = max(sample.dts, end - Self.count + min(number, Self.count - 1))
        number += 1
        return hidden.pts < end ? hidden : sample
    }
}
