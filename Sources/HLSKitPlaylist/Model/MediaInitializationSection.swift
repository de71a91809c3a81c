/// The media initialization section that a decoder needs before the next segments: `EXT-X-MAP`.
///
/// Source: rfc8216bis §4.4.4.5.
public struct MediaInitializationSection: Sendable, Hashable {
    /// The URI of the section, as written.
    public var uri: String
    /// The byte range of the resource, or `nil` for all of it.
    ///
    /// A range without an offset starts at byte 0.
    public var byteRange: ByteRange?
    /// The keys in force at the tag, which encrypt the section itself.
    public var keys: [EncryptionKey]
    /// Attributes without a corresponding property.
    public var otherAttributes: [PlaylistAttribute]

    /// Creates an initialization section.
    ///
    /// Without `byteRange` it is the whole resource, and without `keys` it is not encrypted.
    public init(
        uri: String, byteRange: ByteRange? = nil, keys: [EncryptionKey] = [],
        otherAttributes: [PlaylistAttribute] = []
    ) {
        self.uri = uri
        self.byteRange = byteRange
        self.keys = keys
        self.otherAttributes = otherAttributes
    }
}

extension MediaInitializationSection {
    init?(
        _ context: inout ReadingContext, _ bytes: borrowing Span<UInt8>, keys: [EncryptionKey]
    ) throws(PlaylistError) {
        self.init(uri: "", keys: keys)
        var hasURI = false
        while let attribute = try context.nextAttribute(bytes) {
            switch attribute.name {
            case .uri:
                uri = try context.uri(attribute, bytes)
                hasURI = true
            case .byteRange:
                byteRange = try context.byteRange(attribute, bytes, continuing: 0)
            default: otherAttributes.append(try context.keep(attribute, bytes))
            }
        }
        guard hasURI else {
            try context.reportMissing(.uri)
            return nil
        }
    }

    var attributeText: String {
        var list = AttributeText()
        list.quoted(.uri, uri)
        list.quoted(.byteRange, byteRange?.text)
        list.other(otherAttributes)
        return list.text
    }
}

extension ReadingContext {
    /// Reads `n[@o]`. Without an offset, the range starts at `continuing`. Throws if that is nil, and if a number is
    /// invalid or exceeds 2⁶³−1 (R35).
    mutating func byteRange(
        _ range: Range<Int>, _ bytes: borrowing Span<UInt8>, continuing: @autoclosure () -> Int?
    ) throws(PlaylistError) -> ByteRange {
        let at = bytes.index(of: 0x40, in: range)
        let lengthRange = bytes.trimmed(range.lowerBound..<(at ?? range.upperBound))
        guard let length = bytes.integer(in: lengthRange) else {
            throw failure(.byteRange, "\"\(bytes.excerpt(range))\": the length is not a number up to 2^63-1")
        }
        var offset = 0
        if let at {
            guard let number = bytes.integer(in: bytes.trimmed(at + 1..<range.upperBound)) else {
                throw failure(.byteRange, "\"\(bytes.excerpt(range))\": the offset is not a number up to 2^63-1")
            }
            offset = number
        } else if let end = continuing() {
            offset = end
        } else {
            throw failure(
                .byteRange, "\"\(bytes.excerpt(range))\": the offset is missing, and there is no previous range")
        }
        guard !offset.addingReportingOverflow(length).overflow else {
            throw failure(.byteRange, "\"\(bytes.excerpt(range))\": the range ends beyond 2^63-1")
        }
        return ByteRange(offset: offset, length: length)
    }

    mutating func byteRange(
        _ attribute: Attribute, _ bytes: borrowing Span<UInt8>, continuing: @autoclosure () -> Int?
    ) throws(PlaylistError) -> ByteRange {
        if !attribute.isQuoted { try report(.quoting, "BYTERANGE is not quoted") }
        if traits.contains(.brace), let text = try expanded(attribute.value, bytes) {
            return try byteRange(0..<text.count, text.span, continuing: continuing())
        }
        return try byteRange(attribute.value, bytes, continuing: continuing())
    }
}
