import HLSKitMedia
import HLSKitTime

/// Finds the place of a change in all tracks of a file.
///
/// Tracks come one by one and not in step: sound may have been of the next part for seconds while pictures are still of the
/// one before. Here each waits until the others are there too, so that a part of the file begins with all of its tracks.
struct TrackSplice {
    /// A sample on its way into a file.
    struct Entry {
        var sample: MediaSample
        var index: Int
        var itemTime: MediaTime
    }

    enum Output {
        case sample(Entry)
        /// From here on these tracks are others, by their indices.
        case change([Int: MediaTrack])
    }

    private enum Item {
        case sample(Entry)
        case change(MediaTrack)
    }

    /// Changes that are no further apart than this are one.
    private static let margin = MediaTime(value: 1, timescale: 1)
    /// Pictures that others go on with begin a little before, as they were cut.
    private static let lead = MediaTime(value: 1, timescale: 10)
    /// So many samples wait at the most: a track that comes no further holds up nothing for ever.
    private static let limit = 4000

    private var queues: [Int: [Item]] = [:]
    private var count = 0
    private var isOver = false

    /// Something waits.
    var isPending: Bool { count > 0 }

    /// A change of this track waits.
    func hasChange(of index: Int) -> Bool { Self.changeIndex(queues[index] ?? []) != nil }

    mutating func change(_ index: Int, to track: MediaTrack) {
        queues[index, default: []].append(.change(track))
        count += 1
    }

    /// More is known of what a track has last changed to.
    mutating func complete(_ index: Int, with track: MediaTrack) {
        guard var queue = queues[index],
            let place = queue.lastIndex(where: { if case .change = $0 { true } else { false } })
        else { return }
        queue[place] = .change(track)
        queues[index] = queue
    }

    mutating func add(_ entry: Entry) {
        queues[entry.index, default: []].append(.sample(entry))
        count += 1
    }

    /// Nothing more comes: what waits need not any longer.
    mutating func finish() { isOver = true }

    /// What need not wait, among tracks of these kinds.
    mutating func take(_ types: [MediaKind]) -> [Output] {
        var output: [Output] = []
        while let time = firstChange {
            var members: [Int: MediaTrack] = [:]
            var isReady = true
            for (index, type) in types.enumerated() {
                let queue = queues[index] ?? []
                if let place = Self.changeIndex(queue), case .change(let track) = queue[place] {
                    let ownTime = Self.time(after: place, queue)
                    if ownTime.map({ $0 <= time + Self.margin }) ?? true {
                        members[index] = track
                        isReady = isReady && ownTime != nil
                        move(place, of: index, to: &output)
                        continue
                    }
                }
                let cut = Self.cut(queue, at: time, type)
                move(cut ?? queue.count, of: index, to: &output)
                let isPast = Self.lastTime(queue).map { $0 >= time + Self.margin } ?? false
                isReady = isReady && (type == .text || isPast && (cut != nil || type != .video))
            }
            guard isReady || isOver || count > Self.limit else { return output }
            for index in members.keys {
                queues[index]?.removeFirst()
                count -= 1
            }
            output.append(.change(members))
        }
        // Of a change behind which nothing has come the place is not known.
        guard isOver || count > Self.limit || !types.indices.contains(where: hasChange) else { return output }
        for index in types.indices {
            let queue = queues[index] ?? []
            // Where more may come, so may what the change is of.
            move(isOver ? queue.count : Self.changeIndex(queue) ?? queue.count, of: index, to: &output)
        }
        return output
    }

    /// Hands on the first items of a queue, up to a place in it.
    private mutating func move(_ end: Int, of index: Int, to output: inout [Output]) {
        guard end > 0, let queue = queues[index] else { return }
        for item in queue[..<end] {
            if case .sample(let entry) = item { output.append(.sample(entry)) }
        }
        queues[index] = Array(queue[end...])
        count -= end
    }

    /// Where the first of the changes takes place; nil where none waits, or nobody knows yet.
    private var firstChange: MediaTime? {
        queues.values.compactMap { queue in
            Self.changeIndex(queue).flatMap { Self.time(after: $0, queue) }
        }.min()
    }

    private static func changeIndex(_ queue: [Item]) -> Int? {
        queue.firstIndex { if case .change = $0 { true } else { false } }
    }

    private static func time(after place: Int, _ queue: [Item]) -> MediaTime? {
        for item in queue[(place + 1)...] {
            if case .sample(let entry) = item { return entry.itemTime }
        }
        return nil
    }

    private static func lastTime(_ queue: [Item]) -> MediaTime? {
        for item in queue.reversed() {
            if case .sample(let entry) = item { return entry.itemTime }
        }
        return nil
    }

    /// Where a track that does not change goes on in the next part: pictures at one that needs none before it, however late
    /// that comes.
    private static func cut(_ queue: [Item], at time: MediaTime, _ type: MediaKind) -> Int? {
        queue.firstIndex { item in
            guard case .sample(let entry) = item else { return false }
            return type == .video ? entry.sample.isSync && entry.itemTime >= time - lead : entry.itemTime >= time
        }
    }
}
