/// The progress of another rendition's playlist: `EXT-X-RENDITION-REPORT`.
///
/// Source: rfc8216bis §4.4.5.4.
public struct RenditionReport: Sendable, Hashable {
    /// The URI of the playlist, as written.
    public var uri: String
    /// The last media sequence number, including a segment in progress.
    ///
    /// If it is absent, it is the number of the playlist that contains the report.
    public var lastMediaSequence: Int?
    /// The index of the last part of that segment.
    ///
    /// If it is absent, it is the index in the playlist that contains the report, or `nil` without parts.
    public var lastPart: Int?
    /// Attributes without a corresponding property.
    public var otherAttributes: [PlaylistAttribute]

    /// Creates a report.
    ///
    /// For `nil` numbers, the numbers of the containing playlist apply.
    public init(
        uri: String, lastMediaSequence: Int? = nil, lastPart: Int? = nil, otherAttributes: [PlaylistAttribute] = []
    ) {
        self.uri = uri
        self.lastMediaSequence = lastMediaSequence
        self.lastPart = lastPart
        self.otherAttributes = otherAttributes
    }
}

extension RenditionReport {
    init?(_ context: inout ReadingContext, _ bytes: borrowing Span<UInt8>) throws(PlaylistError) {
        self.init(uri: "")
        while let attribute = try context.nextAttribute(bytes) {
            switch attribute.name {
            case .uri: uri = try context.uri(attribute, bytes)
            case .lastMSN: lastMediaSequence = try context.integer(attribute, bytes)
            case .lastPart: lastPart = try context.integer(attribute, bytes)
            default: otherAttributes.append(try context.keep(attribute, bytes))
            }
        }
        guard !uri.isEmpty else {
            try context.reportMissing(.uri)
            return nil
        }
    }

    var attributeText: String {
        var list = AttributeText()
        list.quoted(.uri, uri)
        list.plain(.lastMSN, lastMediaSequence)
        list.plain(.lastPart, lastPart)
        list.other(otherAttributes)
        return list.text
    }
}
