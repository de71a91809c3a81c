import HLSKitLoading
import HLSKitSelection
import HLSKitTime

extension PlayerState: CustomStringConvertible {
    /// A line of text with the player's status, position and statistics.
    ///
    /// An example is `playing at 5.0 s, 31.0 s ahead, 720p 2400k, network 9120k, no stall, 5.2 MB held`. The wording
    /// may change.
    public var description: String {
        var words = [status + (currentItemID == nil ? "" : " at \(PlayerEvent.text(currentTime.seconds, places: 1)) s")]
        if let range = loadedTimeRanges.first(where: { $0.contains(currentTime) }) {
            words.append("\(PlayerEvent.text((range.end - currentTime).seconds, places: 1)) s ahead")
        }
        if let liveOffset { words.append("\(PlayerEvent.text(liveOffset.seconds, places: 1)) s behind the edge") }
        // A directly opened media playlist declares nothing about its variant.
        if let variant, variant.bandwidth > 0 || variant.resolution != nil {
            words.append(PlayerEvent.Kind.text(variant))
        }
        if let rate = statistics.throughputEstimate {
            words.append("network \(PlayerEvent.text(rate / 1000, places: 0))k")
        }
        let stalls = statistics.numberOfStalls
        words.append(stalls == 0 ? "no stall" : stalls == 1 ? "1 stall" : "\(stalls) stalls")
        if statistics.numberOfSkippedSegments > 0 { words.append("\(statistics.numberOfSkippedSegments) skipped") }
        if statistics.bufferedByteCount > 0 {
            words.append("\(PlayerEvent.text(Double(statistics.bufferedByteCount) / 1e6, places: 1)) MB held")
        }
        return words.joined(separator: ", ")
    }

    private var status: String {
        if itemStatus == .failed { return "failed" }
        switch timeControlStatus {
        case .paused: return "paused"
        case .playing: return "playing"
        case .waitingToPlayAtSpecifiedRate: return "waiting" + (reasonForWaitingToPlay.map { " \($0.words)" } ?? "")
        }
    }
}
