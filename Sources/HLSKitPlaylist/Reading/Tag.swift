/// The tags that are read. The raw value is the name without `#`.
enum Tag: String, CaseIterable, Sendable {
    // Basic, and allowed in either kind.
    case extM3U = "EXTM3U"
    case version = "EXT-X-VERSION"
    case independentSegments = "EXT-X-INDEPENDENT-SEGMENTS"
    case start = "EXT-X-START"
    case define = "EXT-X-DEFINE"
    // Media segments.
    case inf = "EXTINF"
    case byteRange = "EXT-X-BYTERANGE"
    case discontinuity = "EXT-X-DISCONTINUITY"
    case key = "EXT-X-KEY"
    case map = "EXT-X-MAP"
    case programDateTime = "EXT-X-PROGRAM-DATE-TIME"
    case gap = "EXT-X-GAP"
    case bitRate = "EXT-X-BITRATE"
    case part = "EXT-X-PART"
    // Markers of breaks, which no standard has.
    case cueOut = "EXT-X-CUE-OUT"
    case cueOutContinued = "EXT-X-CUE-OUT-CONT"
    case cueIn = "EXT-X-CUE-IN"
    case oatcls = "EXT-OATCLS-SCTE35"
    case scte35 = "EXT-X-SCTE35"
    case asset = "EXT-X-ASSET"
    // Media playlists.
    case targetDuration = "EXT-X-TARGETDURATION"
    case mediaSequence = "EXT-X-MEDIA-SEQUENCE"
    case discontinuitySequence = "EXT-X-DISCONTINUITY-SEQUENCE"
    case endList = "EXT-X-ENDLIST"
    case playlistType = "EXT-X-PLAYLIST-TYPE"
    case iFramesOnly = "EXT-X-I-FRAMES-ONLY"
    case partInf = "EXT-X-PART-INF"
    case serverControl = "EXT-X-SERVER-CONTROL"
    case skip = "EXT-X-SKIP"
    case preloadHint = "EXT-X-PRELOAD-HINT"
    case renditionReport = "EXT-X-RENDITION-REPORT"
    case dateRange = "EXT-X-DATERANGE"
    // Multivariant playlists.
    case streamInf = "EXT-X-STREAM-INF"
    case iFrameStreamInf = "EXT-X-I-FRAME-STREAM-INF"
    case media = "EXT-X-MEDIA"
    case sessionData = "EXT-X-SESSION-DATA"
    case sessionKey = "EXT-X-SESSION-KEY"
    case contentSteering = "EXT-X-CONTENT-STEERING"

    /// Finds the tag whose name is exactly the text of a range (rule 3).
    static let table = NameTable<Tag>()

    var kind: Playlist.Kind? {
        switch self {
        case .extM3U, .version, .independentSegments, .start, .define: nil
        // They do not indicate the kind of playlist.
        case _ where isSpliceMarker: nil
        case .streamInf, .iFrameStreamInf, .media, .sessionData, .sessionKey, .contentSteering: .multivariant
        default: .media
        }
    }

    /// Whether the tag only adds to a multivariant playlist. In a media playlist, it does not make the kind ambiguous.
    var isSessionTag: Bool {
        switch self {
        case .sessionData, .sessionKey, .contentSteering: true
        default: false
        }
    }
}
