import HLSKitTime

/// Changes one caption so that the target format can hold it.
///
/// For CEA-608: lines are broken at 32 columns and end after 15 rows, characters that it lacks are replaced, colours
/// become the nearest of seven, italics stay where there is no colour, underlines stay, all else goes. The region
/// becomes cells.
///
/// Source: AVFoundation's `AVCaptionFormatConformer`. See docs/reference/outputs-and-media.md.
public struct CaptionFormatConformer: Sendable, Hashable {
    /// The format to conform to.
    public var conversionSettings: CaptionConversionSettings
    /// Times are moved to whole frames, the start to where the caption can be loaded before it, if it were the only
    /// one. False by default.
    public var conformsCaptionsToTimeRange = false

    /// Makes a conformer; to CEA-608 by default.
    public init(conversionSettings: CaptionConversionSettings = .init()) {
        self.conversionSettings = conversionSettings
    }

    /// The caption as the format can hold it. Conforming it again changes nothing.
    ///
    /// - Throws: `invalidTime` for a caption without a start, or one later than 99:59:59, if times are conformed.
    public func conformedCaption(for caption: Caption) throws(CaptionError) -> Caption {
        let layout = CEA608Layout([caption])
        let shown = layout.screen.captions(
            in: caption.timeRange, scroll: .none, animation: .none, keepsBlocks: true
        ).first
        var result = shown ?? Caption("", timeRange: caption.timeRange)
        result.identifier = caption.identifier
        guard conformsCaptionsToTimeRange else { return result }
        let rate = conversionSettings.timeCodeRate
        guard let (start, end) = try rate.frames(of: caption.timeRange, index: 0) else { return result }
        let loading = CEA608Encoder.load(layout).reduce(0) { $0 + $1.count }
        let first = max(start, Int64(loading))
        let isOpen = !caption.timeRange.end.isNumeric
        result.timeRange = MediaTimeRange(
            start: rate.time(ofFrame: first),
            duration: isOpen ? .positiveInfinity : rate.time(ofFrame: max(end - first, 1)))
        return result
    }
}
