/// Counts what happens to an item, for ``PlaybackStatistics``. What was waited for is counted by ``WaitingTimes``.
struct PlaybackTally: Sendable {
    /// Without what is known elsewhere.
    private(set) var counts = PlaybackStatistics()
    private(set) var lowLatency = LowLatencyTally()

    /// A resource is asked for.
    mutating func request() { counts.numberOfRequests += 1 }

    /// Bytes have come that were not in the cache.
    mutating func receive(_ byteCount: Int) { counts.receivedByteCount += byteCount }

    /// A segment has come whole.
    mutating func loadSegment() { counts.numberOfSegments += 1 }

    /// Segments of the variant could not be had, or were missed.
    mutating func skip(_ count: Int = 1, duration: Duration) {
        counts.numberOfSkippedSegments += count
        counts.skippedDuration += duration
    }

    /// Another variant is loaded than before.
    mutating func switchVariant() { counts.numberOfVariantSwitches += 1 }

    /// A download was ended for a smaller one.
    mutating func abandon(byteCount: Int) {
        counts.numberOfAbandonedDownloads += 1
        counts.abandonedByteCount += byteCount
    }

    /// A part has come whole.
    mutating func loadPart() { lowLatency.partCount += 1 }

    /// A request for a playlist was held, and brought what was awaited.
    mutating func holdReload() { lowLatency.blockingReloadCount += 1 }

    /// A playlist has come without what was known.
    mutating func updateByDelta() { lowLatency.deltaUpdateCount += 1 }

    /// What was hinted at was asked for, and is over.
    ///
    /// - Parameter isUsed: it became a part or an initialization section.
    mutating func endHint(isUsed: Bool) {
        if isUsed { lowLatency.usedHintCount += 1 } else { lowLatency.wastedHintCount += 1 }
    }

    /// The buffer ran empty while playing.
    mutating func stall() { counts.numberOfStalls += 1 }
}
