/// Capabilities of a playlist's server: `EXT-X-SERVER-CONTROL`, as written, without defaults.
///
/// Source: rfc8216bis §4.4.3.8. See rule 32 of docs/reference/playlists.md.
public struct ServerControl: Sendable, Hashable {
    /// Segments further from the end than this can be skipped in a delta update; nil means there are none.
    public var canSkipUntil: Duration?
    /// Delta updates can skip date ranges too.
    public var canSkipDateRanges: Bool
    /// How far from the end to play; nil means three target durations.
    public var holdBack: Duration?
    /// How far from the end to play with parts.
    public var partHoldBack: Duration?
    /// The server can hold a request until the playlist has changed.
    public var canBlockReload: Bool
    /// Attributes that have no property.
    public var otherAttributes: [PlaylistAttribute]

    /// Makes a tag that offers nothing, apart from what is given.
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
