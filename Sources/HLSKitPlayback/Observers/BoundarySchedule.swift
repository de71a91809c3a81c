import HLSKitEngine

/// Determines when to call a boundary observer: each time that playback crosses one of its boundaries.
struct BoundarySchedule: Sendable {
    /// The boundaries in ascending order.
    private let boundaries: [Duration]
    private var time: ObservedTime
    private var passed: Duration
    private var reached: [Duration] = []

    init(_ boundaries: [Duration], time: ObservedTime, at now: Duration) {
        self.boundaries = Set(boundaries).sorted()
        self.time = time
        passed = time.itemTime(at: now)
    }

    /// Changes the course of time. A boundary that is jumped over or jumped to is not reached.
    mutating func change(to new: ObservedTime, isJump: Bool, at now: Duration) {
        pass(to: time.itemTime(at: now))
        time = new
        if isJump { passed = new.timebase.itemTime }
        pass(to: new.itemTime(at: now))
    }

    /// Called when the observed subject starts to play. A boundary at its start position is reached.
    mutating func enter(_ new: ObservedTime, at now: Duration) {
        time = new
        passed = new.timebase.itemTime
        reached += boundaries.filter { $0 == passed }
        pass(to: new.itemTime(at: now))
    }

    /// Returns the boundaries reached since the last call, in playback order.
    mutating func take(at now: Duration) -> [Duration] {
        pass(to: time.itemTime(at: now))
        defer { reached = [] }
        return reached
    }

    var due: Duration? {
        if !reached.isEmpty { return .zero }
        let next = time.timebase.rate > 0 ? boundaries.first { $0 > passed } : boundaries.last { $0 < passed }
        return next.flatMap { time.hostTime(of: $0) }
    }

    private mutating func pass(to itemTime: Duration) {
        if itemTime > passed {
            reached += boundaries.filter { $0 > passed && $0 <= itemTime }
        } else if itemTime < passed {
            reached += boundaries.filter { $0 < passed && $0 >= itemTime }.reversed()
        }
        passed = itemTime
    }
}
