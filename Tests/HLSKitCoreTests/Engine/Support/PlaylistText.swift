import HLSKitPlaylist

@testable import HLSKitCore

/// Writes media playlists for tests, in as few words as a case needs.
struct PlaylistText {
    var targetDuration = 4
    var mediaSequence = 0
    var discontinuitySequence: Int?
    /// Lines between the header and the first segment.
    var header: [String] = []
    var segments: [Segment] = []
    var isEnded = false

    struct Segment: ExpressibleByStringLiteral {
        var uri: String
        var duration = "4"
        /// Lines in front of `EXTINF`.
        var tags: [String] = []

        init(_ uri: String, duration: String = "4", tags: [String] = []) {
            self.uri = uri
            self.duration = duration
            self.tags = tags
        }

        init(stringLiteral value: String) {
            uri = value
        }
    }

    /// `count` segments of the target duration, named after their media sequence numbers (`s7.ts`).
    static func numbered(
        _ sequence: Int, count: Int, targetDuration: Int = 4, prefix: String = "s", isEnded: Bool = false
    ) -> Self {
        let segments = (sequence..<sequence + count).map { Segment("\(prefix)\($0).ts", duration: "\(targetDuration)") }
        return Self(targetDuration: targetDuration, mediaSequence: sequence, segments: segments, isEnded: isEnded)
    }

    var text: String {
        var lines = ["#EXTM3U", "#EXT-X-VERSION:7", "#EXT-X-TARGETDURATION:\(targetDuration)"]
        lines.append("#EXT-X-MEDIA-SEQUENCE:\(mediaSequence)")
        if let discontinuitySequence { lines.append("#EXT-X-DISCONTINUITY-SEQUENCE:\(discontinuitySequence)") }
        lines += header
        for segment in segments { lines += segment.tags + ["#EXTINF:\(segment.duration),", segment.uri] }
        if isEnded { lines.append("#EXT-X-ENDLIST") }
        return lines.joined(separator: "\n") + "\n"
    }

    func parsed() throws -> MediaPlaylist {
        try MediaPlaylist(parsing: Array(text.utf8), url: "https://host/live.m3u8")
    }
}
