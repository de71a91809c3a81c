public import HLSKitTime

/// A time range in which the displayed captions do not change.
///
/// Source: AVFoundation's `AVCaptionRenderer.Scene`.
public struct CaptionScene: Sendable, Hashable {
    /// The time range of the scene.
    public var timeRange: MediaTimeRange
    /// The displayed captions, or an empty array if there are none.
    public var captions: [Caption]
    /// A Boolean value that indicates whether any caption is shown.
    public var hasActiveCaptions: Bool { !captions.isEmpty }
    /// A Boolean value that indicates whether the captions are animated and must be drawn repeatedly.
    public var needsPeriodicRefresh: Bool { captions.contains { $0.animation == .characterReveal } }

    package init(timeRange: MediaTimeRange, captions: [Caption]) {
        self.timeRange = timeRange
        self.captions = captions
    }
}

extension CaptionGrouper {
    /// Returns the contiguous scenes of `captions` from the start to the end of `timeRange`.
    ///
    /// No scene has more than 64 captions. Further captions that begin in it are skipped.
    ///
    /// Source: AVFoundation's `AVCaptionRenderer.captionSceneChanges(in:)`.
    public static func scenes(of captions: [Caption], in timeRange: MediaTimeRange) -> [CaptionScene] {
        guard timeRange.isValid, !timeRange.isEmpty, timeRange.start.isNumeric else { return [] }
        var grouper = CaptionGrouper(maximumShownCount: 64)
        for caption in captions { grouper.addCaption(caption) }
        var scenes: [CaptionScene] = []
        var end = timeRange.start
        func add(_ start: MediaTime, _ stop: MediaTime, _ captions: [Caption]) {
            guard start < stop else { return }
            scenes.append(CaptionScene(timeRange: MediaTimeRange(start: start, end: stop), captions: captions))
            end = stop
        }
        for group in grouper.flushAddedCaptions(upTo: .positiveInfinity) {
            let start = max(group.timeRange.start, timeRange.start)
            let stop = min(group.timeRange.end, timeRange.end)
            if start < stop { add(end, start, []) }
            add(start, stop, group.captions)
        }
        add(end, timeRange.end, [])
        return scenes
    }
}
