import HLSKitEngine

/// Determines when to call a periodic observer of item time.
///
/// It is called at each multiple of its interval while time runs, once after each jump, and when time starts or stops.
struct PeriodicSchedule: Sendable {
    static let shortestDistance = Duration.seconds(1) / 60

    let interval: Duration
    private var time: ObservedTime
    /// The item time up to which multiples have been reported.
    private var passed: Duration
    private var isPending = false
    private var lastReported: Duration?

    /// - Precondition: `interval` is positive.
    init(interval: Duration, time: ObservedTime, at now: Duration) {
        self.interval = interval
        self.time = time
        passed = time.itemTime(at: now)
    }

    /// Changes the course of time.
    ///
    /// - Parameters:
    ///   - isJump: Whether item time does not continue from its last value.
    ///   - tells: Whether to report the change now. A jump by a seek is reported when the seek has ended.
    mutating func change(to new: ObservedTime, isJump: Bool, reports: Bool, at now: Duration) {
        pass(to: time.itemTime(at: now))
        if reports || new.isRunning != time.isRunning { isPending = true }
        time = new
        // Time anchored in the past has been running since then.
        if isJump { passed = new.timebase.itemTime }
        pass(to: new.itemTime(at: now))
    }

    /// Returns the item time to report now, if any.
    ///
    /// - Parameter isLast: Whether this is the last chance to report a pending time.
    mutating func take(at now: Duration, isLast: Bool = false) -> Duration? {
        let itemTime = time.itemTime(at: now)
        pass(to: itemTime)
        guard isPending, isLast || lastReported.map({ now - $0 >= Self.shortestDistance }) ?? true else { return nil }
        isPending = false
        lastReported = now
        return itemTime
    }

    /// The host time of the next check, or `nil` if only a change can cause a report.
    var due: Duration? {
        let earliest = lastReported.map { $0 + Self.shortestDistance }
        if isPending { return earliest ?? .zero }
        guard time.isRunning else { return nil }
        let next = time.timebase.rate > 0 ? multiple(after: passed) : multiple(before: passed)
        guard let next, let host = time.hostTime(of: next) else { return nil }
        return earliest.map { max($0, host) } ?? host
    }

    private mutating func pass(to itemTime: Duration) {
        if itemTime > passed, let next = multiple(after: passed), next <= itemTime { isPending = true }
        if itemTime < passed, let next = multiple(before: passed), next >= itemTime { isPending = true }
        passed = itemTime
    }

    private func multiple(after time: Duration) -> Duration? { multiple(of: time) { $0 > time ? 0 : 1 } }
    private func multiple(before time: Duration) -> Duration? { multiple(of: time) { $0 < time ? 0 : -1 } }

    /// Returns the multiple of the interval at `time` plus `step` intervals, or `nil` on overflow.
    private func multiple(of time: Duration, step: (Duration) -> Int128) -> Duration? {
        let (whole, part) = (time.attoseconds, interval.attoseconds)
        guard part > 0 else { return nil }
        var count = whole / part
        count += step(Duration(attoseconds: count * part))
        return Duration(attoseconds: count * part)
    }
}
