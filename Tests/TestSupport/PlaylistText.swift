package import HLSKitPlaylist

package struct PlaylistText {
    package var targetDuration = 4
    package var mediaSequence = 0
    package var discontinuitySequence: Int?
    /// Lines between the header and the first segment.
    package var header: [String] = []
    package var segments: [Segment] = []
    package var isEnded = false

    package init(
        targetDuration: Int = 4, mediaSequence: Int = 0, discontinuitySequence: Int? = nil, header: [String] = [],
        segments: [Segment] = [], isEnded: Bool = false
    ) {
        self.targetDuration = targetDuration
        self.mediaSequence = mediaSequence
        self.discontinuitySequence = discontinuitySequence
        self.header = header
        self.segments = segments
        self.isEnded = isEnded
    }

    package struct Segment: ExpressibleByStringLiteral {
        var uri: String
        package var duration = "4"
        /// Lines before `EXTINF`.
        package var tags: [String] = []

        package init(_ uri: String, duration: String = "4", tags: [String] = []) {
            self.uri = uri
            self.duration = duration
            self.tags = tags
        }

        package init(stringLiteral value: String) {
            uri = value
        }
    }

    /// Returns `count` segments of the target duration, named after their media sequence numbers (`s7.ts`).
    package static func numbered(
        _ sequence: Int, count: Int, targetDuration: Int = 4, prefix: String = "s", isEnded: Bool = false
    ) -> Self {
        let segments = (sequence..<sequence + count).map { Segment("\(prefix)\($0).ts", duration: "\(targetDuration)") }
        return Self(targetDuration: targetDuration, mediaSequence: sequence, segments: segments, isEnded: isEnded)
    }

    package var text: String {
        var lines = ["#EXTM3U", "#EXT-X-VERSION:7", "#EXT-X-TARGETDURATION:\(targetDuration)"]
        lines.append("#EXT-X-MEDIA-SEQUENCE:\(mediaSequence)")
        if let discontinuitySequence { lines.append("#EXT-X-DISCONTINUITY-SEQUENCE:\(discontinuitySequence)") }
        lines += header
        for segment in segments { lines += segment.tags + ["#EXTINF:\(segment.duration),", segment.uri] }
        if isEnded { lines.append("#EXT-X-ENDLIST") }
        return lines.joined(separator: "\n") + "\n"
    }

    package func parsed() throws -> MediaPlaylist {
        try MediaPlaylist(parsing: Array(text.utf8), url: "https://host/live.m3u8")
    }
}
