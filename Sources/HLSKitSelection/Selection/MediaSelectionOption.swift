public import HLSKitMedia
public import HLSKitPlaylist

/// One choice among several versions of audio, subtitles or video: the renditions of all groups that are the same to
/// a viewer.
///
/// See docs/behaviour/media-selection.md.
public struct MediaSelectionOption: Sendable, Hashable, Identifiable {
    /// The same in every playlist that describes the same choice: `STABLE-RENDITION-ID`, else a hash of what makes the
    /// renditions one option. May be stored.
    public let id: String
    /// The kind of media: audio, text or video.
    public let mediaType: MediaKind
    /// `NAME`, for people.
    public let displayName: String
    /// BCP 47 tag; nil if undeclared.
    public let extendedLanguageTag: String?
    /// The language's first subtag; nil if undeclared.
    public var languageCode: String? { extendedLanguageTag?.split(separator: "-").first.map(String.init) }
    /// `CHARACTERISTICS`, and what follows from the type and from `FORCED`.
    public let mediaCharacteristics: Set<MediaCharacteristic>
    /// It is of a kind that can be played here. Closed captions inside the video can, of channels that `INSTREAM-ID` has
    /// a name for.
    public let isPlayable: Bool
    /// `AUTOSELECT` or `DEFAULT`: may be chosen without the user.
    public let isAutoselectable: Bool
    /// `DEFAULT=YES`: chosen if the user prefers no other.
    public let isDefault: Bool
    /// `FORCED=YES`: subtitles that are essential to the content.
    public let isForced: Bool
    /// First number of `CHANNELS`, the largest of all groups; nil if undeclared.
    public let channelCount: Int?
    /// The renditions that it stands for, one of each group, in playlist order.
    public let renditions: [Rendition]

    /// Captions inside the video (CEA-608 or CEA-708), in the playlist or not.
    public var isClosedCaptions: Bool { renditions.first?.type == .closedCaptions }

    /// Whether the option has `characteristic`, by its media type and its `CHARACTERISTICS`.
    public func hasMediaCharacteristic(_ characteristic: MediaCharacteristic) -> Bool {
        mediaCharacteristics.contains(characteristic)
    }

    /// The option of `group` that goes with this one: for audio the forced subtitles of its language; nil if there is
    /// none.
    public func associatedMediaSelectionOption(in group: MediaSelectionGroup) -> MediaSelectionOption? {
        guard mediaType == .audio, let language = extendedLanguageTag else { return nil }
        return group.options.first { option in
            option.isForced && option.extendedLanguageTag.map { LanguageTag.matches($0, language) } == true
        }
    }
}

extension MediaSelectionOption {
    /// - Parameter renditions: those that share a ``Rendition/optionID``; not empty.
    init?(_ renditions: [Rendition], isPlayable: Bool) {
        guard let first = renditions.first else { return nil }
        var characteristics = Set(first.characteristics.map(MediaCharacteristic.init(rawValue:)))
        switch first.type {
        case .audio:
            mediaType = .audio
            characteristics.insert(.audible)
        case .video:
            mediaType = .video
            characteristics.insert(.visual)
        default:
            mediaType = .text
            characteristics.insert(.legible)
        }
        if first.isForced { characteristics.insert(.containsOnlyForcedSubtitles) }
        id = first.stableRenditionID ?? Self.hash(of: "\(first.type.rawValue)|\(first.optionID)")
        displayName = first.name
        extendedLanguageTag = first.language
        mediaCharacteristics = characteristics
        self.isPlayable = isPlayable
        isAutoselectable = renditions.contains { $0.isAutoselect || $0.isDefault }
        isDefault = renditions.contains { $0.isDefault }
        isForced = first.isForced
        channelCount = renditions.compactMap(\.channelCount).max()
        self.renditions = renditions
    }

    /// FNV-1a of 64 bits: the same on every machine and in every run.
    private static func hash(of text: String) -> String {
        let hash = text.utf8.reduce(UInt64(0xCBF2_9CE4_8422_2325)) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
        let digits = String(hash, radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }
}
