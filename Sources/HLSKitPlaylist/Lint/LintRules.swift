// The rules of checks that exceed parsing.
extension PlaylistRule {
    /// A feature needs a higher `EXT-X-VERSION`.
    package static let version = PlaylistRule(rawValue: "version")
    /// `HOLD-BACK` or its relatives are too small.
    package static let holdBack = PlaylistRule(rawValue: "hold-back")
    /// A part is longer than `PART-TARGET`.
    package static let partTarget = PlaylistRule(rawValue: "part-target")
    /// `CODECS` and `RESOLUTION` contradict each other.
    package static let codecs = PlaylistRule(rawValue: "codecs")
    /// Renditions of a group, or groups of a type, contradict each other.
    package static let renditionGroup = PlaylistRule(rawValue: "rendition-group")
    package static let unusedGroup = PlaylistRule(rawValue: "unused-group")

    /// A date range schedules an interstitial that cannot be played, or cannot be played as intended.
    package static let interstitial = PlaylistRule(rawValue: "interstitial")

    // Rules about several playlists together.
    /// A media playlist cannot be loaded or is not valid.
    package static let mediaPlaylist = PlaylistRule(rawValue: "media-playlist")
    package static let segment = PlaylistRule(rawValue: "segment")
    /// A steering manifest cannot be loaded, is not valid, or does not fit the playlist.
    package static let steeringManifest = PlaylistRule(rawValue: "steering-manifest")
    /// A check was omitted because of limited time or size.
    package static let notChecked = PlaylistRule(rawValue: "not-checked")
    package static let iFramesOnly = PlaylistRule(rawValue: "i-frames-only")
    package static let alignedTargetDuration = PlaylistRule(rawValue: "aligned-targetduration")
    package static let alignedMediaSequence = PlaylistRule(rawValue: "aligned-media-sequence")
    package static let alignedDiscontinuities = PlaylistRule(rawValue: "aligned-discontinuities")
    package static let alignedDuration = PlaylistRule(rawValue: "aligned-duration")
    package static let alignedType = PlaylistRule(rawValue: "aligned-type")
    package static let alignedDates = PlaylistRule(rawValue: "aligned-dates")
    /// `BANDWIDTH` is not the measured peak.
    package static let bandwidth = PlaylistRule(rawValue: "bandwidth")
    /// `AVERAGE-BANDWIDTH` is not the measured average.
    package static let averageBandwidth = PlaylistRule(rawValue: "average-bandwidth")

    // Apple's HLS authoring specification, by the numbers of its rules.
    /// The peak bit rate is more than twice the average.
    package static let applePeak = PlaylistRule(rawValue: "apple-1.30-peak")
    package static let appleLiveDates = PlaylistRule(rawValue: "apple-8.4-program-date-time")
    package static let applePlaylistType = PlaylistRule(rawValue: "apple-8.6-playlist-type")
    package static let appleLanguage = PlaylistRule(rawValue: "apple-8.10-language")
    package static let appleLiveWindow = PlaylistRule(rawValue: "apple-8.11-live-window")
    /// A live playlist has discontinuities but does not count them.
    package static let appleDiscontinuitySequence = PlaylistRule(rawValue: "apple-8.17-discontinuity-sequence")
    package static let appleCodecs = PlaylistRule(rawValue: "apple-9.1-codecs")
    package static let appleResolution = PlaylistRule(rawValue: "apple-9.2-resolution")
    package static let appleIFrameCodecs = PlaylistRule(rawValue: "apple-9.3-i-frame-codecs")
    package static let appleIFrameResolution = PlaylistRule(rawValue: "apple-9.4-i-frame-resolution")
    package static let appleAverageBandwidth = PlaylistRule(rawValue: "apple-9.14-average-bandwidth")
    package static let appleFrameRate = PlaylistRule(rawValue: "apple-9.15-frame-rate")
    /// `VIDEO-RANGE` is missing although not all video is SDR.
    package static let appleVideoRange = PlaylistRule(rawValue: "apple-9.16-video-range")
    /// The content steering tag names no pathway.
    package static let appleSteeringPathway = PlaylistRule(rawValue: "apple-9.18-pathway-id")
    /// Only some of the variants have a `SCORE`.
    package static let appleScore = PlaylistRule(rawValue: "apple-9.19-score")
    /// `PART-HOLD-BACK` should be three part targets.
    package static let applePartHoldBack = PlaylistRule(rawValue: "apple-14.3-part-hold-back")

    /// The number and name of the rule in Apple's HLS authoring specification, or nil for other rules.
    var appleSection: String? {
        guard rawValue.hasPrefix("apple-") else { return nil }
        return "Apple HLS authoring §\(rawValue.dropFirst(6).prefix { $0 != "-" })"
    }

    package var remedy: String { Self.remedies[rawValue] ?? "correct it" }

    private static let remedies: [String: String] = [
        "header": "begin the first line with #EXTM3U", "byte-order-mark": "write UTF-8 without a byte order mark",
        "encoding": "write UTF-8", "control-character": "remove the control characters",
        "white-space": "remove the white space",
        "mixed-kinds": "put media and multivariant playlist tags into separate files",
        "no-kind": "add #EXT-X-TARGETDURATION, or variants", "limit": "divide the playlist",
        "uri-without-tag": "put #EXTINF or #EXT-X-STREAM-INF in front, or # to make it a comment",
        "tag-without-uri": "add the URI line, or remove the tag", "repeated-tag": "keep only one of them",
        "tag-position": "put it in front of the first segment, and end VOD with #EXT-X-ENDLIST",
        "attribute-list": "write NAME=VALUE pairs with commas between them, quotes closed",
        "duplicate-attribute": "keep only one of them", "missing-attribute": "add the attribute",
        "attribute-conflict": "remove one of the two, or make them agree",
        "quoting": "write strings in quotes, and words and numbers without", "number": "write a number in range",
        "hexadecimal": "write 0x and up to 32 hexadecimal digits",
        "date": "write a date as 2024-02-29T12:00:00.000Z",
        "unknown-value": "write a value of the specification, or remove the attribute",
        "extinf": "write #EXTINF:<seconds>,<title>",
        "targetduration": "write #EXT-X-TARGETDURATION as an integer, no less than any rounded EXTINF",
        "sequence-number": "write an integer up to 2^63-1", "byterange": "write <length>@<offset>",
        "undefined-variable": "define it with EXT-X-DEFINE before its use",
        "define": "give each variable one definition that can be resolved",
        "daterange": "repeat the same values in each tag of an ID, or remove them",
        "skip": "send the playlist in full",
    ]
}
