public import FoundationEssentials
public import HLSKitLoading
import HLSKitMedia
public import HLSKitPlaylist

/// One variant of the presentation, as the multivariant playlist declares it.
///
/// An ``Asset`` lists variants, a player reports them, and a ``VariantSelector`` chooses among them. Undeclared
/// attributes are `nil` or empty. ``id`` identifies a variant even if the playlist was reloaded or changed by your app.
/// Two variants are equal if the playlist declares the same for both, regardless of their ``ineligibilityReasons``, so
/// a variant of an asset equals the player's. A copy costs as much as a copy of a reference.
///
/// Source: rfc8216bis §4.4.6.2.
public struct AssetVariant: Sendable, Identifiable {
    /// The video attributes of a variant.
    public struct VideoAttributes: Sendable, Hashable {
        /// The video entries of `CODECS`.
        public var codecs: [String]
        /// The `RESOLUTION` in pixels, or `nil` if it is not declared.
        public var presentationSize: PixelSize?
        /// The `FRAME-RATE`, the maximum in frames per second, or `nil` if it is not declared.
        public var nominalFrameRate: Double?
        /// The `VIDEO-RANGE`, or SDR if it is not declared.
        public var videoRange: VideoRange
        /// The entries of `REQ-VIDEO-LAYOUT`.
        public var videoLayouts: [PlaybackConfigurationOption]
    }

    /// The audio attributes of a variant.
    public struct AudioAttributes: Sendable, Hashable {
        /// The audio entries of `CODECS`.
        public var codecs: [String]
        /// The renditions of the variant's audio group, or an empty array if it has none.
        public var renditions: [AudioRendition]

        /// Returns the rendition of an audible option in this variant, or `nil` if there is none.
        public func rendition(for option: MediaSelectionOption) -> AudioRendition? {
            let ids = Set(option.renditions.map(\.optionID))
            return renditions.first { ids.contains($0.id) }
        }
    }

    package let storage: Storage
    var facts: Facts {
        get { storage.facts }
        set { self = AssetVariant(newValue, ineligibilityReasons: ineligibilityReasons) }
    }

    init(_ facts: Facts, ineligibilityReasons: [IneligibilityReason] = []) {
        storage = Storage(facts, ineligibilityReasons)
    }

    /// Creates a variant, for tests of a ``VariantSelector``.
    ///
    /// Default values stand for undeclared attributes.
    ///
    /// - Parameters:
    ///   - index: The position in the multivariant playlist, from 0.
    ///   - id: The identifier. The default, `nil`, uses the index.
    ///   - peakBitRate: The `BANDWIDTH` in bits per second.
    ///   - averageBitRate: The `AVERAGE-BANDWIDTH` in bits per second.
    ///   - codecs: The entries of `CODECS`.
    ///   - presentationSize: The `RESOLUTION` in pixels.
    ///   - nominalFrameRate: The `FRAME-RATE`.
    ///   - videoRange: The `VIDEO-RANGE`.
    ///   - hdcpLevel: The `HDCP-LEVEL`.
    ///   - score: The `SCORE`.
    ///   - audioGroup: The name of the audio group.
    ///   - audioRenditions: The renditions of the audio group.
    ///   - hasVideo: Whether the variant has video.
    ///   - uri: The URI in the playlist.
    public init(
        index: Int, id: ID? = nil, peakBitRate: Double, averageBitRate: Double? = nil, codecs: [String] = [],
        presentationSize: PixelSize? = nil, nominalFrameRate: Double? = nil, videoRange: VideoRange = .sdr,
        hdcpLevel: HDCPLevel? = nil, score: Double? = nil, audioGroup: String? = nil,
        audioRenditions: [AudioRendition] = [], hasVideo: Bool = true, uri: String = ""
    ) {
        self.init(
            Facts(
                id: id ?? ID(rawValue: "\(index)"), index: index, uri: uri, bandwidth: peakBitRate,
                averageBandwidth: averageBitRate, codecs: codecs,
                resolution: presentationSize, frameRate: nominalFrameRate, videoRange: videoRange, hdcpLevel: hdcpLevel,
                score: score, audioGroup: audioGroup, audioOptions: audioRenditions, hasVideo: hasVideo))
    }

    /// The identifier of the variant in every version of its playlist.
    ///
    /// See ``ID-swift.struct``.
    public var id: ID { storage.facts.id }
    /// The position in the multivariant playlist, from 0.
    ///
    /// It is 0 for a media playlist or file that was opened directly. In another version of the playlist, the index may
    /// differ, but ``id`` does not change.
    public var index: Int { storage.facts.index }
    /// The URL of the media playlist or media file, or `nil` if ``urlString`` is not a URL.
    public var url: URL? { URL(string: urlString) }
    /// The absolute URL of the media playlist or file as written, or the URI if it cannot be resolved.
    public var urlString: String { storage.facts.url ?? storage.facts.uri }
    /// The `BANDWIDTH` in bits per second, or `nil` if it is missing or there is no multivariant playlist.
    public var peakBitRate: Double? { storage.facts.bandwidth > 0 ? storage.facts.bandwidth : nil }
    /// The `AVERAGE-BANDWIDTH` in bits per second, or `nil` if it is not declared.
    public var averageBitRate: Double? { storage.facts.averageBandwidth }
    /// All entries of `CODECS`, not only video and audio, or an empty array if it is not declared.
    public package(set) var codecs: [String] {
        get { storage.facts.codecs }
        set { facts.codecs = newValue }
    }
    /// The `SCORE`, the relative quality of the variant, or `nil` if it is not declared.
    public var score: Double? { storage.facts.score }
    /// The `HDCP-LEVEL`, the copy protection that outputs need, or `nil` if it is not declared.
    public var hdcpLevel: HDCPLevel? { storage.facts.hdcpLevel }
    /// The `PATHWAY-ID`, the servers from which the variant comes, or `nil` if it is not declared.
    public var pathwayID: String? { storage.facts.pathway }

    /// The video attributes, or `nil` for a variant that is known to have no video.
    public var videoAttributes: VideoAttributes? {
        guard storage.facts.hasVideo else { return nil }
        return VideoAttributes(
            codecs: codecs(of: .video), presentationSize: storage.facts.resolution,
            nominalFrameRate: storage.facts.frameRate,
            videoRange: storage.facts.videoRange,
            videoLayouts: storage.facts.requiredVideoLayouts.map(PlaybackConfigurationOption.init(rawValue:)))
    }

    /// The audio attributes, or `nil` for a variant that is known to have no audio.
    public var audioAttributes: AudioAttributes? {
        let own = codecs(of: .audio)
        guard !own.isEmpty || storage.facts.audioGroup != nil || storage.facts.codecs.isEmpty else { return nil }
        return AudioAttributes(codecs: own, renditions: storage.facts.audioOptions)
    }

    /// The reasons why this machine does not play the variant, according to the multivariant playlist.
    ///
    /// The array holds all reasons in the order of the selection steps, without the limits of an item. Only variants of
    /// an ``Asset`` have reasons. For playable variants, and variants that a player reports, the array is empty.
    /// ``Asset/ineligibilityReasons(for:)`` also takes keys into account, and ``PlayerItem/ineligibilityReasons(for:)``
    /// the limits of an item.
    public var ineligibilityReasons: [IneligibilityReason] { storage.ineligibilityReasons }

    /// A Boolean value that indicates whether the variant has no ``ineligibilityReasons``.
    public var isEligible: Bool { ineligibilityReasons.isEmpty }

    private func codecs(of type: MediaKind) -> [String] {
        storage.facts.codecs.filter { CodecString(rawValue: $0).mediaType == type }
    }
}

extension AssetVariant: Hashable {
    public static func == (one: AssetVariant, other: AssetVariant) -> Bool {
        one.storage === other.storage || one.facts == other.facts
    }

    public func hash(into hasher: inout Hasher) { hasher.combine(storage.facts.index) }
}

extension AssetVariant: CustomStringConvertible {
    /// A description such as `1280x720, 3000000 bit/s`.
    public var description: String {
        var words: [String] = []
        if let size = storage.facts.resolution { words.append("\(size.width)x\(size.height)") }
        if storage.facts.bandwidth > 0 { words.append("\(declaredBitRate) bit/s") }
        return words.isEmpty ? "variant \(index)" : words.joined(separator: ", ")
    }
}

// MARK: - Internal

extension AssetVariant {
    package struct Facts: Sendable, Hashable {
        var id = ID(rawValue: "")
        var index: Int
        /// The URI as written, or an empty string for a variant without a playlist.
        var uri: String
        var url: String?
        var bandwidth: Double
        var averageBandwidth: Double?
        var codecs: [String] = []
        var resolution: PixelSize?
        package var frameRate: Double?
        var videoRange = VideoRange.sdr
        var hdcpLevel: HDCPLevel?
        var score: Double?
        /// The `AUDIO` group, or nil for audio inside the variant's segments, or no audio.
        var audioGroup: String?
        var audioOptions: [AudioRendition] = []
        var pathway: String?
        /// Whether the variant has video according to its resolution, codecs or `VIDEO` group, or may have it.
        var hasVideo = true
        var requiredVideoLayouts: [String] = []
        var allowedCPC: [String] = []
    }

    /// A box for the declarations and the reasons, because variants are copied with every decision, event and state.
    package final class Storage: Sendable {
        package let facts: Facts
        let ineligibilityReasons: [IneligibilityReason]

        init(_ facts: Facts, _ ineligibilityReasons: [IneligibilityReason]) {
            self.facts = facts
            self.ineligibilityReasons = ineligibilityReasons
        }
    }

    package var height: Int? { storage.facts.resolution?.height }
    /// The `BANDWIDTH` in bits per second, or 0 if it is not declared.
    package var bandwidth: Double { storage.facts.bandwidth }
    /// The ``bandwidth`` as an integer, limited to the range in which it is exact.
    package var declaredBitRate: Int { Int(min(max(0, storage.facts.bandwidth), 1e15)) }
    package var averageBandwidth: Double? { storage.facts.averageBandwidth }
    package var resolution: PixelSize? { storage.facts.resolution }
    package var hasVideo: Bool { storage.facts.hasVideo }
    var videoRange: VideoRange { storage.facts.videoRange }
    var audioOptions: [AudioRendition] { storage.facts.audioOptions }
    package var uri: String { storage.facts.uri }
}

extension Collection<AssetVariant> {
    /// Returns the variants from worst to best: by `SCORE` if all have it, otherwise by `BANDWIDTH`. Equal variants
    /// keep the playlist order.
    package func sortedByQuality() -> [AssetVariant] {
        let useScore = allSatisfy { $0.score != nil }
        let isBefore = { (left: AssetVariant, right: AssetVariant) in
            let (low, high) = useScore ? (left.score ?? 0, right.score ?? 0) : (left.bandwidth, right.bandwidth)
            return low != high ? low < high : left.index < right.index
        }
        // The variants are usually sorted, and checking costs less than sorting.
        let isSorted = zip(self, dropFirst()).allSatisfy { !isBefore($1, $0) }
        return isSorted ? Array(self) : sorted(by: isBefore)
    }

    var lowestBandwidth: AssetVariant? {
        self.min { $0.bandwidth != $1.bandwidth ? $0.bandwidth < $1.bandwidth : $0.index < $1.index }
    }
}
