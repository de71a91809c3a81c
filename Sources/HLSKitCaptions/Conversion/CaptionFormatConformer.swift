import HLSKitTime

/// Changes one caption so that the target format can represent it.
///
/// For CEA-608, lines are wrapped at 32 columns and end after 15 rows, and unsupported characters are replaced. Colors
/// become the nearest of seven. Italics remain if there is no colour, and underlines remain. All other styles are
/// removed. The region uses cells.
///
/// Source: AVFoundation's `AVCaptionFormatConformer`.
public struct CaptionFormatConformer: Sendable, Hashable {
    /// The format to conform to.
    public var conversionSettings: CaptionConversionSettings
    /// A Boolean value that indicates whether times are moved to whole frames.
    ///
    /// The start moves to the earliest time before which the caption could be loaded if it were the only one. The
    /// default is `false`.
    public var conformsCaptionsToTimeRange = false

    /// Creates a conformer.
    ///
    /// The default target is CEA-608.
    public init(conversionSettings: CaptionConversionSettings = .init()) {
        self.conversionSettings = conversionSettings
    }

    /// Returns the caption in a form that the format can represent.
    ///
    /// Conforming it again changes nothing.
    ///
    /// - Throws: `invalidTime` if times are conformed and the caption has no start, or one after 99:59:59.
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
