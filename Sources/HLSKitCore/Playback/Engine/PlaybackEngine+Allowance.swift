import HLSPlaylist

/// Loading beside other players: within a share of what all may hold, and after those of a higher priority.
extension PlaybackEngine {
    /// Who has so much media to play lets others go first, at the natural speed. A segment is loaded in it even where
    /// the link is shared.
    private static let reserve = Duration.seconds(10)

    /// Playback waits for media, or will before long.
    var isInNeed: Bool {
        guard item != nil, item?.error == nil, let buffer = machine.buffer else { return false }
        switch machine.status {
        case .paused: return false
        case .waitingToPlayAtSpecifiedRate:
            return [.toMinimizeStalls, .evaluatingBufferingRate].contains(machine.reasonForWaitingToPlay)
        case .playing: return !buffer.isLikelyToKeepUp && !buffer.isFull
        }
    }

    /// Others go first. Not while this player waits itself: it would do so for as long as they need.
    private var isYielding: Bool { allowance.yields && machine.status != .waitingToPlayAtSpecifiedRate }

    /// What the allowance counts: bytes that are here or on their way, and media ahead.
    var holding: (byteCount: Int, duration: Duration) {
        (buffer.byteCount + pendingByteCount(), lastVerdict.forwardDuration)
    }

    /// What the allowance leaves; nil where it leaves everything.
    func bounds(_ situation: ForwardBuffer.Situation) -> ForwardBuffer.Bounds? {
        guard allowance != .everything else { return nil }
        var bounds = ForwardBuffer.Bounds(byteCount: allowance.byteCount, duration: allowance.duration)
        if allowance.byteCount != nil {
            bounds.pendingByteCount = pendingByteCount()
            bounds.nextByteCount = largestNextByteCount(situation)
        }
        if allowance.isLimited {
            for id in LaneID.allCases { bounds.pendingDurations[id.bufferTrack] = pendingDuration(in: id) }
        }
        if isYielding { bounds.reserve = reserve(situation) }
        return bounds
    }

    /// Media of segments that are on their way, or wait to be read.
    private func pendingDuration(in id: LaneID) -> Duration {
        item?.lanes[id]?.segments.reduce(.zero) { sum, flight in
            let end = flight.job.start + flight.job.duration
            return sum + max(.zero, end - (flight.demuxedUpTo ?? flight.job.start))
        } ?? .zero
    }

    /// Media to play in the meantime: what comes next is loaded in half of it at half of the speed.
    private func reserve(_ situation: ForwardBuffer.Situation) -> Duration {
        var seconds = max(
            Self.reserve.seconds, (situation.startThreshold + situation.nextSegmentDuration).seconds)
        if let throughput = loading.estimatedBitsPerSecond(at: now), throughput > 0 {
            seconds = max(seconds, min(4 * 8 * Double(situation.nextSegmentByteCount) / throughput, 86_400))
        }
        return .seconds(seconds * Double(max(1, abs(machine.rate))))
    }

    /// What the next segment has at most, as far as that is told: an average is exceeded by every other segment.
    private func largestNextByteCount(_ situation: ForwardBuffer.Situation) -> Int {
        guard let lane = item?.lanes[.main], let tracker = lane.tracker, let index = lane.nextIndex, item?.trick == nil
        else { return situation.nextSegmentByteCount }
        if let told = SizeTellingPlaylist.byteCount(of: tracker.playlist.segments[index]) { return told }
        let peak = Double(item?.variant?.bandwidth ?? 0) * situation.nextSegmentDuration.seconds / 8
        return max(situation.nextSegmentByteCount, Int(min(peak, 1e15)))
    }

    /// Whether a segment may be requested beside those that are on their way.
    func allowsBeside(_ situation: LoadScheduler.Situation, endingAt end: Duration) -> Bool {
        guard allowance != .everything else { return true }
        guard !allowance.yields else { return false }
        let held = buffer.byteCountAhead(self.situation())
        if let limit = allowance.byteCount, limit - held < situation.pendingByteCount + situation.nextByteCount {
            return false
        }
        return allowance.duration.map { end - playhead <= $0 } ?? true
    }

    // MARK: Long segments

    /// Media of a segment that is read on that may be held; nil for as much as without other players.
    func limitOfReading(_ flight: SegmentInFlight) -> Duration? {
        // Who waits may need all of it.
        guard allowance.isLimited, machine.status != .waitingToPlayAtSpecifiedRate, let end = flight.demuxedUpTo
        else { return nil }
        var limit = allowance.duration ?? .seconds(86_400)
        let demuxed = (end - flight.job.start).seconds
        if let bytes = allowance.byteCount, demuxed > 0 {
            let perSecond = Double(loading.receivedByteCount(of: flight)) / demuxed
            if perSecond > 0 { limit = min(limit, .seconds(min(Double(bytes) / perSecond, 86_400))) }
        }
        return max(limit, Self.reserve)
    }
}
