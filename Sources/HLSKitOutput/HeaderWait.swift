package import HLSKitMedia
import HLSKitTime

/// A writer whose files name their tracks at the start, so that it waits for tracks that may still begin.
package protocol TrackAwaitingWriter: MediaWriter {
    /// Sets the kinds of media that the item has or may have. Does not block.
    func awaitTracks(of types: Set<MediaKind>)
}

/// Decides how long the start of a file is kept in memory while its tracks are incomplete.
struct HeaderWait {
    /// The number of samples, more than 20 s, after which the header is written without tracks that are still unknown.
    private static let maximumSampleCount = 2000
    /// The amount of media after which a track that has not begun is no longer awaited.
    private static let patience = MediaTime(value: 10, timescale: 1)
    private static let maximumByteCount = 64 << 20

    private var sampleCount = 0
    private var byteCount = 0
    private var range: (first: MediaTime, last: MediaTime)?

    mutating func add(_ entry: TrackSplice.Entry) {
        sampleCount += 1
        byteCount += entry.sample.data.count
        guard let range else {
            range = (entry.itemTime, entry.itemTime)
            return
        }
        self.range = (min(range.first, entry.itemTime), max(range.last, entry.itemTime))
    }

    /// Whether to write the header.
    ///
    /// - Parameters:
    ///   - isComplete: Whether everything about the tracks that have begun is known.
    ///   - absent: The awaited kinds of media that have not begun.
    func isOver(isComplete: Bool, absent: Set<MediaKind>) -> Bool {
        if sampleCount >= Self.maximumSampleCount { return true }
        return isComplete && (absent.isEmpty || hasLostPatience)
    }

    private var hasLostPatience: Bool {
        byteCount >= Self.maximumByteCount || range.map { $0.last - $0.first >= Self.patience } ?? false
    }
}
