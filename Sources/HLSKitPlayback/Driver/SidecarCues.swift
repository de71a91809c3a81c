import HLSKitCaptions
import HLSKitSelection
import HLSKitTime

/// Which captions of the program were given to the schedule of cues.
struct SidecarCues: Sendable {
    private var given: SidecarCaptions?
    /// Where playing goes on, after a jump.
    private var start: Duration?

    /// Some were given, and none was forgotten since.
    var isGiven: Bool { given != nil }

    /// Other captions than those that were given are selected: those leave.
    func isReplaced(by selected: SidecarCaptions?) -> Bool { given != nil && given != selected }

    /// Those that are to be given now, in the order of their starts: none where they were given already.
    ///
    /// - Parameters:
    ///   - selected: nil where the captions are the stream's, or none.
    ///   - now: captions that are over by then are left out.
    mutating func take(_ selected: SidecarCaptions?, at now: Duration) -> [Caption] {
        guard let selected, given == nil else { return [] }
        given = selected
        let first = MediaTime(start ?? now)
        start = nil
        return selected.captions.filter { $0.timeRange.start.isNumeric && !($0.timeRange.end <= first) }
            .sorted { $0.timeRange.start < $1.timeRange.start }
    }

    /// The schedule of cues forgets all.
    ///
    /// - Parameter time: where playing goes on.
    mutating func forget(from time: Duration) {
        given = nil
        start = time
    }
}
