import HLSKitCore

/// Frames that wait for their moment on the screen, in the order in which they came.
struct PictureQueue<Picture: Sendable>: Sendable {
    struct Entry: Sendable {
        var picture: Picture
        var itemTime: MediaTime
        /// When it is to be seen, on the player's clock.
        var due: HostTime
        /// Which item it is of.
        var source: Int
    }

    /// More than 200 ms at 120 frames a second: what is beyond is lost, the oldest first.
    static var capacity: Int { 32 }

    private var entries: [Entry] = []
    /// Frames that were never seen, because the next one was due, too.
    private(set) var skippedCount = 0

    mutating func add(_ entry: Entry) {
        entries.append(entry)
        guard entries.count > Self.capacity else { return }
        entries.removeFirst()
        skippedCount += 1
    }

    /// The newest frame that is due at a moment; those before it are dropped. nil if none is.
    mutating func take(at now: HostTime) -> Entry? {
        guard let index = entries.lastIndex(where: { $0.due <= now }) else { return nil }
        let entry = entries[index]
        entries.removeFirst(index + 1)
        skippedCount += index
        return entry
    }

    var next: Entry? { entries.first }
    /// When the next one is due.
    var nextDue: HostTime? { next?.due }

    /// Forgets the frames of an item: time has jumped.
    mutating func removeAll(of source: Int) { entries.removeAll { $0.source == source } }
}
