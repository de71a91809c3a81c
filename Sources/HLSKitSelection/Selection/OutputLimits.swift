public import HLSKitLoading

/// The limits of what an output, or all outputs of an item, can show.
public struct OutputLimits: Sendable, Hashable {
    /// Where frames are shown; nil is no limit.
    public var display: DisplayArea?
    /// Frames of high dynamic range cannot be shown.
    public var needsStandardRange: Bool
    /// The channels of audio that are heard; nil is no limit.
    public var maximumChannelCount: Int?

    /// By default no limit.
    public init(
        display: DisplayArea? = nil, needsStandardRange: Bool = false, maximumChannelCount: Int? = nil
    ) {
        self.display = display
        self.needsStandardRange = needsStandardRange
        self.maximumChannelCount = maximumChannelCount
    }
}
