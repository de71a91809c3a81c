package import HLSKitMedia
public import HLSKitPlaylist

/// An audio rendition in the audio group of a variant.
///
/// Source: rfc8216bis §4.4.6.1.
public struct AudioRendition: Sendable, Hashable, Identifiable {
    /// The identifier, which renditions of several groups share if they stand for the same choice.
    public var id: String
    /// The BCP 47 language tag, or `nil` if it is not declared.
    public var language: String?
    /// The number of channels, the first field of `CHANNELS`, or `nil` if it is not declared.
    public var channelCount: Int?
    /// The use of the channels, the third field of `CHANNELS`, or an empty set if it is not declared.
    public var channelUsage: Set<ChannelUsage>
    /// The properties that files keep.
    package var label = MediaTrackLabel()

    package init(
        id: String, language: String? = nil, channelCount: Int? = nil, channelUsage: Set<ChannelUsage> = []
    ) {
        self.id = id
        self.language = language
        self.channelCount = channelCount
        self.channelUsage = channelUsage
    }
}

extension AudioRendition {
    package init(_ rendition: Rendition) {
        self.init(
            id: rendition.optionID, language: rendition.language, channelCount: rendition.channelCount,
            channelUsage: Set(rendition.channelUsage))
        label = MediaTrackLabel(
            name: rendition.name, language: rendition.language, isDefault: rendition.isDefault,
            isForced: rendition.isForced, characteristics: rendition.characteristicsText)
    }
}

extension MediaTrackLabel {
    private static let describesAudioTag = "public.accessibility.describes-music-and-sound"
    private static let describesVideoTag = "public.accessibility.describes-video"

    /// - Parameter characteristics: The value of `CHARACTERISTICS`.
    package init(name: String, language: String?, isDefault: Bool, isForced: Bool, characteristics: String?) {
        self.init()
        // A file is better without a name than with one that no one gave.
        self.name = TrackNames.isRedundant(name, language: language) ? nil : name
        self.isDefault = isDefault
        self.isForced = isForced
        let characteristics = characteristics ?? ""
        describesAudio = characteristics.contains(Self.describesAudioTag)
        describesVideo = characteristics.contains(Self.describesVideoTag)
    }

    /// The values for `CHARACTERISTICS`.
    package var characteristics: [String] {
        (describesAudio ? ["public.accessibility.transcribes-spoken-dialog", Self.describesAudioTag] : [])
            + (describesVideo ? [Self.describesVideoTag] : [])
    }
}

extension Rendition {
    package var declaredChannelUsage: Set<ChannelUsage>? { channels == nil ? nil : Set(channelUsage) }
}

extension MediaSelectionOption {
    var channelUsage: Set<ChannelUsage>? { renditions.lazy.compactMap(\.declaredChannelUsage).first }
}
