import HLSKitEngine

/// When to call an observer of boundaries: each time that playback crosses one of them.
///
/// See docs/behaviour/time-observers.md.
struct BoundarySchedule: Sendable {
    /// In ascending order.
    private let boundaries: [Duration]
    private var time: ObservedTime
    private var passed: Duration
    private var reached: [Duration] = []

    init(_ boundaries: [Duration], time: ObservedTime, at now: Duration) {
        self.boundaries = Set(boundaries).sorted()
        self.time = time
        passed = time.itemTime(at: now)
    }

    /// Time goes another way from now on. What it jumps over or onto is not reached.
    mutating func change(to new: ObservedTime, isJump: Bool, at now: Duration) {
        pass(to: time.itemTime(at: now))
        time = new
        if isJump { passed = new.timebase.itemTime }
        pass(to: new.itemTime(at: now))
    }

    /// What is observed begins to play: a boundary that is where it begins is reached.
    mutating func enter(_ new: ObservedTime, at now: Duration) {
        time = new
        passed = new.timebase.itemTime
        reached += boundaries.filter { $0 == passed }
        pass(to: new.itemTime(at: now))
    }

    /// The boundaries that were reached since the last call, in the order of playing.
    mutating func take(at now: Duration) -> [Duration] {
        pass(to: time.itemTime(at: now))
        defer { reached = [] }
        return reached
    }

    /// The host time at which the next one is reached; nil if none will be.
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
