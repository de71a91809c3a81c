import HLSKitMedia
import HLSKitTime

/// Finds the place of a change in all tracks of a file.
///
/// Tracks come one by one and not in step: sound may have been of the next part for seconds while pictures are still of the
/// one before. Here each waits until the others are there too, so that a part of the file begins with all of its tracks.
/// What a part could begin with waits for a moment as well: a change of the others may be about to come.
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
    /// So long pictures wait for sound of their time, which may be more than a second behind where nothing is paced.
    private static let patience = MediaTime(value: 2, timescale: 1)
    /// Pictures that others go on with begin a little before, as they were cut.
    private static let lead = MediaTime(value: 1, timescale: 10)
    /// So many samples wait at the most: a track that comes no further holds up nothing for ever.
    private static let limit = 4000

    private var queues: [Int: [Item]] = [:]
    /// How far each track has come.
    private var reached: [Int: MediaTime] = [:]
    /// Tracks of which nothing has come since a part was begun.
    private var fresh: Set<Int> = []
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
        let before = reached[entry.index]
        reached[entry.index] = max(before ?? entry.itemTime, entry.itemTime)
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
            fresh.formUnion(types.indices)
        }
        // Of a change behind which nothing has come the place is not known.
        guard isOver || count > Self.limit || !types.indices.contains(where: hasChange) else { return output }
        for index in types.indices {
            let queue = queues[index] ?? []
            // Where more may come, so may what the change is of.
            let end = Self.changeIndex(queue) ?? held(queue, of: index, types) ?? queue.count
            move(isOver ? queue.count : end, of: index, to: &output)
        }
        return output
    }

    /// The first picture that a part could begin with if sound changed there, which has not come as far.
    private func held(_ queue: [Item], of index: Int, _ types: [MediaKind]) -> Int? {
        guard types[index] == .video, let own = reached[index] else { return nil }
        // Of a track of which nothing has come nothing is known.
        let others = types.indices.filter { types[$0] == .audio }.compactMap { reached[$0] }
        guard let least = others.min() else { return nil }
        return queue.indices.first { place in
            guard case .sample(let entry) = queue[place], entry.sample.isSync else { return false }
            // A part has just begun with it.
            if place == queue.startIndex, fresh.contains(index) { return false }
            return entry.itemTime > least && own - entry.itemTime < Self.patience
        }
    }

    /// Hands on the first items of a queue, up to a place in it.
    private mutating func move(_ end: Int, of index: Int, to output: inout [Output]) {
        guard end > 0, let queue = queues[index] else { return }
        for item in queue[..<end] {
            if case .sample(let entry) = item { output.append(.sample(entry)) }
        }
        fresh.remove(index)
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
