import HLSKitCore

/// Plays one or more streams in a row, also several times, into the same outputs.
struct PassQueue {
    private static let queuedCount = 3

    private let streams: [PlayerItem]
    private var items: [PlayerItem]
    private let output: ContinuedOutput
    private let writers: [any MediaWriter]
    let count: Int
    private var madeCount = 1
    private var finishedCount = 0
    /// The item time at which a pass starts, or `nil` for its first media.
    var start: MediaTime?
    private let willQueue: (PlayerItem) -> Void

    /// - Parameters:
    ///   - item: The first stream.
    ///   - following: The streams after it.
    ///   - passCount: How often all of them are played.
    init(
        item: PlayerItem, following: [PlayerItem] = [], writers: [any MediaWriter], passCount: Int,
        willQueue: @escaping (PlayerItem) -> Void = { _ in }
    ) {
        streams = [item] + following
        items = [item]
        self.willQueue = willQueue
        willQueue(item)
        self.writers = writers
        count = streams.count * passCount
        output = ContinuedOutput(writers)
    }

    func addWriters(to item: PlayerItem) {
        for writer in count > 1 ? output.nextWriters(startingAt: start) : writers { item.add(writer) }
    }

    mutating func fill(_ player: Player) throws(HLSError) {
        guard let player = player as? QueuePlayer else { return }
        while madeCount < count, madeCount - finishedCount < Self.queuedCount {
            let stream = streams[madeCount % streams.count]
            let item = madeCount < streams.count ? stream : stream.copy()
            addWriters(to: item)
            willQueue(item)
            try player.insert(item)
            items.append(item)
            madeCount += 1
        }
    }

    /// Notes that a pass has ended, and returns `true` for the last one.
    mutating func finishOne() -> Bool {
        finishedCount += 1
        return finishedCount >= count
    }

    var isAtLast: Bool { finishedCount >= count - 1 }

    var accessLogEvents: [AccessLogEvent] { items.flatMap { $0.accessLog?.events ?? [] } }

    var errorLogs: [ErrorLog] { items.compactMap(\.errorLog) }

    var error: HLSError? { items.lazy.compactMap(\.error).first }

    /// The player's state with the sum of all passes' counters.
    func state(of player: Player) -> PlayerState {
        // Use the current item's state, because prepared passes have counters but no position yet.
        let current = player.currentItem ?? (items.indices.contains(finishedCount) ? items[finishedCount] : items.last)
        guard count > 1, let current else { return player.state }
        var state = current.latestState
        // Only the first pass has a startup time.
        state.statistics.startupTime = items.first?.latestState.statistics.startupTime
        for item in items where item !== current {
            let one = item.latestState.statistics
            state.statistics.numberOfStalls += one.numberOfStalls
            state.statistics.stallDuration += one.stallDuration
            state.statistics.receivedByteCount += one.receivedByteCount
            state.statistics.numberOfRequests += one.numberOfRequests
            state.statistics.numberOfSegments += one.numberOfSegments
            state.statistics.numberOfSkippedSegments += one.numberOfSkippedSegments
            state.statistics.skippedDuration += one.skippedDuration
            state.statistics.numberOfVariantSwitches += one.numberOfVariantSwitches
            state.statistics.numberOfDecodedVideoFrames += one.numberOfDecodedVideoFrames
            state.statistics.numberOfDroppedVideoFrames += one.numberOfDroppedVideoFrames
            state.statistics.numberOfDecodedAudioFrames += one.numberOfDecodedAudioFrames
            state.statistics.numberOfDamagedSamples += one.numberOfDamagedSamples
            state.statistics.durationWatched += one.durationWatched
        }
        return state
    }
}
