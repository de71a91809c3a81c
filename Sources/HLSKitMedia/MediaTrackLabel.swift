/// The description of a track for the user, as a playlist or a file declares it.
package struct MediaTrackLabel: Sendable, Hashable {
    private static let maximumNameLength = 500

    package var name: String?
    package var isDefault = false
    /// Whether these are subtitles for foreign dialogue only.
    package var isForced = false
    /// Whether the subtitles also describe non-speech audio for viewers who cannot hear it.
    package var describesAudio = false
    /// Whether the audio describes the video for viewers who cannot see it.
    package var describesVideo = false

    package init() {}

    /// Returns a name that a file declares, shortened, or nil if it is empty.
    package static func name(_ text: String?) -> String? {
        guard let text, text.contains(where: { !$0.isWhitespace }) else { return nil }
        return String(text.unicodeScalars.prefix(maximumNameLength))
    }

    /// Reads the name and the roles of a track from its user data. Invalid data is skipped.
    ///
    /// Source: QuickTime File Format, "User Data Text Strings"; ISO/IEC 14496-12 §8.10.4; ISO/IEC 23009-1 §5.8.5.5.
    mutating func read(_ userData: BoxReader) {
        var reader = userData
        while var child = try? reader.nextBox() {
            switch child.type {
            case "name": name = Self.name(child.payload.readString())
            case "kind":
                guard (try? child.payload.readVersionAndFlags()) != nil,
                    child.payload.readString() == "urn:mpeg:dash:role:2011"
                else { continue }
                switch child.payload.readString() {
                case "caption": describesAudio = true
                case "description": describesVideo = true
                case "forced-subtitle": isForced = true
                default: break
                }
            default: break
            }
        }
    }
}
