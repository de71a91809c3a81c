import HLSKitLoading
import HLSKitPlaylist
import HLSKitSelection
import HLSKitTime

extension LoadAllowance {
    /// The media ahead at natural speed above which a player yields. It covers loading one segment on a shared link.
    private static let reserve = Duration.seconds(10)

    /// Returns the media to play while other players have priority.
    ///
    /// A segment must load within half of it at half of the throughput.
    ///
    /// - Parameter throughput: The throughput in bits per second, or nil while unknown.
    func reserve(_ situation: ForwardBuffer.Situation, throughput: Double?, rate: Float) -> Duration {
        var seconds = max(
            Self.reserve.seconds, (situation.startThreshold + situation.nextSegmentDuration).seconds)
        if let throughput, throughput > 0 {
            seconds = max(seconds, min(4 * 8 * Double(situation.nextSegmentByteCount) / throughput, 86_400))
        }
        return .seconds(seconds * Double(max(1, abs(rate))))
    }

    /// Returns whether a segment may be requested in parallel with segments in flight.
    ///
    /// - Parameters:
    ///   - held: The bytes loaded ahead of the playhead.
    ///   - ahead: The media from the playhead to the end of the segment.
    func allowsAdditional(_ situation: LoadScheduler.Situation, held: @autoclosure () -> Int, ahead: Duration) -> Bool {
        if yields { return false }
        if let byteCount, byteCount - held() < situation.pendingByteCount + situation.nextByteCount { return false }
        return duration.map { ahead <= $0 } ?? true
    }

    /// Returns the amount of media that a segment being read may hold, or nil if nothing limits it.
    ///
    /// - Parameters:
    ///   - demuxed: The media already read from the segment.
    ///   - byteCount: The bytes from which it was read.
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
    var pendingDuration: Duration {
        reduce(.zero) { sum, flight in
            let end = flight.job.start + flight.job.duration
            return sum + Swift.max(.zero, end - (flight.demuxedUpTo ?? flight.job.start))
        }
    }
}

extension ItemState {
    /// Returns the maximum size of the next segment as far as it is known.
    ///
    /// Half of all segments are larger than the average, so the peak bit rate is used.
    func largestNextByteCount(_ situation: ForwardBuffer.Situation) -> Int {
        guard let lane = lanes[.main], let tracker = lane.tracker, let index = lane.nextIndex, trick == nil
        else { return situation.nextSegmentByteCount }
        if let declared = SizedPlaylist.byteCount(of: tracker.playlist.segments[index]) { return declared }
        let peak = Double(variant?.bandwidth ?? 0) * situation.nextSegmentDuration.seconds / 8
        return max(situation.nextSegmentByteCount, Int(min(peak, 1e15)))
    }
}
