/// The steering server of the presentation: `EXT-X-CONTENT-STEERING`.
///
/// Source: rfc8216bis §4.4.6.6.
public struct ContentSteering: Sendable, Hashable {
    /// The URI of the steering manifest, as written.
    public var serverURI: String
    /// The initial pathway, or `nil` for the pathway of the first variant.
    public var pathwayID: String?
    /// Attributes without a corresponding property.
    public var otherAttributes: [PlaylistAttribute]

    /// Creates a steering tag.
    ///
    /// Without `pathwayID`, the client starts on any pathway.
    public init(serverURI: String, pathwayID: String? = nil, otherAttributes: [PlaylistAttribute] = []) {
        self.serverURI = serverURI
        self.pathwayID = pathwayID
        self.otherAttributes = otherAttributes
    }
}

extension ContentSteering {
    init?(_ context: inout ReadingContext, _ bytes: borrowing Span<UInt8>) throws(PlaylistError) {
        self.init(serverURI: "")
        while let attribute = try context.nextAttribute(bytes) {
            switch attribute.name {
            case .serverURI: serverURI = try context.uri(attribute, bytes)
            case .pathwayID: pathwayID = try context.string(attribute, bytes)
            default: otherAttributes.append(try context.keep(attribute, bytes))
            }
        }
        guard !serverURI.isEmpty else {
            try context.reportMissing(.serverURI)
            return nil
        }
    }

    var attributeText: String {
        var list = AttributeText()
        list.quoted(.serverURI, serverURI)
        list.quoted(.pathwayID, pathwayID)
        list.other(otherAttributes)
        return list.text
    }
}
