import HLSKitCaptions
import HLSKitTime

/// Makes one text after the other of texts that overlap: a text track of MP4 shows one sample at a time (3GPP TS 26.245).
///
/// Where several are shown at once, they are lines of one sample, in the order in which they began. No more than 64 are: no
/// screen has room for them.
struct TextFlattener {
    private var grouper = CaptionGrouper(maximumShownCount: 64)
    /// Where the last of the texts ends.
    private var end = MediaTime.invalid

    /// Adds a text; what was handed out already stays as it is.
    ///
    /// - Returns: What is settled by that: texts come in the order in which they begin.
    mutating func add(_ text: String, in timeRange: MediaTimeRange) -> [CaptionGroup] {
        let settled = take(until: timeRange.start)
        grouper.addCaption(Caption(text, timeRange: timeRange))
        end = end.isValid ? max(end, timeRange.end) : timeRange.end
        return settled
    }

    /// Hands out the texts where all of them have ended by a time: nothing more comes of before it.
    mutating func settle(until time: MediaTime) -> [CaptionGroup] { end.isValid && end <= time ? take(until: end) : [] }

    /// Hands out what is left; nothing more is added.
    mutating func finish() -> [CaptionGroup] { take(until: .positiveInfinity) }

    private mutating func take(until time: MediaTime) -> [CaptionGroup] {
        if end.isValid, end <= time { end = .invalid }
        return grouper.flushAddedCaptions(upTo: time).filter { !$0.captions.isEmpty }
    }
}
