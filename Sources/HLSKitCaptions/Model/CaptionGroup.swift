public import HLSKitTime

/// The captions that are shown together during a time; none if nothing is shown.
///
/// Source: AVFoundation's `AVCaptionGroup`.
public struct CaptionGroup: Sendable, Hashable {
    /// When the captions are shown.
    public var timeRange: MediaTimeRange
    /// The captions, in the order in which they were added; empty if nothing is shown.
    public var captions: [Caption]

    /// Makes a group.
    package init(captions: [Caption], timeRange: MediaTimeRange) {
        self.captions = captions
        self.timeRange = timeRange
    }
}

/// Turns captions, which may overlap, into a row of groups that do not: one for each change of what is shown.
///
/// Groups follow one another without holes from the first caption's start; an empty group is a time in which nothing
/// is shown. Of equal times the captions keep the order in which they were added.
///
/// Source: AVFoundation's `AVCaptionGrouper`.
public struct CaptionGrouper: Sendable {
    private var captions: [Caption] = []
    /// Up to here groups were given.
    private var position: MediaTime?
    /// Captions that begin while this many are shown are skipped.
    private let maximumShownCount: Int

    /// Makes a grouper without captions.
    public init() { self.init(maximumShownCount: .max) }

    /// For those who cannot show more: in hostile files all captions overlap, and each change would list all of them.
    package init(maximumShownCount: Int) { self.maximumShownCount = maximumShownCount }

    /// Takes a caption. One that ends before what was given already, or that has no numeric start or is empty in time,
    /// is skipped.
    public mutating func addCaption(_ caption: Caption) {
        let range = caption.timeRange
        guard range.isValid, range.start.isNumeric, !range.isEmpty else { return }
        if let position, range.end <= position { return }
        captions.append(caption)
    }

    /// Gives the groups that end at or before `time`, the last one cut off there.
    ///
    /// Captions that are added later are shown from `time` on at the earliest. With `MediaTime.positiveInfinity` all
    /// is given; captions without a numeric end then make a last group without one.
    public mutating func flushAddedCaptions(upTo time: MediaTime) -> [CaptionGroup] {
        guard time.isNumeric || time.isPositiveInfinity else { return [] }
        let starts = captions.map { max($0.timeRange.start, position ?? $0.timeRange.start) }
        guard var begin = position ?? starts.min(), begin < time else { return [] }
        var changes = Set(starts)
        for caption in captions where caption.timeRange.end.isNumeric { changes.insert(caption.timeRange.end) }
        if time.isNumeric { changes.insert(time) }
        var groups: [CaptionGroup] = []
        // Captions by their start, and those on screen: each is looked at while it is shown only.
        let order = captions.indices.sorted { (starts[$0], $0) < (starts[$1], $1) }
        var next = 0
        var shown: [Int] = []
        func captionsShown(at time: MediaTime) -> [Caption] {
            shown.removeAll { captions[$0].timeRange.end <= time }
            while next < order.count, starts[order[next]] <= time {
                if shown.count < maximumShownCount, captions[order[next]].timeRange.end > time {
                    shown.append(order[next])
                }
                next += 1
            }
            return shown.sorted().map { captions[$0] }
        }
        for change in changes.sorted() where change > begin && change <= time {
            groups.append(
                CaptionGroup(
                    captions: captionsShown(at: begin), timeRange: MediaTimeRange(start: begin, end: change)))
            begin = change
        }
        if time.isPositiveInfinity {
            let open = captionsShown(at: begin)
            if !open.isEmpty {
                groups.append(
                    CaptionGroup(
                        captions: open, timeRange: MediaTimeRange(start: begin, duration: .positiveInfinity)))
            }
            captions = []
        } else {
            captions.removeAll { $0.timeRange.end <= time }
        }
        position = begin
        return groups
    }
}
