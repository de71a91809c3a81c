import HLSKitMedia
import HLSKitTime

/// Finds the position of a change in all tracks of a file.
///
/// Tracks are not in step: the audio may already belong to the next part of a file while the video still belongs to the
/// previous one. Each track waits for the others, so that a part begins with all of its tracks. A frame with which a
/// part could begin also waits for a moment, because a change of other tracks may follow.
struct TrackSplice {
    struct Entry {
        var sample: MediaSample
        var index: Int
        var itemTime: MediaTime
    }

    enum Output {
        case sample(Entry)
        /// The tracks that change at this position, by index.
        case change([Int: MediaTrack])
    }

    private enum Item {
        case sample(Entry)
        case change(MediaTrack)
    }

    /// Changes within this time are treated as one.
    private static let margin = MediaTime(value: 1, timescale: 1)
    /// The time for which video waits for audio, which may be more than a second behind without pacing.
    private static let patience = MediaTime(value: 2, timescale: 1)
    /// The maximum time by which a frame may precede a change of the other tracks and still begin the next part.
    private static let lead = MediaTime(value: 1, timescale: 10)
    /// The maximum number of waiting samples, so that a stalled track does not block the others forever.
    private static let limit = 4000

    private var queues: [Int: [Item]] = [:]
    private var reached: [Int: MediaTime] = [:]
    /// The tracks without media since the last part began.
    private var fresh: Set<Int> = []
    private var count = 0
    private var isOver = false

    var isPending: Bool { count > 0 }

    func hasChange(of index: Int) -> Bool { Self.changeIndex(queues[index] ?? []) != nil }

    mutating func change(_ index: Int, to track: MediaTrack) {
        queues[index, default: []].append(.change(track))
        count += 1
    }

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

    mutating func finish() { isOver = true }

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
        // The position of a change is unknown until media after it arrives.
        guard isOver || count > Self.limit || !types.indices.contains(where: hasChange) else { return output }
        for index in types.indices {
            let queue = queues[index] ?? []
            // The samples before a waiting change need not wait.
            let end = Self.changeIndex(queue) ?? held(queue, of: index, types) ?? queue.count
            move(isOver ? queue.count : end, of: index, to: &output)
        }
        return output
    }

    /// The index of the first frame that could begin a part if the audio, which is further behind, changed there.
    private func held(_ queue: [Item], of index: Int, _ types: [MediaKind]) -> Int? {
        guard types[index] == .video, let own = reached[index] else { return nil }
        let others = types.indices.filter { types[$0] == .audio }.compactMap { reached[$0] }
        guard let least = others.min() else { return nil }
        return queue.indices.first { place in
            guard case .sample(let entry) = queue[place], entry.sample.isSync else { return false }
            // A part has just begun with this frame.
            if place == queue.startIndex, fresh.contains(index) { return false }
            return entry.itemTime > least && own - entry.itemTime < Self.patience
        }
    }

    private mutating func move(_ end: Int, of index: Int, to output: inout [Output]) {
        guard end > 0, let queue = queues[index] else { return }
        for item in queue[..<end] {
            if case .sample(let entry) = item { output.append(.sample(entry)) }
        }
        fresh.remove(index)
        queues[index] = Array(queue[end...])
        count -= end
    }

    /// The time of the first change, or `nil` if none is waiting or its time is unknown.
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

    /// The index at which an unchanged track continues in the next part. For video, this is a sync frame, even if it is
    /// late.
    private static func cut(_ queue: [Item], at time: MediaTime, _ type: MediaKind) -> Int? {
        queue.firstIndex { item in
            guard case .sample(let entry) = item else { return false }
            return type == .video ? entry.sample.isSync && entry.itemTime >= time - lead : entry.itemTime >= time
        }
    }
}
