import HLSKitLoading

/// Loading beside other players: within a share of what all may hold, and after those of a higher priority.
extension PlaybackEngine {
    /// Playback waits for media, or will before long.
    package var isInNeed: Bool { item != nil && item?.error == nil && timeControl.isInNeed }

    /// What the allowance counts: bytes that are here or on their way, and media ahead.
    package var holding: (byteCount: Int, duration: Duration) {
        (buffer.byteCount + pendingByteCount(), lastVerdict.forwardDuration)
    }

    /// What the allowance leaves; nil where it leaves everything.
    func bounds(_ situation: ForwardBuffer.Situation) -> ForwardBuffer.Bounds? {
        guard allowance != .everything else { return nil }
        var bounds = ForwardBuffer.Bounds(byteCount: allowance.byteCount, duration: allowance.duration)
        if allowance.byteCount != nil {
            bounds.pendingByteCount = pendingByteCount()
            bounds.nextByteCount = item?.largestNextByteCount(situation) ?? situation.nextSegmentByteCount
        }
        if allowance.isLimited {
            for id in LaneID.allCases {
                bounds.pendingDurations[id.bufferTrack] = item?.lanes[id]?.segments.pendingDuration ?? .zero
            }
        }
        // Others go first. Not while this player waits itself: it would do so for as long as they need.
        if allowance.yields, !timeControl.isWaiting {
            bounds.reserve = allowance.reserve(
                situation, throughput: loading.estimatedBitsPerSecond(at: now), rate: machine.rate)
        }
        return bounds
    }

    /// Whether a segment may be requested beside those that are on their way.
    func allowsBeside(_ situation: LoadScheduler.Situation, endingAt end: Duration) -> Bool {
        guard allowance != .everything else { return true }
        return allowance.allowsBeside(
            situation, held: buffer.byteCountAhead(self.situation()), ahead: end - playhead)
    }

    /// Media of a segment that is read on that may be held; nil for as much as without other players.
    func limitOfReading(_ flight: SegmentInFlight) -> Duration? {
        // Who waits may need all of it.
        guard allowance.isLimited, !timeControl.isWaiting, let end = flight.demuxedUpTo else { return nil }
        return allowance.limitOfReading(
            demuxed: end - flight.job.start, byteCount: loading.receivedByteCount(of: flight))
    }
}
