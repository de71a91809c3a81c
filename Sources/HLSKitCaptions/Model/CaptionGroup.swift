public import HLSKitTime

/// The captions shown together during a time range, or no captions if nothing is shown.
///
/// Source: AVFoundation's `AVCaptionGroup`.
public struct CaptionGroup: Sendable, Hashable {
    /// The time range in which the captions are shown.
    public var timeRange: MediaTimeRange
    /// The captions in the order in which they were added, or an empty array if nothing is shown.
    public var captions: [Caption]

    package init(captions: [Caption], timeRange: MediaTimeRange) {
        self.captions = captions
        self.timeRange = timeRange
    }
}

/// Groups captions, which may overlap, into consecutive groups, one for each change of the display.
///
/// The groups are contiguous from the first caption's start. An empty group is a time without captions. Captions with
/// equal times keep the order in which they were added.
///
/// Source: AVFoundation's `AVCaptionGrouper`.
public struct CaptionGrouper: Sendable {
    private var captions: [Caption] = []
    private var position: MediaTime?
    private let maximumShownCount: Int

    /// Creates a grouper without captions.
    public init() { self.init(maximumShownCount: .max) }

    /// For clients that show only a limited number. In malicious files, all captions overlap, and each group would
    /// contain all of them.
    package init(maximumShownCount: Int) { self.maximumShownCount = maximumShownCount }

    /// Adds a caption.
    ///
    /// Captions that end before the groups returned so far, have no numeric start, or have no duration are skipped.
    public mutating func addCaption(_ caption: Caption) {
        let range = caption.timeRange
        guard range.isValid, range.start.isNumeric, !range.isEmpty else { return }
        if let position, range.end <= position { return }
        captions.append(caption)
    }

    /// Returns the groups that end at or before `time`.
    ///
    /// The last group is cut there. Captions that are added later are shown no earlier than `time`.
    /// `MediaTime.positiveInfinity` returns all groups. Captions without a numeric end then form a last group without
    /// one.
    public mutating func flushAddedCaptions(upTo time: MediaTime) -> [CaptionGroup] {
        guard time.isNumeric || time.isPositiveInfinity else { return [] }
        let starts = captions.map { max($0.timeRange.start, position ?? $0.timeRange.start) }
        guard var begin = position ?? starts.min(), begin < time else { return [] }
        var changes = Set(starts)
        for caption in captions where caption.timeRange.end.isNumeric { changes.insert(caption.timeRange.end) }
        if time.isNumeric { changes.insert(time) }
        var groups: [CaptionGroup] = []
        // Captions by start, and those on screen, so that each is examined only while it is shown.
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
