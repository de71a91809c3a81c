import HLSKitCaptions
import HLSKitEngine
import HLSKitMedia
import HLSKitTime

/// Reads subtitle samples in MP4: WebVTT (`wvtt`), TTML (`stpp`), 3GPP timed text (`tx3g`) and QuickTime's `text`.
///
/// A sample shows its cues only during its own time. The next sample of WebVTT and TTML repeats longer cues.
///
/// Source: ISO/IEC 14496-30 §6, §7; W3C IMSC1; 3GPP TS 26.245.
struct TextSampleReader: Sendable {
    private static let maxDocumentByteCount = 4 << 20
    private static let maxNoteCount = 16

    private var track: MediaTrack?
    private var styles = WebVTTCaptions()
    private var reported: Set<String> = []

    /// Returns the cues of a sample, in track time.
    mutating func read(
        _ sample: MediaSample, of track: MediaTrack, notes: inout [String]
    ) -> [MediaCue] {
        if self.track != track { begin(track) }
        let start = ItemTimeline.duration(sample.pts, track.timescale)
        let end = start + ItemTimeline.duration(max(0, sample.duration), track.timescale)
        var found: [String] = []
        let bytes = sample.data.withUnsafeBytes { $0.count <= Self.maxDocumentByteCount ? [UInt8]($0) : nil }
        guard let bytes else {
            note("subtitles of \(sample.data.count) bytes in one sample", &notes)
            return []
        }
        var cues: [MediaCue] = []
        do {
            switch track.codec {
            case .webVTT: cues = try webVTT(bytes, start, end, &found)
            case .tx3g, .quickTimeText:
                let payload = MP4TextSample(parsing: bytes[...], of: track).payload
                // Empty samples fill the time between subtitles.
                guard !payload.isEmpty else { return [] }
                return [MediaCue(cue: WebVTTCue(start: start, end: end, payload: payload), isWebVTT: false)]
            default: cues = try timedText(bytes, start, end, &found)
            }
        } catch {
            found.append("\(error)")
        }
        for text in found { note(text, &notes) }
        return cues
    }

    private mutating func note(_ text: String, _ notes: inout [String]) {
        if reported.count < Self.maxNoteCount, reported.insert(text).inserted { notes.append(text) }
    }

    /// Reads the header of a `wvtt` track, which is the start of a WebVTT file with its style sheets.
    private mutating func begin(_ track: MediaTrack) {
        self.track = track
        styles = WebVTTCaptions()
        guard track.codec == .webVTT else { return }
        var parser = WebVTTParser()
        var events: [WebVTTEvent] = []
        guard (try? parser.append(track.configuration[...], to: &events)) != nil else { return }
        try? parser.finish(to: &events)
        for case .block(let block) in events { styles.add(block) }
    }

    private func webVTT(
        _ bytes: [UInt8], _ start: Duration, _ end: Duration, _ notes: inout [String]
    ) throws(MediaError) -> [MediaCue] {
        let sample = try WebVTTSample(parsing: bytes[...], start: start, end: end)
        notes += sample.notes
        return sample.cues.map { cue in
            MediaCue(
                cue: cue, styled: styles.isEmpty ? nil : styles.caption(cue, timeRange: MediaTimeRange(start..<end)),
                isCutAtStart: true, isCutAtEnd: true)
        }
    }

    /// Returns the cues of a TTML document, limited to the time of the sample.
    ///
    /// Document times are track times. Some writers count from the start of each sample instead, and their cues would
    /// otherwise never be shown.
    private func timedText(
        _ bytes: [UInt8], _ start: Duration, _ end: Duration, _ notes: inout [String]
    ) throws(CaptionError) -> [MediaCue] {
        let content = try CaptionFileReader(format: .iTunesTimedText).read(bytes)
        notes += content.notes.map(\.text)
        let limit: Duration? = end > start ? end : nil
        var ranges: [(caption: Caption, start: Duration, end: Duration?)] = []
        for caption in content.captions {
            guard let from = caption.timeRange.start.duration else { continue }
            ranges.append((caption, from, caption.timeRange.end.duration))
        }
        func isShown(_ shift: Duration) -> Bool {
            ranges.contains { range in
                (limit.map { range.start + shift < $0 } ?? true) && (range.end.map { $0 + shift > start } ?? true)
            }
        }
        let shift = start > .zero && !isShown(.zero) && isShown(start) ? start : .zero
        return ranges.compactMap { caption, from, to in
            let (from, to) = (from + shift, to.map { $0 + shift })
            let begin = max(from, start)
            guard let finish = [to, limit].compactMap(\.self).min(), finish > begin else { return nil }
            var cue = WebVTTCaptions.cue(of: caption)
            cue.start = begin
            cue.end = finish
            return MediaCue(
                cue: cue, styled: caption, isWebVTT: false, isCutAtStart: from <= start,
                isCutAtEnd: limit.map { limit in to.map { $0 >= limit } ?? true } ?? false)
        }
    }
}
