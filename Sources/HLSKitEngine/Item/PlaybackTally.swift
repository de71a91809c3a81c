/// Counts the events of an item for ``PlaybackStatistics``. ``TimeControl/WaitingTimes`` counts waiting times.
struct PlaybackTally: Sendable {
    /// The counts, without values that other components track.
    private(set) var counts = PlaybackStatistics()
    private(set) var lowLatency = LowLatencyTally()

    mutating func request() { counts.numberOfRequests += 1 }

    /// Counts bytes that were not in the cache.
    mutating func receive(_ byteCount: Int) { counts.receivedByteCount += byteCount }

    /// Counts a completely loaded segment.
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

    /// Counts a completely loaded part.
    mutating func loadPart() { lowLatency.partCount += 1 }

    /// Counts a blocking playlist request that returned the expected update.
    mutating func holdReload() { lowLatency.blockingReloadCount += 1 }

    /// Counts a delta update of a playlist.
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
    /// The use of low-latency features in an item.
    package struct LowLatencyTally: Sendable, Hashable {
        package var partCount = 0
        /// The number of blocking playlist requests that returned the expected content.
        package var blockingReloadCount = 0
        /// The number of delta updates that were merged into the known playlist.
        package var deltaUpdateCount = 0
        /// The number of preload hints that became parts or initialization sections.
        package var usedHintCount = 0
        /// The number of preload hints that were requested and not used.
        package var wastedHintCount = 0

        package init() {}
    }
}
