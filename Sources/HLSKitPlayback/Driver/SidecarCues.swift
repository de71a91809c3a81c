import HLSKitCaptions
import HLSKitSelection
import HLSKitTime

/// Tracks which captions of the app were added to the cue schedule.
struct SidecarCues: Sendable {
    private var given: SidecarCaptions?
    /// The position where playback continues after a jump.
    private var start: Duration?

    var isGiven: Bool { given != nil }

    /// Whether captions other than the added ones are selected, so that those must be removed.
    func isReplaced(by selected: SidecarCaptions?) -> Bool { given != nil && given != selected }

    /// Returns the captions to add now, ordered by start, or none if they were already added.
    ///
    /// - Parameters:
    ///   - selected: The selected captions, or `nil` if the stream's captions or none are selected.
    ///   - now: The current time. Captions that have already ended are skipped.
    mutating func take(_ selected: SidecarCaptions?, at now: Duration) -> [Caption] {
        guard let selected, given == nil else { return [] }
        given = selected
        let first = MediaTime(start ?? now)
        start = nil
        return selected.captions.filter { $0.timeRange.start.isNumeric && !($0.timeRange.end <= first) }
            .sorted { $0.timeRange.start < $1.timeRange.start }
    }

    /// Called when the cue schedule drops all cues.
    ///
    /// - Parameter time: The position where playback continues.
    mutating func forget(from time: Duration) {
        given = nil
        start = time
    }
}
