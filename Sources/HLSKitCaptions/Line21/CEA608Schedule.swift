import HLSKitTime

/// Assigns captions to the frames of line 21, with two bytes per frame.
///
/// The content of a caption is sent before it is shown, as late as possible. A caption at time zero is therefore late.
/// A late caption is shown as soon as it is loaded, or dropped if that is after its end.
struct CEA608Schedule {
    struct Scene {
        var start: Int64
        /// The frame at which the content changes or disappears, or nil for the last scene.
        var end: Int64?
        var captions: [Caption]
    }

    struct Placement {
        /// The delay of the caption in frames.
        var delay: Int64
        /// Whether the caption could be shown only after its end.
        var isDropped: Bool
        var layout: CEA608Layout
    }

    struct Transmission {
        var frame: Int64
        var words: [UInt16]
    }

    private(set) var transmissions: [Transmission] = []
    private var free: Int64
    private var erase: Int64?

    init(firstFrame: Int64) { free = firstFrame }

    /// Adds the next scene with captions. Its start must not precede the previous scene's start.
    mutating func add(_ scene: Scene) -> Placement {
        let layout = CEA608Layout(scene.captions)
        let units = CEA608Encoder.load(layout)
        var gap: Range<Int64>?
        if let erase, max(erase, free) + 2 <= scene.start { gap = max(erase, free)..<max(erase, free) + 2 }
        var placed = place(units, endingAt: scene.start, gap: gap)
        var start = scene.start
        if placed == nil {
            // While it is late, the screen is empty.
            if gap == nil, let erase { gap = max(erase, free)..<max(erase, free) + 2 }
            (placed, start) = place(units, from: free, gap: gap)
        }
        erase = nil
        if let gap { transmissions.append(Transmission(frame: gap.lowerBound, words: CEA608Encoder.eraseDisplayed)) }
        guard let loads = placed, start < scene.end ?? .max else {
            if let gap { free = max(free, gap.upperBound) }
            return Placement(delay: start - scene.start, isDropped: true, layout: layout)
        }
        transmissions += loads
        transmissions.append(Transmission(frame: start, words: CEA608Encoder.endOfCaption))
        free = start + 2
        erase = scene.end
        return Placement(delay: start - scene.start, isDropped: false, layout: layout)
    }

    mutating func finish() {
        guard let erase else { return }
        transmissions.append(Transmission(frame: max(erase, free), words: CEA608Encoder.eraseDisplayed))
        self.erase = nil
    }

    private func place(
        _ units: [CEA608Encoder.Unit], endingAt end: Int64, gap: Range<Int64>?
    ) -> [Transmission]? {
        var result: [Transmission] = []
        var cursor = end
        for unit in units.reversed() {
            var start = cursor - Int64(unit.count)
            if let gap, start < gap.upperBound, cursor > gap.lowerBound {
                start = gap.lowerBound - Int64(unit.count)
            }
            guard start >= free else { return nil }
            result.append(Transmission(frame: start, words: unit))
            cursor = start
        }
        return result.reversed()
    }

    private func place(
        _ units: [CEA608Encoder.Unit], from start: Int64, gap: Range<Int64>?
    ) -> ([Transmission], end: Int64) {
        var result: [Transmission] = []
        var cursor = start
        for unit in units {
            if let gap, cursor < gap.upperBound, cursor + Int64(unit.count) > gap.lowerBound {
                cursor = gap.upperBound
            }
            result.append(Transmission(frame: cursor, words: unit))
            cursor += Int64(unit.count)
        }
        if let gap { cursor = cursor < gap.upperBound && cursor + 2 > gap.lowerBound ? gap.upperBound : cursor }
        return (result, cursor)
    }
}

extension CEA608Schedule.Scene {
    /// Returns the scenes of captions, by frames. A caption takes at least one frame.
    ///
    /// - Returns: The scenes, each with the indices of the captions that begin with it.
    static func scenes(
        of captions: [Caption], rate: TimeCodeRate
    ) throws(CaptionError) -> [(scene: CEA608Schedule.Scene, beginning: [Int])] {
        // One more than the number of rows, so that an excess is noticed.
        var grouper = CaptionGrouper(maximumShownCount: CaptionGrid.rowCount + 1)
        var beginnings: [Int64: [Int]] = [:]
        for (index, caption) in captions.enumerated() {
            guard let (start, end) = try rate.frames(of: caption.timeRange, index: index),
                !caption.text.allSatisfy(\.isWhitespace)
            else { continue }
            var caption = caption
            // Convert to whole frames, so that comparisons are exact and cheap.
            caption.timeRange =
                caption.timeRange.end.isNumeric
                ? MediaTimeRange(
                    start: MediaTime(value: start, timescale: 1), end: MediaTime(value: end, timescale: 1))
                : MediaTimeRange(start: MediaTime(value: start, timescale: 1), duration: .positiveInfinity)
            grouper.addCaption(caption)
            beginnings[start, default: []].append(index)
        }
        return grouper.flushAddedCaptions(upTo: .positiveInfinity).filter { !$0.captions.isEmpty }.map { group in
            let start = group.timeRange.start.value
            let end = group.timeRange.end
            return (
                CEA608Schedule.Scene(start: start, end: end.isNumeric ? end.value : nil, captions: group.captions),
                beginnings[start] ?? []
            )
        }
    }
}
