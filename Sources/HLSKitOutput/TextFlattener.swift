import HLSKitCaptions
import HLSKitTime

/// Converts overlapping texts to consecutive ones, because an MP4 text track shows one sample at a time (3GPP TS
/// 26.245).
///
/// Simultaneous texts become lines of one sample, in the order in which they began. At most 64 are shown, because
/// screens have no space for more.
struct TextFlattener {
    private var grouper = CaptionGrouper(maximumShownCount: 64)
    private var end = MediaTime.invalid

    /// Adds a text. Texts that were already returned do not change.
    ///
    /// - Returns: The texts that are final now, because texts arrive in the order of their start times.
    mutating func add(_ text: String, in timeRange: MediaTimeRange) -> [CaptionGroup] {
        let settled = take(until: timeRange.start)
        grouper.addCaption(Caption(text, timeRange: timeRange))
        end = end.isValid ? max(end, timeRange.end) : timeRange.end
        return settled
    }

    /// Returns the texts if all of them end before a time, because no earlier texts follow.
    mutating func settle(until time: MediaTime) -> [CaptionGroup] { end.isValid && end <= time ? take(until: end) : [] }

    mutating func finish() -> [CaptionGroup] { take(until: .positiveInfinity) }

    private mutating func take(until time: MediaTime) -> [CaptionGroup] {
        if end.isValid, end <= time { end = .invalid }
        return grouper.flushAddedCaptions(upTo: time).filter { !$0.captions.isEmpty }
    }
}
