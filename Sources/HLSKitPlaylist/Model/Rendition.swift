/// An alternative version of some content: `EXT-X-MEDIA`.
///
/// Source: rfc8216bis §4.4.6.1.
public struct Rendition: Sendable, Hashable {
    /// The media type of a rendition.
    ///
    /// The set is open, and renditions of unknown types are kept.
    public struct MediaType: RawRepresentable, Sendable, Hashable, CustomStringConvertible {
        public let rawValue: String
        public init(rawValue: String) { self.rawValue = rawValue }
        /// ``rawValue``.
        public var description: String { rawValue }

        /// Audio.
        public static let audio = MediaType(rawValue: "AUDIO")
        /// Video, such as another camera angle.
        public static let video = MediaType(rawValue: "VIDEO")
        /// Subtitles in a separate playlist.
        public static let subtitles = MediaType(rawValue: "SUBTITLES")
        /// Closed captions inside the video.
        public static let closedCaptions = MediaType(rawValue: "CLOSED-CAPTIONS")
    }

    /// The kind of media.
    public var type: MediaType
    /// The group that variants refer to.
    ///
    /// The group is empty if it is missing, which is an issue.
    public var groupID: String
    /// The name for display.
    ///
    /// The name is empty if it is missing, which is an issue.
    public var name: String
    /// The URI of the media playlist, as written.
    ///
    /// `nil` means that the variant contains the rendition.
    public var uri: String?
    /// The BCP 47 tag of the language.
    public var language: String?
    /// The BCP 47 tag of an associated language that the rendition uses.
    public var assocLanguage: String?
    /// A stable identifier (`STABLE-RENDITION-ID`) that survives changes of URIs, or `nil` if undeclared.
    public var stableRenditionID: String?
    /// A Boolean value that indicates whether `DEFAULT` is set, as written.
    public var isDefault: Bool
    /// A Boolean value that indicates whether `AUTOSELECT` is set, as written.
    public var isAutoselect: Bool
    /// A Boolean value that indicates whether `FORCED` is set, as written.
    public var isForced: Bool
    /// The channel of the variant's video that contains the captions: `CC1`, `SERVICE3`.
    public var instreamID: String?
    /// Bits per audio sample.
    public var bitDepth: Int?
    /// Audio samples per second.
    public var sampleRate: Int?
    /// The characteristics as written (`CHARACTERISTICS`): uniform type identifiers separated by commas.
    public var characteristicsText: String?
    /// The channels as written (`CHANNELS`): `6`, `16/JOC`.
    public var channels: String?
    /// Attributes without a corresponding property.
    public var otherAttributes: [PlaylistAttribute]

    /// Creates a rendition.
    ///
    /// Without `uri`, its media is in the variants. Properties with a default are undeclared.
    public init(
        type: MediaType, groupID: String, name: String, uri: String? = nil, language: String? = nil,
        isDefault: Bool = false, isAutoselect: Bool = false, isForced: Bool = false
    ) {
        self.type = type
        self.groupID = groupID
        self.name = name
        self.uri = uri
        self.language = language
        self.isDefault = isDefault
        self.isAutoselect = isAutoselect
        self.isForced = isForced
        otherAttributes = []
    }

    /// The individual characteristics.
    public var characteristics: [String] {
        (characteristicsText ?? "").split(separator: ",").map(String.init)
    }

    /// The number of audio channels: the first field of ``channels``.
    public var channelCount: Int? {
        channels?.split(separator: "/", omittingEmptySubsequences: false).first.flatMap { Int($0) }
    }

    /// The uses of the channels: the third field of ``channels``, or empty if there is none.
    public var channelUsage: [ChannelUsage] {
        let fields = channels?.split(separator: "/", omittingEmptySubsequences: false) ?? []
        return fields.count > 2 ? fields[2].split(separator: ",").map { ChannelUsage(rawValue: String($0)) } : []
    }
}

/// The use of the channels in an audio rendition: an entry of the third field of `CHANNELS`.
///
/// The set is open.
public struct ChannelUsage: RawRepresentable, Sendable, Hashable, CustomStringConvertible {
    public let rawValue: String
    public init(rawValue: String) { self.rawValue = rawValue }
    /// ``rawValue``.
    public var description: String { rawValue }

    /// Rendered for headphones.
    public static let binaural = ChannelUsage(rawValue: "BINAURAL")
    /// Already processed to surround a listener.
    public static let immersive = ChannelUsage(rawValue: "IMMERSIVE")
    /// Derived from a rendition with more channels.
    public static let downmix = ChannelUsage(rawValue: "DOWNMIX")
}

extension Rendition {
    /// Reads the attributes of the current tag into an empty rendition, in place like ``VariantStream/read(_:_:)``.
    /// Returns whether it has a type.
    mutating func read(
        _ context: inout ReadingContext, _ bytes: borrowing Span<UInt8>
    ) throws(PlaylistError) -> Bool {
        while let attribute = try context.nextAttribute(bytes) {
            switch attribute.name {
            case .type: type = MediaType(rawValue: try context.enumerated(attribute, bytes))
            case .groupID: groupID = try context.string(attribute, bytes)
            case .name: name = try context.string(attribute, bytes)
            case .uri: uri = try context.uri(attribute, bytes)
            case .language: language = try context.string(attribute, bytes)
            case .assocLanguage: assocLanguage = try context.string(attribute, bytes)
            case .stableRenditionID: stableRenditionID = try context.string(attribute, bytes)
            case .default: isDefault = try context.isYes(attribute, bytes)
            case .autoselect: isAutoselect = try context.isYes(attribute, bytes)
            case .forced: isForced = try context.isYes(attribute, bytes)
            case .instreamID: instreamID = try context.string(attribute, bytes)
            case .bitDepth: bitDepth = try context.integer(attribute, bytes)
            case .sampleRate: sampleRate = try context.integer(attribute, bytes)
            case .characteristics: characteristicsText = try context.string(attribute, bytes)
            case .channels: channels = try context.string(attribute, bytes)
            default: otherAttributes.append(try context.keep(attribute, bytes))
            }
        }
        guard !type.rawValue.isEmpty else {
            try context.reportMissing(.type)
            return false
        }
        if groupID.isEmpty { try context.reportMissing(.groupID) }
        if name.isEmpty { try context.reportMissing(.name) }
        if type == .subtitles, uri == nil { try context.reportMissing(.uri) }
        if type == .closedCaptions {
            if uri != nil { try context.report(.attributeConflict, "closed captions must not have a URI") }
            if instreamID == nil { try context.reportMissing(.instreamID) }
        }
        if isForced, type != .subtitles {
            try context.report(.attributeConflict, "FORCED is for subtitles only", severity: .warning)
        }
        return true
    }

    var attributeText: String {
        var list = AttributeText()
        list.plain(.type, type.rawValue)
        list.quoted(.groupID, groupID.isEmpty ? nil : groupID)
        list.quoted(.name, name.isEmpty ? nil : name)
        list.quoted(.uri, uri)
        list.quoted(.language, language)
        list.quoted(.assocLanguage, assocLanguage)
        list.quoted(.stableRenditionID, stableRenditionID)
        list.yes(.default, isDefault)
        list.yes(.autoselect, isAutoselect)
        list.yes(.forced, isForced)
        list.quoted(.instreamID, instreamID)
        list.plain(.bitDepth, bitDepth)
        list.plain(.sampleRate, sampleRate)
        list.quoted(.characteristics, characteristicsText)
        list.quoted(.channels, channels)
        list.other(otherAttributes)
        return list.text
    }
}
