/// The declared capabilities of a playlist's server, without defaults: `EXT-X-SERVER-CONTROL`.
///
/// Source: rfc8216bis §4.4.3.8.
public struct ServerControl: Sendable, Hashable {
    /// The distance from the end beyond which a delta update can skip segments.
    ///
    /// `nil` means that there are no delta updates.
    public var canSkipUntil: Duration?
    /// A Boolean value that indicates whether delta updates can also skip date ranges.
    public var canSkipDateRanges: Bool
    /// The minimum distance of playback from the end.
    ///
    /// `nil` means three target durations.
    public var holdBack: Duration?
    /// The minimum distance of playback from the end with partial segments.
    public var partHoldBack: Duration?
    /// A Boolean value that indicates whether the server supports blocking playlist reload.
    public var canBlockReload: Bool
    /// Attributes without a corresponding property.
    public var otherAttributes: [PlaylistAttribute]

    /// Creates a tag that declares only the given capabilities.
    public init(
        canSkipUntil: Duration? = nil, canSkipDateRanges: Bool = false, holdBack: Duration? = nil,
        partHoldBack: Duration? = nil, canBlockReload: Bool = false, otherAttributes: [PlaylistAttribute] = []
    ) {
        self.canSkipUntil = canSkipUntil
        self.canSkipDateRanges = canSkipDateRanges
        self.holdBack = holdBack
        self.partHoldBack = partHoldBack
        self.canBlockReload = canBlockReload
        self.otherAttributes = otherAttributes
    }
}

extension ServerControl {
    init(_ context: inout ReadingContext, _ bytes: borrowing Span<UInt8>) throws(PlaylistError) {
        self.init()
        while let attribute = try context.nextAttribute(bytes) {
            switch attribute.name {
            case .canSkipUntil: canSkipUntil = try context.duration(attribute, bytes)
            case .canSkipDateRanges: canSkipDateRanges = try context.isYes(attribute, bytes)
            case .holdBack: holdBack = try context.duration(attribute, bytes)
            case .partHoldBack: partHoldBack = try context.duration(attribute, bytes)
            case .canBlockReload: canBlockReload = try context.isYes(attribute, bytes)
            default: otherAttributes.append(try context.keep(attribute, bytes))
            }
        }
    }

    var attributeText: String {
        var list = AttributeText()
        list.yes(.canBlockReload, canBlockReload)
        list.duration(.canSkipUntil, canSkipUntil)
        list.yes(.canSkipDateRanges, canSkipDateRanges)
        list.duration(.holdBack, holdBack)
        list.duration(.partHoldBack, partHoldBack)
        list.other(otherAttributes)
        return list.text
    }
}
