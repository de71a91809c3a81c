/// A partial segment, available before its segment is complete: `EXT-X-PART`.
///
/// Source: rfc8216bis §4.4.4.9.
public struct PartialSegment: Sendable, Hashable {
    /// The URI as written.
    public var uri: String
    /// The exact duration, not negative.
    public var duration: Duration
    /// The byte range of the resource with its offset resolved, or `nil` for all of it.
    public var byteRange: ByteRange?
    /// A Boolean value that indicates whether decoding can start here.
    public var isIndependent: Bool
    /// A Boolean value that indicates whether the part is unavailable and must not be requested.
    public var isGap: Bool
    /// Attributes without a corresponding property.
    public var otherAttributes: [PlaylistAttribute]

    /// Creates a partial segment.
    ///
    /// Without `byteRange`, the segment is the whole resource.
    public init(
        uri: String, duration: Duration, byteRange: ByteRange? = nil, isIndependent: Bool = false, isGap: Bool = false,
        otherAttributes: [PlaylistAttribute] = []
    ) {
        self.uri = uri
        self.duration = duration
        self.byteRange = byteRange
        self.isIndependent = isIndependent
        self.isGap = isGap
        self.otherAttributes = otherAttributes
    }
}

extension PartialSegment {
    /// Reads the attributes of the current tag. `previous` is the previous part of the same segment. Reports a missing
    /// URI or duration and returns nil.
    @inline(__always)
    init?(
        _ context: inout ReadingContext, _ bytes: borrowing Span<UInt8>, previous: @autoclosure () -> PartialSegment?
    ) throws(PlaylistError) {
        var range: Attribute?
        var uri: String?
        var duration: Duration?
        var isIndependent = false
        var isGap = false
        var otherAttributes: [PlaylistAttribute] = []
        while let attribute = try context.nextAttribute(bytes) {
            switch attribute.name {
            case .uri: uri = try context.uri(attribute, bytes)
            case .duration:
                if let value = try context.duration(attribute, bytes) {
                    guard value <= MediaPlaylistReader.longestDuration else {
                        try context.report(.number, "DURATION is implausibly long; the part is ignored")
                        return nil
                    }
                    duration = value
                }
            case .independent: isIndependent = try context.isYes(attribute, bytes)
            case .gap: isGap = try context.isYes(attribute, bytes)
            case .byteRange: range = attribute
            default: otherAttributes.append(try context.keep(attribute, bytes))
            }
        }
        guard let uri, let duration else {
            try context.reportMissing(uri == nil ? .uri : .duration)
            return nil
        }
        var byteRange: ByteRange?
        if let range {
            let previous = previous()
            byteRange = try context.byteRange(range, bytes, continuing: previous?.byteRange?.end)
            if let previous, previous.uri != uri, bytes.index(of: 0x40, in: range.value) == nil {
                try context.report(
                    .byteRange, "the offset is missing, and the previous part is of another resource; read as its end")
            }
        }
        self.init(
            uri: uri, duration: duration, byteRange: byteRange, isIndependent: isIndependent, isGap: isGap,
            otherAttributes: otherAttributes)
    }

    var attributeText: String {
        var list = AttributeText()
        list.duration(.duration, duration)
        list.quoted(.uri, uri)
        list.quoted(.byteRange, byteRange?.text)
        list.yes(.independent, isIndependent)
        list.yes(.gap, isGap)
        list.other(otherAttributes)
        return list.text
    }
}
