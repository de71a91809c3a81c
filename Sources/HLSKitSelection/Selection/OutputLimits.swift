public import HLSKitLoading

/// The limits of one output, or of all outputs of an item.
public struct OutputLimits: Sendable, Hashable {
    /// The area in which frames are shown, or `nil` for no limit.
    public var display: DisplayArea?
    /// A Boolean value that indicates whether the output cannot show high dynamic range.
    public var needsStandardRange: Bool
    /// The number of audible channels, or `nil` for no limit.
    public var maximumChannelCount: Int?

    /// Creates limits.
    ///
    /// By default, nothing is limited.
    public init(
        display: DisplayArea? = nil, needsStandardRange: Bool = false, maximumChannelCount: Int? = nil
    ) {
        self.display = display
        self.needsStandardRange = needsStandardRange
        self.maximumChannelCount = maximumChannelCount
    }
}
