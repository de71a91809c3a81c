/// The cues shown during one sample of a `wvtt` track.
///
/// Unknown boxes are skipped, and so are cues whose text is longer than ``WebVTTParser/maxBlockByteCount``.
///
/// Source: ISO/IEC 14496-30 §7.
package struct WebVTTSample: Sendable, Hashable {
    /// The cues in the order of the sample, or none if nothing is shown. All have the times of the sample.
    package var cues: [WebVTTCue]
    package var notes: [String]

    private static let maxCueCount = 256

    /// - Parameters:
    ///   - start: The start of the sample on any clock.
    ///   - end: The end of the sample on the same clock, never before its start.
    /// - Throws: An error if boxes exceed the sample.
    package init(parsing bytes: ArraySlice<UInt8>, start: Duration, end: Duration) throws(MediaError) {
        cues = []
        notes = []
        var reader = BoxReader(bytes, offset: 0)
        var textByteCount = 0
        while let box = try reader.nextBox() {
            guard box.type == "vttc" else { continue }  // 'vtte' shows nothing, 'vtta' is a comment
            guard cues.count < Self.maxCueCount else {
                notes.append("more than \(Self.maxCueCount) cues in a sample")
                return
            }
            var cue = WebVTTCue(start: start, end: max(start, end), payload: "")
            var payload = box.payload
            while let part = try payload.nextBox() {
                guard ["iden", "sttg", "payl"].contains(part.type) else { continue }
                textByteCount += part.payload.remaining
                guard textByteCount <= WebVTTParser.maxBlockByteCount else {
                    notes.append("a sample of cues that is too long")
                    return
                }
                let text = Self.text(part.payload.rest)
                switch part.type {
                case "iden": cue.identifier = text
                case "sttg":
                    cue.settings = WebVTTCueSettings(parsing: Substring(text.replacing("\n", with: " ")))
                default: cue.payload = text
                }
            }
            if !cue.payload.isEmpty { cues.append(cue) }
        }
    }

    private static func text(_ bytes: ArraySlice<UInt8>) -> String {
        var text = String.UnicodeScalarView()
        var endsWithReturn = false
        for scalar in String(decoding: bytes, as: UTF8.self).unicodeScalars {
            if scalar == "\r" || (scalar == "\n" && !endsWithReturn) { text.append("\n") }
            if scalar != "\r", scalar != "\n" { text.append(scalar == "\0" ? "\u{fffd}" : scalar) }
            endsWithReturn = scalar == "\r"
        }
        while text.last == "\n" { text.removeLast() }
        return String(text)
    }
}
