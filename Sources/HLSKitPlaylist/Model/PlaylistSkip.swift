/// The segments skipped by a delta update: `EXT-X-SKIP`.
///
/// Source: rfc8216bis §4.4.5.2.
public struct PlaylistSkip: Sendable, Hashable {
    /// The number of segments after `EXT-X-MEDIA-SEQUENCE` that the text omits.
    public var count: Int
    /// The IDs of date ranges that were removed recently.
    public var recentlyRemovedDateRanges: [String]
    /// Attributes without a corresponding property.
    public var otherAttributes: [PlaylistAttribute]

    /// Creates the tag of a delta update that skips `count` segments.
    public init(
        count: Int, recentlyRemovedDateRanges: [String] = [], otherAttributes: [PlaylistAttribute] = []
    ) {
        self.count = count
        self.recentlyRemovedDateRanges = recentlyRemovedDateRanges
        self.otherAttributes = otherAttributes
    }
}

extension PlaylistSkip {
    init(_ context: inout ReadingContext, _ bytes: borrowing Span<UInt8>) throws(PlaylistError) {
        var skipped: Int?
        self.init(count: 0)
        while let attribute = try context.nextAttribute(bytes) {
            switch attribute.name {
            case .skippedSegments:
                skipped = bytes.integer(in: bytes.trimmed(attribute.value))
            case .recentlyRemovedDateRanges:
                recentlyRemovedDateRanges = try context.string(attribute, bytes).split(separator: "\t").map(String.init)
            default: otherAttributes.append(try context.keep(attribute, bytes))
            }
        }
        guard let skipped else { throw context.failure(.skip, "SKIPPED-SEGMENTS is not a number up to 2^63-1") }
        count = skipped
    }

    var attributeText: String {
        var list = AttributeText()
        list.plain(.skippedSegments, count)
        if !recentlyRemovedDateRanges.isEmpty {
            list.quotedTabs(.recentlyRemovedDateRanges, recentlyRemovedDateRanges)
        }
        list.other(otherAttributes)
        return list.text
    }
}

extension AttributeText {
    mutating func quotedTabs(_ name: AttributeName, _ values: [String]) {
        quoted(name, values.joined(separator: "\t"))
    }
}
