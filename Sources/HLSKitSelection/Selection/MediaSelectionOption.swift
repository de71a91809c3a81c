import HLSKitLoading
public import HLSKitMedia
public import HLSKitPlaylist
import HLSKitTime

/// A choice among versions of audio, subtitles or video.
///
/// An option stands for the renditions of all groups that are the same to a viewer.
public struct MediaSelectionOption: Sendable, Hashable, Identifiable {
    /// The identifier of the option in every playlist with the same choice.
    ///
    /// You can store it. The identifier is the `STABLE-RENDITION-ID` or, without one, a hash of the attributes that the
    /// renditions share.
    public let id: String
    /// The kind of media: audio, text or video.
    public let mediaType: MediaKind
    /// The name for the user, from `NAME`.
    public let displayName: String
    /// The BCP 47 language tag, or `nil` if it is not declared.
    public let extendedLanguageTag: String?
    /// The first subtag of the language, or `nil` if it is not declared.
    public var languageCode: String? { extendedLanguageTag?.split(separator: "-").first.map(String.init) }
    /// The `CHARACTERISTICS`, and those that follow from the media type and from `FORCED`.
    public let mediaCharacteristics: Set<MediaCharacteristic>
    /// A Boolean value that indicates whether the option can be played on this machine.
    ///
    /// Closed captions inside the video are playable if `INSTREAM-ID` can name their channel.
    public let isPlayable: Bool
    /// A Boolean value that indicates whether the option may be selected automatically.
    ///
    /// It is `true` for `AUTOSELECT` and `DEFAULT`.
    public let isAutoselectable: Bool
    /// A Boolean value that indicates whether the option is selected if the user has no preference.
    ///
    /// It is `true` for `DEFAULT=YES`.
    public let isDefault: Bool
    /// A Boolean value that indicates whether these are subtitles essential to the content (`FORCED=YES`).
    public let isForced: Bool
    /// The largest number of channels in all groups, from `CHANNELS`, or `nil` if it is not declared.
    public let channelCount: Int?
    /// The renditions of the option, one of each group, in playlist order.
    public let renditions: [Rendition]

    /// A Boolean value that indicates whether the option is closed captions inside the video.
    ///
    /// They are CEA-608 or CEA-708 captions, whether or not the playlist declares them.
    public var isClosedCaptions: Bool { renditions.first?.type == .closedCaptions }

    /// Returns whether the option has a characteristic, by its media type and its `CHARACTERISTICS`.
    public func hasMediaCharacteristic(_ characteristic: MediaCharacteristic) -> Bool {
        mediaCharacteristics.contains(characteristic)
    }

    /// Returns the option of another group that goes with this one, or `nil` if there is none.
    ///
    /// For audio, this is the forced subtitles option of its language.
    public func associatedMediaSelectionOption(in group: MediaSelectionGroup) -> MediaSelectionOption? {
        guard mediaType == .audio, let language = extendedLanguageTag else { return nil }
        return group.options.first { option in
            option.isForced && option.extendedLanguageTag.map { LanguageTag.matches($0, language) } == true
        }
    }
}

extension MediaSelectionOption {
    /// - Parameter renditions: The renditions with a common ``Rendition/optionID``.
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
        id = first.stableRenditionID ?? StableHash.fnv1a("\(first.type.rawValue)|\(first.optionID)").hexadecimal(16)
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
}
