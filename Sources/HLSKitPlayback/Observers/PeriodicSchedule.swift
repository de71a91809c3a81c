import HLSKitEngine

/// When to call a periodic observer of item time: at each multiple of its interval while time runs, once after each
/// jump, and when time begins to run and stops.
///
/// See docs/behaviour/time-observers.md.
struct PeriodicSchedule: Sendable {
    /// Two tellings are at least this far apart.
    static let shortestDistance = Duration.seconds(1) / 60

    let interval: Duration
    private var time: ObservedTime
    /// Multiples up to here have been reported.
    private var passed: Duration
    private var isPending = false
    private var lastTold: Duration?

    /// - Precondition: `interval` is positive.
    init(interval: Duration, time: ObservedTime, at now: Duration) {
        self.interval = interval
        self.time = time
        passed = time.itemTime(at: now)
    }

    /// Time goes another way from now on.
    ///
    /// - Parameters:
    ///   - isJump: item time does not continue from where it was.
    ///   - tells: it is reported now: a jump made by a seek is reported when the seek is over.
    mutating func change(to new: ObservedTime, isJump: Bool, tells: Bool, at now: Duration) {
        pass(to: time.itemTime(at: now))
        if tells || new.isRunning != time.isRunning { isPending = true }
        time = new
        // Time that is anchored in the past has been running since.
        if isJump { passed = new.timebase.itemTime }
        pass(to: new.itemTime(at: now))
    }

    /// The item time to report now, if any.
    ///
    /// - Parameter isLast: what is pending is reported now or never.
    mutating func take(at now: Duration, isLast: Bool = false) -> Duration? {
        let itemTime = time.itemTime(at: now)
        pass(to: itemTime)
        guard isPending, isLast || lastTold.map({ now - $0 >= Self.shortestDistance }) ?? true else { return nil }
        isPending = false
        lastTold = now
        return itemTime
    }

    /// The host time at which to look again; nil if only a change brings something.
    var due: Duration? {
        let earliest = lastTold.map { $0 + Self.shortestDistance }
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

    /// The multiple next to `time`, and from there by as many as `step` says. nil if numbers end.
    private func multiple(of time: Duration, step: (Duration) -> Int128) -> Duration? {
        let (whole, part) = (time.attosecondCount, interval.attosecondCount)
        guard part > 0 else { return nil }
        var count = whole / part
        count += step(Duration(attosecondCount: count * part))
        return Duration(attosecondCount: count * part)
    }
}

extension Duration {
    fileprivate var attosecondCount: Int128 {
        Int128(components.seconds) * 1_000_000_000_000_000_000 + Int128(components.attoseconds)
    }

    fileprivate init(attosecondCount: Int128) {
        let (seconds, rest) = attosecondCount.quotientAndRemainder(dividingBy: 1_000_000_000_000_000_000)
        self.init(secondsComponent: Int64(clamping: seconds), attosecondsComponent: Int64(rest))
    }
}
