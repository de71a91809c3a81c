/// A resource that will soon be needed and can already be requested: `EXT-X-PRELOAD-HINT`.
///
/// Source: rfc8216bis §4.4.5.3.
public struct PreloadHint: Sendable, Hashable {
    /// The kind of resource.
    ///
    /// The set is open.
    public struct Kind: RawRepresentable, Sendable, Hashable, CustomStringConvertible {
        public let rawValue: String
        public init(rawValue: String) { self.rawValue = rawValue }
        /// ``rawValue``.
        public var description: String { rawValue }

        /// A partial segment.
        public static let part = Kind(rawValue: "PART")
        /// A media initialization section.
        public static let map = Kind(rawValue: "MAP")
    }

    /// The kind of resource.
    public var kind: Kind
    /// The URI as written.
    public var uri: String
    /// The offset of the first byte, as written.
    ///
    /// `nil` means 0.
    public var byteRangeStart: Int?
    /// The number of bytes.
    ///
    /// `nil` means all bytes up to the end of the resource.
    public var byteRangeLength: Int?
    /// Attributes without a corresponding property.
    public var otherAttributes: [PlaylistAttribute]

    /// Creates a hint.
    ///
    /// Without a start, the range begins at 0. Without a length, it ends with the resource.
    public init(
        kind: Kind, uri: String, byteRangeStart: Int? = nil, byteRangeLength: Int? = nil,
        otherAttributes: [PlaylistAttribute] = []
    ) {
        self.kind = kind
        self.uri = uri
        self.byteRangeStart = byteRangeStart
        self.byteRangeLength = byteRangeLength
        self.otherAttributes = otherAttributes
    }
}

extension PreloadHint {
    init?(_ context: inout ReadingContext, _ bytes: borrowing Span<UInt8>) throws(PlaylistError) {
        self.init(kind: Kind(rawValue: ""), uri: "")
        while let attribute = try context.nextAttribute(bytes) {
            switch attribute.name {
            case .type: kind = Kind(rawValue: try context.enumerated(attribute, bytes))
            case .uri: uri = try context.uri(attribute, bytes)
            case .byteRangeStart: byteRangeStart = try context.integer(attribute, bytes)
            case .byteRangeLength: byteRangeLength = try context.integer(attribute, bytes)
            default: otherAttributes.append(try context.keep(attribute, bytes))
            }
        }
        guard !uri.isEmpty, !kind.rawValue.isEmpty else {
            try context.reportMissing(uri.isEmpty ? .uri : .type)
            return nil
        }
        if (byteRangeStart ?? 0).addingReportingOverflow(byteRangeLength ?? 0).overflow {
            throw context.failure(.byteRange, "the range ends beyond 2^63-1")
        }
    }

    var attributeText: String {
        var list = AttributeText()
        list.plain(.type, kind.rawValue)
        list.quoted(.uri, uri)
        list.plain(.byteRangeStart, byteRangeStart)
        list.plain(.byteRangeLength, byteRangeLength)
        list.other(otherAttributes)
        return list.text
    }
}
