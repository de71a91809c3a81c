public import HLSKitTime

/// The target of a conversion.
///
/// Source: the conversion settings of AVFoundation's `AVCaptionConversionValidator`.
public struct CaptionConversionSettings: Sendable, Hashable {
    /// The target format of the captions.
    public enum MediaSubType: Sendable, Hashable {
        /// CEA-608: two bytes on each frame of 1001/30000 s, 32 columns, 15 rows.
        case closedCaption608
    }

    /// The kind of captions to convert to.
    public var mediaSubType: MediaSubType
    /// A Boolean value that indicates whether time codes skip numbers to match the clock.
    ///
    /// With drop-frame time codes, the last time at which a caption can begin is six minutes earlier. The default is
    /// `false`.
    public var usesDropFrameTimeCode: Bool

    /// Creates settings.
    ///
    /// The default format is CEA-608 without drop-frame time codes.
    public init(mediaSubType: MediaSubType = .closedCaption608, usesDropFrameTimeCode: Bool = false) {
        self.mediaSubType = mediaSubType
        self.usesDropFrameTimeCode = usesDropFrameTimeCode
    }

    var timeCodeRate: TimeCodeRate { usesDropFrameTimeCode ? .ntscDropFrame : .ntsc }
}

/// A reason why captions cannot be converted unchanged.
///
/// Source: AVFoundation's `AVCaptionConversionWarning`.
public struct CaptionConversionWarning: Sendable, Hashable {
    /// The kind of problem.
    ///
    /// The set is open.
    public struct WarningType: RawRepresentable, Sendable, Hashable, CustomStringConvertible {
        public let rawValue: String
        public init(rawValue: String) { self.rawValue = rawValue }
        /// ``rawValue``.
        public var description: String { rawValue }

        /// The captions need more data than the time before them can carry.
        public static let excessMediaData = WarningType(rawValue: "excessMediaData")
        /// The caption has characters that the format lacks.
        ///
        /// The characters are replaced.
        public static let unsupportedCharacter = WarningType(rawValue: "unsupportedCharacter")
        /// A line is wider than the screen.
        ///
        /// The line is wrapped.
        public static let excessWidth = WarningType(rawValue: "excessWidth")
        /// The caption has more lines than the screen.
        ///
        /// The last lines are dropped.
        public static let excessHeight = WarningType(rawValue: "excessHeight")
    }

    /// The kind of problem.
    public var warningType: WarningType
    /// The indices of the affected captions in ``CaptionConversionValidator/captions``.
    public var rangeOfCaptions: Range<Int>
    /// A change that would remove the warning, or `nil` if there is no simple one.
    public var adjustment: CaptionConversionTimeRangeAdjustment?

    package init(
        warningType: WarningType, rangeOfCaptions: Range<Int>,
        adjustment: CaptionConversionTimeRangeAdjustment? = nil
    ) {
        self.warningType = warningType
        self.rangeOfCaptions = rangeOfCaptions
        self.adjustment = adjustment
    }
}

/// A change of captions' times that resolves a warning.
///
/// Source: AVFoundation's `AVCaptionConversionTimeRangeAdjustment`.
public struct CaptionConversionTimeRangeAdjustment: Sendable, Hashable {
    /// The offset to add to the start of each caption.
    public var startTimeOffset: MediaTime
    /// The offset to add to the duration of each caption.
    public var durationOffset: MediaTime

    package init(startTimeOffset: MediaTime, durationOffset: MediaTime) {
        self.startTimeOffset = startTimeOffset
        self.durationOffset = durationOffset
    }

    package func applied(to caption: Caption) -> Caption {
        var caption = caption
        caption.timeRange.start += startTimeOffset
        caption.timeRange.duration += durationOffset
        return caption
    }
}
