public import HLSKitTime

/// A time in which what captions show stays the same.
///
/// Source: AVFoundation's `AVCaptionRenderer.Scene`.
public struct CaptionScene: Sendable, Hashable {
    /// When the scene is shown.
    public var timeRange: MediaTimeRange
    /// The captions that are shown; empty if none is.
    public var captions: [Caption]
    /// Something is shown.
    public var hasActiveCaptions: Bool { !captions.isEmpty }
    /// The captions are animated, so that they must be drawn repeatedly.
    public var needsPeriodicRefresh: Bool { captions.contains { $0.animation == .characterReveal } }

    /// Makes a scene; without captions nothing is shown.
    package init(timeRange: MediaTimeRange, captions: [Caption]) {
        self.timeRange = timeRange
        self.captions = captions
    }
}

extension CaptionGrouper {
    /// The scenes of `captions` in `timeRange`, from its start to its end without holes.
    ///
    /// No scene has more than 64 captions: what begins beyond them is skipped.
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
