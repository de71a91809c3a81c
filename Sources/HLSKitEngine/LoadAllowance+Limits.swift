import HLSKitLoading
import HLSKitPlaylist
import HLSKitSelection

/// The limits of an allowance, from what the player holds and wants.
extension LoadAllowance {
    /// Who has so much media to play lets others go first, at the natural speed. A segment is loaded in it even where
    /// the link is shared.
    private static let reserve = Duration.seconds(10)

    /// Media to play in the meantime, while others go first: what comes next is loaded in half of it at half of the speed.
    ///
    /// - Parameters:
    ///   - throughput: bits per second; nil while it is not known.
    ///   - rate: the desired rate.
    func reserve(_ situation: ForwardBuffer.Situation, throughput: Double?, rate: Float) -> Duration {
        var seconds = max(
            Self.reserve.seconds, (situation.startThreshold + situation.nextSegmentDuration).seconds)
        if let throughput, throughput > 0 {
            seconds = max(seconds, min(4 * 8 * Double(situation.nextSegmentByteCount) / throughput, 86_400))
        }
        return .seconds(seconds * Double(max(1, abs(rate))))
    }

    /// Whether a segment may be requested beside those that are on their way.
    ///
    /// - Parameters:
    ///   - held: bytes that are loaded ahead of the playhead.
    ///   - ahead: media from the playhead to the end of the segment.
    func allowsBeside(_ situation: LoadScheduler.Situation, held: @autoclosure () -> Int, ahead: Duration) -> Bool {
        if yields { return false }
        if let byteCount, byteCount - held() < situation.pendingByteCount + situation.nextByteCount { return false }
        return duration.map { ahead <= $0 } ?? true
    }

    /// Media of a segment that is read on that may be held; nil for as much as without other players.
    ///
    /// - Parameters:
    ///   - demuxed: media that was read of the segment.
    ///   - byteCount: the bytes that it was read from.
    func limitOfReading(demuxed: Duration, byteCount received: Int) -> Duration? {
        guard isLimited else { return nil }
        var limit = duration ?? .seconds(86_400)
        let seconds = demuxed.seconds
        if let byteCount, seconds > 0 {
            let perSecond = Double(received) / seconds
            if perSecond > 0 { limit = min(limit, .seconds(min(Double(byteCount) / perSecond, 86_400))) }
        }
        return max(limit, Self.reserve)
    }
}

extension SegmentWindow {
    /// Media of segments that are on their way, or wait to be read.
    var pendingDuration: Duration {
        reduce(.zero) { sum, flight in
            let end = flight.job.start + flight.job.duration
            return sum + Swift.max(.zero, end - (flight.demuxedUpTo ?? flight.job.start))
        }
    }
}

extension ItemState {
    /// What the next segment has at most, as far as that is told: an average is exceeded by every other segment.
    func largestNextByteCount(_ situation: ForwardBuffer.Situation) -> Int {
        guard let lane = lanes[.main], let tracker = lane.tracker, let index = lane.nextIndex, trick == nil
        else { return situation.nextSegmentByteCount }
        if let told = SizeTellingPlaylist.byteCount(of: tracker.playlist.segments[index]) { return told }
        let peak = Double(variant?.bandwidth ?? 0) * situation.nextSegmentDuration.seconds / 8
        return max(situation.nextSegmentByteCount, Int(min(peak, 1e15)))
    }
}
