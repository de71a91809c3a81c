public import HLSKitLoading
public import HLSKitPlaylist

/// The origin of metadata.
///
/// The set is open.
public struct MetadataFormat: RawRepresentable, Sendable, Hashable, CustomStringConvertible {
    public let rawValue: String
    public init(rawValue: String) { self.rawValue = rawValue }
    /// The raw value.
    public var description: String { rawValue }

    /// Session data of the playlist (`EXT-X-SESSION-DATA`).
    public static let hlsMetadata = MetadataFormat(rawValue: "com.apple.quicktime.HLS")
    /// Frames of an ID3 tag.
    public static let id3Metadata = MetadataFormat(rawValue: "org.id3")
    /// The `ilst` box of MP4.
    public static let iTunesMetadata = MetadataFormat(rawValue: "com.apple.itunes")
    /// Keys and values of QuickTime (`mdta`).
    public static let quickTimeMetadata = MetadataFormat(rawValue: "com.apple.quicktime.mdta")
    /// The `udta` box of QuickTime.
    public static let quickTimeUserData = MetadataFormat(rawValue: "com.apple.quicktime.udta")
    /// Event messages (`emsg` boxes except ID3), and splice information in transport streams.
    ///
    /// The key is `SCHEME` or `SCHEME:VALUE`.
    public static let eventMessage = MetadataFormat(rawValue: "urn:mpeg:dash:event")
    package static let libavformat = MetadataFormat(rawValue: "org.ffmpeg.avformat")
    /// The `udta` box of MP4, and the creation time of the file (key `mvhd`).
    public static let isoUserData = MetadataFormat(rawValue: "org.mp4ra")
}

/// A meaning that several formats share.
///
/// The set is open.
public struct CommonMetadataKey: RawRepresentable, Sendable, Hashable, CustomStringConvertible {
    public let rawValue: String
    public init(rawValue: String) { self.rawValue = rawValue }
    /// The raw value.
    public var description: String { rawValue }

    /// The title.
    public static let title = CommonMetadataKey(rawValue: "title")
    /// The creator of the content.
    public static let creator = CommonMetadataKey(rawValue: "creator")
    /// The subject.
    public static let subject = CommonMetadataKey(rawValue: "subject")
    public static let description = CommonMetadataKey(rawValue: "description")
    /// The publisher.
    public static let publisher = CommonMetadataKey(rawValue: "publisher")
    /// The creation date.
    public static let creationDate = CommonMetadataKey(rawValue: "creationDate")
    /// The language, as a tag.
    public static let language = CommonMetadataKey(rawValue: "language")
    /// The copyright notice.
    public static let copyrights = CommonMetadataKey(rawValue: "copyrights")
    /// The album or series.
    public static let albumName = CommonMetadataKey(rawValue: "albumName")
    /// The author.
    public static let author = CommonMetadataKey(rawValue: "author")
    /// The performer.
    public static let artist = CommonMetadataKey(rawValue: "artist")
    /// An image, as JPEG or PNG.
    public static let artwork = CommonMetadataKey(rawValue: "artwork")
    /// The program that created the file.
    public static let software = CommonMetadataKey(rawValue: "software")
    /// The kind of content, such as its genre.
    public static let type = CommonMetadataKey(rawValue: "type")
}

/// The content of a metadata item.
public enum MetadataValue: Sendable, Hashable {
    case string(String)
    case number(Double)
    case data([UInt8])
    case json(JSONDocument)
}

/// One piece of metadata.
///
/// Its value may be at a separate URL, which is loaded on demand.
public struct MetadataItem: Sendable {
    /// The vocabulary of ``key``.
    public let format: MetadataFormat
    /// The key in its format, such as a `DATA-ID`, an ID3 frame or a four-character code.
    public let key: String
    /// The meaning of the key in any format, or `nil` if it is specific to its format.
    public let commonKey: CommonMetadataKey?
    /// The BCP 47 tag or ISO 639-2 code of the language, or `nil` if it is not declared.
    public let extendedLanguageTag: String?
    private let content: Content

    private enum Content: Sendable {
        case value(MetadataValue)
        case remote(url: String, isJSON: Bool, load: @Sendable (String) async throws -> [UInt8])
    }

    /// An identifier of the item's meaning across all formats: `FORMAT/KEY`.
    public var identifier: String { "\(format.rawValue)/\(key)" }

    package init(
        _ format: MetadataFormat, key: String, common: CommonMetadataKey?, language: String? = nil,
        value: MetadataValue
    ) {
        self.format = format
        self.key = key
        commonKey = common
        extendedLanguageTag = language
        content = .value(value)
    }

    package init(
        _ key: String, common: CommonMetadataKey?, language: String?, url: String, isJSON: Bool,
        load: @escaping @Sendable (String) async throws -> [UInt8]
    ) {
        format = .hlsMetadata
        self.key = key
        commonKey = common
        extendedLanguageTag = language
        content = .remote(url: url, isJSON: isJSON, load: load)
    }

    /// Loads a property.
    ///
    /// Makes a request only if the value is at a URL, and only once. The value or the failure is kept.
    ///
    /// - Throws: ``HLSError``.
    public func load<Value: Sendable>(_ property: MetadataItemProperty<Value>) async throws(HLSError) -> Value {
        property.compute(try await HLSError.typed { try await value() })
    }

    package var heldValue: MetadataValue? {
        if case .value(let value) = content { value } else { nil }
    }

    private func value() async throws -> MetadataValue {
        switch content {
        case .value(let value): return value
        case .remote(let url, let isJSON, let load):
            let bytes = try await load(url)
            guard isJSON else { return .data(bytes) }
            guard let document = JSONDocument(parsing: bytes) else {
                throw HLSError(code: .badPlaylist, urlString: url, cause: "the session data is not JSON")
            }
            return .json(document)
        }
    }

    /// Returns the items in the given languages, in the order of preference.
    ///
    /// Items without a language are omitted.
    public static func metadataItems(
        from items: [MetadataItem], filteredAndSortedAccordingToPreferredLanguages languages: [String]
    ) -> [MetadataItem] {
        languages.flatMap { language in
            items.filter { item in item.extendedLanguageTag.map { LanguageTag.matches($0, language) } ?? false }
        }
    }

    /// Returns the items with this ``identifier``.
    public static func metadataItems(
        from items: [MetadataItem], filteredByIdentifier identifier: String
    ) -> [MetadataItem] {
        items.filter { $0.identifier == identifier }
    }
}

/// A property of a ``MetadataItem``.
public struct MetadataItemProperty<Value: Sendable>: Sendable {
    let compute: @Sendable (MetadataValue) -> Value
}

extension MetadataItemProperty where Value == MetadataValue {
    /// The value, decoded from the source.
    public static var value: MetadataItemProperty<MetadataValue> { .init { $0 } }
}

extension MetadataItemProperty where Value == String? {
    /// The value as text, or `nil` if it is not text.
    public static var stringValue: MetadataItemProperty<String?> {
        .init { value in
            switch value {
            case .string(let text): text
            case .json(let document): document.string
            case .number, .data: nil
            }
        }
    }
}

extension MetadataItemProperty where Value == Double? {
    /// The value as a number, or `nil` if it is not a number.
    public static var numberValue: MetadataItemProperty<Double?> {
        .init { value in
            switch value {
            case .number(let number): number
            case .string(let text): Double(text)
            case .json(let document): document.number
            case .data: nil
            }
        }
    }
}

extension MetadataItemProperty where Value == [UInt8]? {
    /// The bytes of the value, with text in UTF-8, or `nil` for numbers and JSON.
    public static var dataValue: MetadataItemProperty<[UInt8]?> {
        .init { value in
            switch value {
            case .data(let bytes): bytes
            case .string(let text): Array(text.utf8)
            case .number, .json: nil
            }
        }
    }
}
