import HLSKitMedia
import HLSKitTime

/// The audio in a file, which overlapping audio must not repeat.
///
/// Streams are joined where their video is cut. The audio of one part extends past the cut, and the audio of the next may
/// begin before it. Times must increase, and duplicate audio would delay everything after it relative to the video.
///
/// In some streams, timestamps of audio are always some milliseconds early or late, and nothing is repeated. There, time
/// is counted by the lengths of the samples, which follows the timestamps slowly.
struct WrittenAudio {
    private struct Track {
        var end: Double
        /// The recent error of timestamps, in seconds.
        var error = 0.0
    }

    /// A larger jump back of audio is not an overlap.
    private static let maximumOverlap = 2.0
    /// Larger distances are not errors of timestamps.
    private static let maximumError = 0.1
    /// The largest overlap that errors explain, beyond half a sample.
    private static let maximumTolerance = 0.05
    private static let exactness = 0.002
    /// The part of the error that remains after each sample, and the part of a distance that a sample makes up for.
    private static let (decay, followed) = (0.98, 1.0 / 1024)

    private var tracks: [Int: Track] = [:]

    /// Whether more than half of an audio sample repeats written audio. Otherwise, the sample is noted as written.
    mutating func holds(_ entry: TrackSplice.Entry, _ timescale: Int32) -> Bool {
        let (start, length) = (entry.itemTime.seconds, Double(entry.sample.duration) / Double(max(1, timescale)))
        var track = tracks[entry.index] ?? Track(end: start)
        let overlap = track.end - start
        let allowed = length / 2 + min(2 * track.error, Self.maximumTolerance)
        if overlap > allowed, overlap < Self.maximumOverlap { return true }
        let isExact = track.error < Self.exactness
        let isError = abs(overlap) < Self.maximumError
        track.end = isExact || !isError ? start + length : track.end + length - overlap * Self.followed
        track.error = max(track.error * Self.decay, isError ? abs(overlap) : 0)
        tracks[entry.index] = track
        return false
    }
}
