/// A variant as selection sees it.
///
/// Source: rfc8216bis §4.4.6.2. See docs/behaviour/selection.md.
public struct VariantCandidate: Sendable, Hashable {
    /// An audio rendition in the group of a variant.
    public struct AudioOption: Sendable, Hashable {
        /// The identity of the option across groups.
        public var id: String
        /// BCP 47 tag; nil if undeclared.
        public var language: String?
        /// First number of `CHANNELS`; nil if undeclared.
        public var channelCount: Int?

        /// Makes an option; what has a default is undeclared.
        public init(id: String, language: String? = nil, channelCount: Int? = nil) {
            self.id = id
            self.language = language
            self.channelCount = channelCount
        }
    }

    /// Position in the multivariant playlist, from 0. Names the variant everywhere in selection.
    public var index: Int
    /// The URI as written; empty for a candidate without a playlist.
    public var uri: String
    /// `BANDWIDTH`, bits per second.
    public var bandwidth: Double
    /// `AVERAGE-BANDWIDTH`, bits per second; nil if undeclared.
    public var averageBandwidth: Double?
    /// The entries of `CODECS`; empty if undeclared.
    public var codecs: [String]
    /// nil if undeclared.
    public var resolution: PixelSize?
    /// Frames per second; nil if undeclared.
    public var frameRate: Double?
    /// `VIDEO-RANGE` as written; `SDR` where undeclared.
    public var videoRange: String
    /// `HDCP-LEVEL` as written; nil if undeclared.
    public var hdcpLevel: String?
    /// `SCORE`; nil if undeclared.
    public var score: Double?
    /// `AUDIO`; nil for audio inside the variant's own segments, or none.
    public var audioGroup: String?
    /// The renditions of ``audioGroup``.
    public var audioOptions: [AudioOption]
    /// `PATHWAY-ID`; nil if undeclared.
    public var pathway: String?
    /// Whether it is known or likely to hold video: by resolution, codecs or a `VIDEO` group.
    public var hasVideo: Bool
    /// The entries of `REQ-VIDEO-LAYOUT`.
    public var requiredVideoLayouts: [String]
    /// `ALLOWED-CPC` with one entry per label: `com.example.drm:PC`.
    public var allowedCPC: [String]

    /// Makes a candidate; what has a default is undeclared.
    public init(
        index: Int, uri: String = "", bandwidth: Double, averageBandwidth: Double? = nil, codecs: [String] = [],
        resolution: PixelSize? = nil, frameRate: Double? = nil, videoRange: String = "SDR", hdcpLevel: String? = nil,
        score: Double? = nil, audioGroup: String? = nil, audioOptions: [AudioOption] = [], pathway: String? = nil,
        hasVideo: Bool = true, requiredVideoLayouts: [String] = [], allowedCPC: [String] = []
    ) {
        self.index = index
        self.uri = uri
        self.bandwidth = bandwidth
        self.averageBandwidth = averageBandwidth
        self.codecs = codecs
        self.resolution = resolution
        self.frameRate = frameRate
        self.videoRange = videoRange
        self.hdcpLevel = hdcpLevel
        self.score = score
        self.audioGroup = audioGroup
        self.audioOptions = audioOptions
        self.pathway = pathway
        self.hasVideo = hasVideo
        self.requiredVideoLayouts = requiredVideoLayouts
        self.allowedCPC = allowedCPC
    }
}

extension Collection<VariantCandidate> {
    /// The candidates from worst to best: by `SCORE` when every one has it, else by `BANDWIDTH`; equals in playlist order.
    func sortedByQuality() -> [VariantCandidate] {
        let useScore = allSatisfy { $0.score != nil }
        let isBefore = { (left: VariantCandidate, right: VariantCandidate) in
            let (low, high) = useScore ? (left.score ?? 0, right.score ?? 0) : (left.bandwidth, right.bandwidth)
            return low != high ? low < high : left.index < right.index
        }
        // Mostly they are in order, and sorting costs more than a look.
        let isSorted = zip(self, dropFirst()).allSatisfy { !isBefore($1, $0) }
        return isSorted ? Array(self) : sorted(by: isBefore)
    }

    /// The one that costs least, the first of equals.
    var lowestBandwidth: VariantCandidate? {
        self.min { $0.bandwidth != $1.bandwidth ? $0.bandwidth < $1.bandwidth : $0.index < $1.index }
    }
}
