import HLSKitMedia
import HLSKitTime

/// The audio in a file, which overlapping audio must not repeat.
struct WrittenAudio {
    /// A larger jump back of audio is not an overlap.
    private static let maximumOverlap = MediaTime(value: 2, timescale: 1)

    private var ends: [Int: MediaTime] = [:]

    /// Whether more than half of an audio sample is before the end of the written audio. Otherwise, the sample is noted
    /// as written.
    ///
    /// Streams are joined where their video is cut. The audio of one part extends past the cut, and the audio of the
    /// next may begin before it. Times must increase, and duplicate audio would delay everything after it relative to
    /// the video.
    mutating func holds(_ entry: TrackSplice.Entry, _ timescale: Int32) -> Bool {
        let middle = entry.itemTime + MediaTime(value: entry.sample.duration / 2, timescale: timescale)
        if let end = ends[entry.index], middle < end, entry.itemTime > end - Self.maximumOverlap { return true }
        ends[entry.index] = entry.itemTime + MediaTime(value: entry.sample.duration, timescale: timescale)
        return false
    }
}
