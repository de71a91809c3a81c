import HLSKitLoading

/// Loading next to other players: within a share of the common limit, and after players of a higher priority.
extension PlaybackEngine {
    /// Whether playback waits for media, or will soon.
    package var isInNeed: Bool { item != nil && item?.error == nil && timeControl.isInNeed }

    /// The values that count towards the allowance: bytes received or requested, and media ahead of the playhead.
    package var holding: (byteCount: Int, duration: Duration) {
        (buffer.byteCount + pendingByteCount(), lastVerdict.forwardDuration)
    }

    /// The bounds that the allowance sets, or `nil` if it sets none.
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
        // Players of a higher priority load first. A waiting player ignores this, because it would otherwise wait as
        // long as they load.
        if allowance.yields, !timeControl.isWaiting {
            bounds.reserve = allowance.reserve(
                situation, throughput: loading.estimatedBitsPerSecond(at: now), rate: machine.rate)
        }
        return bounds
    }

    /// Whether a segment may be requested in parallel with current requests.
    func allowsBeside(_ situation: LoadScheduler.Situation, endingAt end: Duration) -> Bool {
        guard allowance != .everything else { return true }
        return allowance.allowsBeside(
            situation, held: buffer.byteCountAhead(self.situation()), ahead: end - playhead)
    }

    /// The media duration up to which a segment may be read, or `nil` if other players impose no limit.
    func limitOfReading(_ flight: SegmentInFlight) -> Duration? {
        // A waiting player may need the whole segment.
        guard allowance.isLimited, !timeControl.isWaiting, let end = flight.demuxedUpTo else { return nil }
        return allowance.limitOfReading(
            demuxed: end - flight.job.start, byteCount: loading.receivedByteCount(of: flight))
    }
}
