import HLSMedia
public import HLSPlaylist

/// One version of the whole asset: what the multivariant playlist declares about it.
///
/// Numbers that are not declared are −1, sizes ``PixelSize/zero``.
public struct AssetVariant: Sendable, Hashable {
    /// Of the video; nil in a variant known to have none.
    public struct VideoAttributes: Sendable, Hashable {
        /// The entries of `CODECS` that are video.
        public let codecs: [String]
        /// `RESOLUTION`; zero if undeclared.
        public let presentationSize: PixelSize
        /// Frames per second.
        public let nominalFrameRate: Double
        /// `SDR` where undeclared.
        public let videoRange: VideoRange
        /// The entries of `REQ-VIDEO-LAYOUT`.
        public let videoLayouts: [PlaybackConfigurationOption]
    }

    /// Of the audio; nil in a variant known to have none.
    public struct AudioAttributes: Sendable, Hashable {
        /// The entries of `CODECS` that are audio.
        public let codecs: [String]
        /// Channels of each option of the variant's audio group, by ``MediaSelectionOption/id``.
        public let channelCounts: [String: Int]

        /// Channels of the rendition that an option stands for in this variant; −1 where undeclared.
        public func renditionChannelCount(for option: MediaSelectionOption) -> Int { channelCounts[option.id] ?? -1 }
    }

    /// Position in the playlist, from 0.
    public let index: Int
    /// The media playlist, or the media file itself, as an absolute URL.
    public let url: String
    /// `BANDWIDTH` in bits per second.
    public let peakBitRate: Double
    /// `AVERAGE-BANDWIDTH` in bits per second.
    public let averageBitRate: Double
    /// Attributes of the video; nil for a variant without video.
    public let videoAttributes: VideoAttributes?
    /// Attributes of the audio; nil for a variant without audio.
    public let audioAttributes: AudioAttributes?
    /// Why the variant is not played here with no limits set: the first step of selection that takes it. Empty means
    /// that it can be.
    public let ineligibilityReasons: [VariantEligibility.Reason]

    /// Nothing takes the variant: see ``ineligibilityReasons``.
    public var isEligible: Bool { ineligibilityReasons.isEmpty }
}

extension PixelSize {
    /// No size, or one that is not known.
    public static let zero = PixelSize(width: 0, height: 0)
}

extension AssetVariant {
    /// The variant of what has no multivariant playlist.
    init(onlyVariantAt url: String) {
        self.init(
            index: 0, url: url, peakBitRate: -1, averageBitRate: -1, videoAttributes: nil, audioAttributes: nil,
            ineligibilityReasons: [])
    }

    init(
        _ variant: Variant, index: Int, of playlist: MultivariantPlaylist, audible: MediaSelectionGroup?,
        reason: VariantEligibility.Reason?
    ) {
        self.index = index
        url = playlist.resolve(variant.uri) ?? variant.uri
        peakBitRate = variant.bandwidth > 0 ? Double(variant.bandwidth) : -1
        averageBitRate = variant.averageBandwidth.map(Double.init) ?? -1
        let codecs = variant.codecs
        let video = codecs.filter { CodecString(rawValue: $0).mediaType == .video }
        let audio = codecs.filter { CodecString(rawValue: $0).mediaType == .audio }
        let hasVideo = !video.isEmpty || variant.resolution != nil || variant.video != nil || codecs.isEmpty
        videoAttributes =
            hasVideo
            ? VideoAttributes(
                codecs: video,
                presentationSize: variant.resolution.map { PixelSize(width: $0.width, height: $0.height) } ?? .zero,
                nominalFrameRate: variant.frameRate ?? -1, videoRange: variant.effectiveVideoRange,
                videoLayouts: variant.requiredLayouts.map(PlaybackConfigurationOption.init(rawValue:))) : nil
        var counts: [String: Int] = [:]
        for option in audible?.options ?? [] {
            guard let rendition = option.renditions.first(where: { $0.groupID == variant.audio }) else { continue }
            counts[option.id] = rendition.channelCount ?? -1
        }
        let hasAudio = !audio.isEmpty || variant.audio != nil || codecs.isEmpty
        audioAttributes = hasAudio ? AudioAttributes(codecs: audio, channelCounts: counts) : nil
        ineligibilityReasons = reason.map { [$0] } ?? []
    }
}
