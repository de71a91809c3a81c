import HLSKitCore

/// Frames to be displayed, in the order of their arrival.
struct FrameQueue<Frame: Sendable>: Sendable {
    struct Entry: Sendable {
        var frame: Frame
        var itemTime: MediaTime
        /// The display time, on the player's clock.
        var due: HostTime
        var source: Int
    }

    /// More than 200 ms at 120 frames per second. If the queue is full, the oldest frame is dropped.
    static var capacity: Int { 32 }

    private var entries: [Entry] = []
    /// Frames that were never displayed because the next one was due too.
    private(set) var skippedCount = 0

    mutating func add(_ entry: Entry) {
        entries.append(entry)
        guard entries.count > Self.capacity else { return }
        entries.removeFirst()
        skippedCount += 1
    }

    /// Removes all frames that are due and returns the newest one, or `nil` if none is due.
    mutating func take(at now: HostTime) -> Entry? {
        guard let index = entries.lastIndex(where: { $0.due <= now }) else { return nil }
        let entry = entries[index]
        entries.removeFirst(index + 1)
        skippedCount += index
        return entry
    }

    var next: Entry? { entries.first }
    var nextDue: HostTime? { next?.due }

    /// Removes the frames of an item, because its time has jumped.
    mutating func removeAll(of source: Int) { entries.removeAll { $0.source == source } }
}
