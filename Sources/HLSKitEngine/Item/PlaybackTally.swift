/// Counts the events of an item for ``PlaybackStatistics``. ``TimeControl/WaitingTimes`` counts waiting times.
struct PlaybackTally: Sendable {
    /// The counts, without values that other components track.
    private(set) var counts = PlaybackStatistics()
    private(set) var lowLatency = LowLatencyTally()

    mutating func request() { counts.numberOfRequests += 1 }

    /// Counts bytes that were not in the cache.
    mutating func receive(_ byteCount: Int) { counts.receivedByteCount += byteCount }

    mutating func loadSegment() { counts.numberOfSegments += 1 }

    /// Counts segments of the variant that were missed or could not be loaded.
    mutating func skip(_ count: Int = 1, duration: Duration) {
        counts.numberOfSkippedSegments += count
        counts.skippedDuration += duration
    }

    mutating func switchVariant() { counts.numberOfVariantSwitches += 1 }

    /// Counts a download that was cancelled in favor of a smaller one.
    mutating func abandon(byteCount: Int) {
        counts.numberOfAbandonedDownloads += 1
        counts.abandonedByteCount += byteCount
    }

    mutating func loadPart() { lowLatency.partCount += 1 }

    mutating func holdReload() { lowLatency.blockingReloadCount += 1 }

    mutating func updateByDelta() { lowLatency.deltaUpdateCount += 1 }

    /// Counts a requested hint that has ended.
    ///
    /// - Parameter isUsed: Whether it became a part or an initialization section.
    mutating func endHint(isUsed: Bool) {
        if isUsed { lowLatency.usedHintCount += 1 } else { lowLatency.wastedHintCount += 1 }
    }

    mutating func stall() { counts.numberOfStalls += 1 }
}

extension PlaybackTally {
    package struct LowLatencyTally: Sendable, Hashable {
        package var partCount = 0
        /// The number of blocking playlist requests that returned the expected content.
        package var blockingReloadCount = 0
        package var deltaUpdateCount = 0
        /// The number of preload hints that became parts or initialization sections.
        package var usedHintCount = 0
        package var wastedHintCount = 0

        package init() {}
    }
}
