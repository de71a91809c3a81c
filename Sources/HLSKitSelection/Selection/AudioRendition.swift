public import HLSKitPlaylist

/// An audio rendition in the group of a variant.
///
/// Source: rfc8216bis §4.4.6.1.
public struct AudioRendition: Sendable, Hashable, Identifiable {
    /// The identity across groups: renditions of several groups that stand for the same choice have the same.
    public var id: String
    /// BCP 47 tag; nil if undeclared.
    public var language: String?
    /// First field of `CHANNELS`; nil if undeclared.
    public var channelCount: Int?
    /// How the channels are meant: third field of `CHANNELS`. Empty if undeclared.
    public var channelUsage: Set<ChannelUsage>

    /// Makes a rendition; what has a default is undeclared.
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
    }
}

extension Rendition {
    /// ``channelUsage`` where `CHANNELS` is declared.
    package var declaredChannelUsage: Set<ChannelUsage>? { channels == nil ? nil : Set(channelUsage) }
}

extension MediaSelectionOption {
    /// How the channels of its first rendition that says so are meant; nil where none does.
    var channelUsage: Set<ChannelUsage>? { renditions.lazy.compactMap(\.declaredChannelUsage).first }
}
