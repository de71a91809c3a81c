import HLSKitMedia
import HLSKitTime

/// Decides which frames at the start of a file can be decoded.
///
/// Frames before the first sync frame depend on earlier ones. So do leading frames, which follow the sync frame of an
/// open group of pictures but are shown before it.
struct FirstFrames: Sendable {
    /// The number of frames before the first sync frame, by track, until that frame arrives.
    private(set) var undecodableCounts: [Int: Int] = [:]
    /// Whether a track has frames, but no sync frame.
    var lacksSync: Bool { !undecodableCounts.isEmpty }
    private var begun: Set<Int> = []
    /// The presentation time of the first sync frame of a track, while its leading frames may follow.
    private var leaders: [Int: MediaTime] = [:]

    mutating func beginFile() {
        begun = []
        leaders = [:]
    }

    /// Returns whether to write a video frame, and the number of frames that were dropped before the first one.
    ///
    /// - Parameters:
    ///   - awaitsSync: Whether frames before the first sync frame are dropped.
    ///   - dropsLeading: Whether leading frames at the start of the file are dropped.
    mutating func take(
        _ entry: TrackSplice.Entry, of track: MediaTrack, awaitsSync: Bool, dropsLeading: Bool
    ) -> (isKept: Bool, droppedCount: Int) {
        let index = entry.index
        guard !begun.contains(index) else { return (!isUndecodableLeading(entry, of: track), 0) }
        guard entry.sample.isSync || !awaitsSync else {
            undecodableCounts[index, default: 0] += 1
            return (false, 0)
        }
        begun.insert(index)
        if dropsLeading, entry.sample.isSync, LeadingFrame.mayFollow(entry.sample, of: track) {
            leaders[index] = entry.itemTime
        }
        return (true, undecodableCounts.removeValue(forKey: index) ?? 0)
    }

    private mutating func isUndecodableLeading(_ entry: TrackSplice.Entry, of track: MediaTrack) -> Bool {
        guard let leader = leaders[entry.index] else { return false }
        guard entry.itemTime < leader else {
            leaders[entry.index] = nil
            return false
        }
        return LeadingFrame.isSkipped(entry.sample, of: track)
    }
}
