extension MultivariantPlaylist {
    /// A piece of data about the whole presentation: `EXT-X-SESSION-DATA`.
    ///
    /// Source: rfc8216bis §4.4.6.4.
    public struct SessionData: Sendable, Hashable {
        /// The identifier of the data, which is unique together with the language.
        public var dataID: String
        /// The data itself, or `nil` if it is at ``uri``.
        public var value: String?
        /// The URI of the data, as written.
        public var uri: String?
        /// The format as written: `JSON` or `RAW`.
        ///
        /// `nil` means JSON.
        public var format: String?
        /// The BCP 47 tag of the language.
        public var language: String?
        /// Attributes without a corresponding property.
        public var otherAttributes: [PlaylistAttribute]

        /// Creates session data with either a `value` or a `uri`.
        public init(
            dataID: String, value: String? = nil, uri: String? = nil, format: String? = nil, language: String? = nil,
            otherAttributes: [PlaylistAttribute] = []
        ) {
            self.dataID = dataID
            self.value = value
            self.uri = uri
            self.format = format
            self.language = language
            self.otherAttributes = otherAttributes
        }
    }
}

extension MultivariantPlaylist.SessionData {
    init?(_ context: inout ReadingContext, _ bytes: borrowing Span<UInt8>) throws(PlaylistError) {
        self.init(dataID: "")
        while let attribute = try context.nextAttribute(bytes) {
            switch attribute.name {
            case .dataID: dataID = try context.string(attribute, bytes)
            case .value: value = try context.string(attribute, bytes)
            case .uri: uri = try context.uri(attribute, bytes)
            case .format: format = try context.enumerated(attribute, bytes)
            case .language: language = try context.string(attribute, bytes)
            default: otherAttributes.append(try context.keep(attribute, bytes))
            }
        }
        guard !dataID.isEmpty else {
            try context.reportMissing(.dataID)
            return nil
        }
        if (value == nil) == (uri == nil) {
            try context.report(.attributeConflict, "exactly one of VALUE and URI is required")
        }
    }

    var attributeText: String {
        var list = AttributeText()
        list.quoted(.dataID, dataID)
        list.quoted(.value, value)
        list.quoted(.uri, uri)
        list.plain(.format, format)
        list.quoted(.language, language)
        list.other(otherAttributes)
        return list.text
    }
}
