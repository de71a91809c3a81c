/// The short name of a rule that a playlist can violate.
///
/// The set is open.
public struct PlaylistRule: RawRepresentable, Sendable, Hashable, CustomStringConvertible {
    public let rawValue: String
    public init(rawValue: String) { self.rawValue = rawValue }
    /// ``rawValue``.
    public var description: String { rawValue }

    package static let header = PlaylistRule(rawValue: "header")
    package static let byteOrderMark = PlaylistRule(rawValue: "byte-order-mark")
    package static let encoding = PlaylistRule(rawValue: "encoding")
    package static let controlCharacter = PlaylistRule(rawValue: "control-character")
    package static let whiteSpace = PlaylistRule(rawValue: "white-space")
    package static let mixedKinds = PlaylistRule(rawValue: "mixed-kinds")
    package static let noKind = PlaylistRule(rawValue: "no-kind")
    package static let limit = PlaylistRule(rawValue: "limit")
    package static let uriWithoutTag = PlaylistRule(rawValue: "uri-without-tag")
    package static let tagWithoutURI = PlaylistRule(rawValue: "tag-without-uri")
    package static let repeatedTag = PlaylistRule(rawValue: "repeated-tag")
    package static let tagPosition = PlaylistRule(rawValue: "tag-position")
    package static let attributeList = PlaylistRule(rawValue: "attribute-list")
    package static let duplicateAttribute = PlaylistRule(rawValue: "duplicate-attribute")
    package static let missingAttribute = PlaylistRule(rawValue: "missing-attribute")
    package static let attributeConflict = PlaylistRule(rawValue: "attribute-conflict")
    package static let quoting = PlaylistRule(rawValue: "quoting")
    package static let number = PlaylistRule(rawValue: "number")
    package static let hexadecimal = PlaylistRule(rawValue: "hexadecimal")
    package static let date = PlaylistRule(rawValue: "date")
    package static let unknownValue = PlaylistRule(rawValue: "unknown-value")
    package static let segmentDuration = PlaylistRule(rawValue: "extinf")
    package static let targetDuration = PlaylistRule(rawValue: "targetduration")
    package static let sequenceNumber = PlaylistRule(rawValue: "sequence-number")
    /// A byte range without an offset that continues no other, or a range that is too large.
    package static let byteRange = PlaylistRule(rawValue: "byterange")
    package static let undefinedVariable = PlaylistRule(rawValue: "undefined-variable")
    /// An impossible definition: a duplicate name, an unavailable import, or a missing query parameter.
    package static let definition = PlaylistRule(rawValue: "define")
    /// Date ranges with one ID that contradict each other, or an incomplete range.
    package static let dateRange = PlaylistRule(rawValue: "daterange")
    package static let skip = PlaylistRule(rawValue: "skip")

    /// The section of the specification, or nil if the rule is the reader's own.
    package var section: String? { Self.sections[rawValue] ?? appleSection }

    private static let sections: [String: String] = [
        "header": "rfc8216bis §4.4.1.1", "byte-order-mark": "rfc8216bis §4.1", "encoding": "rfc8216bis §4.1",
        "control-character": "rfc8216bis §4.1", "white-space": "rfc8216bis §4.1", "mixed-kinds": "rfc8216bis §4.1",
        "no-kind": "rfc8216bis §4.1", "uri-without-tag": "rfc8216bis §4.1", "tag-without-uri": "rfc8216bis §4.4.4.1",
        "repeated-tag": "rfc8216bis §4.4.1", "tag-position": "rfc8216bis §4.4.3", "attribute-list": "rfc8216bis §4.2",
        "duplicate-attribute": "rfc8216bis §4.2", "missing-attribute": "rfc8216bis §4.4",
        "attribute-conflict": "rfc8216bis §4.4", "quoting": "rfc8216bis §4.2", "number": "rfc8216bis §4.2",
        "hexadecimal": "rfc8216bis §4.2", "date": "rfc8216bis §4.4.4.6", "unknown-value": "rfc8216bis §4.2",
        "extinf": "rfc8216bis §4.4.4.1", "targetduration": "rfc8216bis §4.4.3.1",
        "sequence-number": "rfc8216bis §4.4.3.2", "byterange": "rfc8216bis §4.4.4.2",
        "undefined-variable": "rfc8216bis §4.3", "define": "rfc8216bis §4.4.2.3",
        "daterange": "rfc8216bis §4.4.5.1", "skip": "rfc8216bis §4.4.5.2",
        "interstitial": "rfc8216bis appendix D",
        "version": "rfc8216bis §8", "hold-back": "rfc8216bis §4.4.3.8", "part-target": "rfc8216bis §4.4.3.7",
        "codecs": "rfc8216bis §4.4.6.2", "rendition-group": "rfc8216bis §4.4.6.1.1",
        "unused-group": "rfc8216bis §4.4.6.2", "media-playlist": "rfc8216bis §6.2.4",
        "i-frames-only": "rfc8216bis §4.4.6.3", "aligned-targetduration": "rfc8216bis §6.2.4",
        "aligned-media-sequence": "Apple HLS authoring §8.22", "aligned-discontinuities": "rfc8216bis §6.2.4",
        "aligned-duration": "rfc8216bis §6.2.4", "aligned-type": "rfc8216bis §6.2.4",
        "aligned-dates": "rfc8216bis §6.2.4",
        "bandwidth": "rfc8216bis §4.4.6.2; Apple HLS authoring §1.27, §1.29",
        "average-bandwidth": "rfc8216bis §4.4.6.2; Apple HLS authoring §1.26, §1.28",
    ]
}
