public import FoundationEssentials
public import HLSKitLoading
import HLSKitMedia
public import HLSKitPlaylist

/// One version of the presentation: what the multivariant playlist declares about it.
///
/// The same type is what an ``Asset`` lists, what a player reports and what a ``VariantSelector`` chooses among. Undeclared
/// attributes are nil or empty. ``id`` names a variant also in a playlist that was loaded again, or changed by the program. Two are
/// equal if the playlist says the same of them, whether or not their ``ineligibilityReasons`` are known: that of an asset equals
/// the player's. A copy costs as much as a copy of a reference.
///
/// Source: rfc8216bis §4.4.6.2. See docs/behaviour/selection.md.
public struct AssetVariant: Sendable, Identifiable {
    /// Attributes of the video.
    public struct VideoAttributes: Sendable, Hashable {
        /// The entries of `CODECS` that are video.
        public var codecs: [String]
        /// `RESOLUTION` in pixels; nil if undeclared.
        public var presentationSize: PixelSize?
        /// `FRAME-RATE`, frames per second at most; nil if undeclared.
        public var nominalFrameRate: Double?
        /// `VIDEO-RANGE`; SDR where undeclared.
        public var videoRange: VideoRange
        /// The entries of `REQ-VIDEO-LAYOUT`.
        public var videoLayouts: [PlaybackConfigurationOption]
    }

    /// Attributes of the audio.
    public struct AudioAttributes: Sendable, Hashable {
        /// The entries of `CODECS` that are audio.
        public var codecs: [String]
        /// The renditions of the variant's audio group; empty where it has none.
        public var renditions: [AudioRendition]

        /// The rendition that an option of the audible group stands for in this variant; nil where it has none.
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

    /// Makes a variant, for tests of a ``VariantSelector``; a player makes its own. Defaults stand for undeclared attributes.
    ///
    /// - Parameters:
    ///   - index: its position in the multivariant playlist, from 0.
    ///   - peakBitRate: `BANDWIDTH` in bits per second.
    ///   - averageBitRate: `AVERAGE-BANDWIDTH` in bits per second.
    ///   - id: nil (the default) is its position.
    ///   - codecs: the entries of `CODECS`.
    ///   - presentationSize: `RESOLUTION` in pixels.
    ///   - nominalFrameRate: `FRAME-RATE`.
    ///   - videoRange: `VIDEO-RANGE`.
    ///   - hdcpLevel: `HDCP-LEVEL`.
    ///   - score: `SCORE`.
    ///   - audioGroup: the name of its audio group.
    ///   - audioRenditions: the renditions of that group.
    ///   - hasVideo: false for audio alone.
    ///   - uri: as the playlist has it.
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

    /// Names the variant in every version of its playlist; see ``ID-swift.struct``.
    public var id: ID { storage.facts.id }
    /// Position in the multivariant playlist, from 0; 0 for a media playlist or file that was opened directly. Another
    /// version of the playlist may count otherwise: ``id`` stays.
    public var index: Int { storage.facts.index }
    /// The media playlist, or the media file itself; nil where ``urlString`` is not a URL.
    public var url: URL? { URL(string: urlString) }
    /// The absolute URL of the media playlist, or of the media file itself, as it is written; what the playlist has where that
    /// cannot be resolved.
    public var urlString: String { storage.facts.url ?? storage.facts.uri }
    /// `BANDWIDTH` in bits per second; nil without a multivariant playlist, and where it is missing.
    public var peakBitRate: Double? { storage.facts.bandwidth > 0 ? storage.facts.bandwidth : nil }
    /// `AVERAGE-BANDWIDTH` in bits per second; nil if undeclared.
    public var averageBitRate: Double? { storage.facts.averageBandwidth }
    /// The entries of `CODECS`, also those that are neither video nor audio; empty if undeclared.
    public package(set) var codecs: [String] {
        get { storage.facts.codecs }
        set { facts.codecs = newValue }
    }
    /// `SCORE`, how good the variant is compared with the others; nil if undeclared.
    public var score: Double? { storage.facts.score }
    /// `HDCP-LEVEL`, the copy protection that outputs need; nil if undeclared.
    public var hdcpLevel: HDCPLevel? { storage.facts.hdcpLevel }
    /// `PATHWAY-ID`, the group of servers that it comes from; nil if undeclared.
    public var pathwayID: String? { storage.facts.pathway }

    /// Attributes of the video; nil for a variant that is known to have none.
    public var videoAttributes: VideoAttributes? {
        guard storage.facts.hasVideo else { return nil }
        return VideoAttributes(
            codecs: codecs(of: .video), presentationSize: storage.facts.resolution,
            nominalFrameRate: storage.facts.frameRate,
            videoRange: storage.facts.videoRange,
            videoLayouts: storage.facts.requiredVideoLayouts.map(PlaybackConfigurationOption.init(rawValue:)))
    }

    /// Attributes of the audio; nil for a variant that is known to have none.
    public var audioAttributes: AudioAttributes? {
        let own = codecs(of: .audio)
        guard !own.isEmpty || storage.facts.audioGroup != nil || storage.facts.codecs.isEmpty else { return nil }
        return AudioAttributes(codecs: own, renditions: storage.facts.audioOptions)
    }

    /// Why this machine does not play the variant, with no limits set, as far as the multivariant playlist tells: all
    /// reasons, in the order of the steps of selection. Known of the variants that an ``Asset`` lists; empty where it is
    /// played, and of those that a player reports. ``Asset/ineligibilityReasons(for:)`` knows its keys, too, and
    /// ``PlayerItem/ineligibilityReasons(for:)`` the limits of an item.
    public var ineligibilityReasons: [IneligibilityReason] { storage.ineligibilityReasons }

    /// Nothing is known that takes the variant: see ``ineligibilityReasons``.
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
    /// `1280x720, 3000000 bit/s`.
    public var description: String {
        var words: [String] = []
        if let size = storage.facts.resolution { words.append("\(size.width)x\(size.height)") }
        if storage.facts.bandwidth > 0 { words.append("\(declaredBitRate) bit/s") }
        return words.isEmpty ? "variant \(index)" : words.joined(separator: ", ")
    }
}

// MARK: - Inside

extension AssetVariant {
    /// What the playlist says, as it says it.
    package struct Facts: Sendable, Hashable {
        var id = ID(rawValue: "")
        var index: Int
        /// As written; empty for a variant without a playlist.
        var uri: String
        /// nil where ``uri`` cannot be resolved.
        var url: String?
        /// 0 if undeclared.
        var bandwidth: Double
        var averageBandwidth: Double?
        var codecs: [String] = []
        var resolution: PixelSize?
        package var frameRate: Double?
        var videoRange = VideoRange.sdr
        var hdcpLevel: HDCPLevel?
        var score: Double?
        /// `AUDIO`; nil for audio inside the variant's own segments, or none.
        var audioGroup: String?
        /// The renditions of ``audioGroup``.
        var audioOptions: [AudioRendition] = []
        var pathway: String?
        /// Whether it is known or likely to hold video: by resolution, codecs or a `VIDEO` group.
        var hasVideo = true
        /// The entries of `REQ-VIDEO-LAYOUT`.
        var requiredVideoLayouts: [String] = []
        /// `ALLOWED-CPC` with one entry per label: `com.example.drm:PC`.
        var allowedCPC: [String] = []
    }

    /// Keeps ``Facts``, and how this machine sees them, apart: variants are copied with every decision, event and state.
    package final class Storage: Sendable {
        package let facts: Facts
        let ineligibilityReasons: [IneligibilityReason]

        init(_ facts: Facts, _ ineligibilityReasons: [IneligibilityReason]) {
            self.facts = facts
            self.ineligibilityReasons = ineligibilityReasons
        }
    }

    /// Rows of pixels; nil if undeclared.
    package var height: Int? { storage.facts.resolution?.height }
    /// `BANDWIDTH` in bits per second; 0 if undeclared.
    package var bandwidth: Double { storage.facts.bandwidth }
    /// ``bandwidth`` for texts and sizes, as far as numbers are exact.
    package var declaredBitRate: Int { Int(min(max(0, storage.facts.bandwidth), 1e15)) }
    package var averageBandwidth: Double? { storage.facts.averageBandwidth }
    package var resolution: PixelSize? { storage.facts.resolution }
    package var hasVideo: Bool { storage.facts.hasVideo }
    var videoRange: VideoRange { storage.facts.videoRange }
    var audioOptions: [AudioRendition] { storage.facts.audioOptions }
    /// The URI as written; empty for a variant without a playlist.
    package var uri: String { storage.facts.uri }
}

extension Collection<AssetVariant> {
    /// The variants from worst to best: by `SCORE` when every one has it, else by `BANDWIDTH`; equals in playlist order.
    package func sortedByQuality() -> [AssetVariant] {
        let useScore = allSatisfy { $0.score != nil }
        let isBefore = { (left: AssetVariant, right: AssetVariant) in
            let (low, high) = useScore ? (left.score ?? 0, right.score ?? 0) : (left.bandwidth, right.bandwidth)
            return low != high ? low < high : left.index < right.index
        }
        // Mostly they are in order, and sorting costs more than a look.
        let isSorted = zip(self, dropFirst()).allSatisfy { !isBefore($1, $0) }
        return isSorted ? Array(self) : sorted(by: isBefore)
    }

    /// The one that costs least, the first of equals.
    var lowestBandwidth: AssetVariant? {
        self.min { $0.bandwidth != $1.bandwidth ? $0.bandwidth < $1.bandwidth : $0.index < $1.index }
    }
}
