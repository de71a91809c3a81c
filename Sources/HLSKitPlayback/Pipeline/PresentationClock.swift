import HLSKitEngine
import HLSKitLoading
import HLSKitOutput

/// Lets renderers wait until the timebase reaches an item time.
///
/// The player's driver sleeps on the injected clock until the earliest of these times, and then calls ``wakeDue()``. So
/// renderers never sleep on another clock. No time is reached until the item becomes the player's current item
/// (``release()``).
final class PresentationClock: Sendable {
    fileprivate struct State {
        var timebase = TimebaseState.stopped
        var isClosed = false
        /// Whether the item is not current, so that none of its media is shown.
        var isHeld = false
        /// Counts flushes. A flush ends all waits for earlier media.
        var generation = 0
        /// Whether time runs backwards. Media is then presented in reverse order.
        var isReverse = false
        var hasRun = false
        var due: [ObjectIdentifier: Duration] = [:]
    }

    /// Whether media waits for its presentation time.
    let isPaced: Bool
    private let clock: HostClock
    private let gate: Gate<State>
    /// Called when a renderer starts to wait, so that the driver can set its timer.
    private let dueChanged: @Sendable () -> Void

    init(isPaced: Bool, clock: HostClock, isHeld: Bool = false, dueChanged: @escaping @Sendable () -> Void) {
        gate = Gate(State(isHeld: isHeld))
        self.isPaced = isPaced
        self.clock = clock
        self.dueChanged = dueChanged
    }

    enum Outcome { case due, flushed }

    /// Waits until the timebase reaches `time`. Each `waiter`, a renderer, waits for at most one time.
    ///
    /// - Parameter isHeard: As in ``isDue(_:isHeard:)``.
    func wait(
        until time: Duration, isHeard: Bool = false, generation: Int, waiter: ObjectIdentifier
    ) async -> Outcome {
        let outcome: Outcome? = gate.withLock { state in
            if state.isClosed || state.generation != generation { return .flushed }
            if !state.isHeld, !isPaced || state.isDue(time, isHeard: isHeard, at: clock.now) { return .due }
            state.due[waiter] = time
            return nil
        }
        if let outcome { return outcome }
        dueChanged()
        return await gate.wait { state -> Outcome? in
            if state.isClosed || state.generation != generation || state.due[waiter] == nil {
                state.due[waiter] = nil
                return .flushed
            }
            guard !state.isHeld, !isPaced || state.isDue(time, isHeard: isHeard, at: clock.now) else { return nil }
            state.due[waiter] = nil
            return .due
        }
    }

    /// The host time at which the first renderer continues, or `nil` if none waits or time does not pass.
    var nextDue: Duration? {
        gate.withLock { state in
            let first = state.isReverse ? state.due.values.max() : state.due.values.min()
            return state.isHeld ? nil : first.flatMap { state.timebase.hostTime(reaching: $0) }
        }
    }

    /// The host time of an item time, or `nil` without pacing or while time does not pass.
    func hostTime(of time: Duration) -> Duration? {
        isPaced ? gate.withLock { $0.timebase.hostTime(of: time) } : nil
    }

    /// Returns whether media is due.
    ///
    /// The current frame is shown while time does not pass, but audio must wait until time runs.
    func isDue(_ time: Duration, isHeard: Bool) -> Bool {
        let now = clock.now
        return gate.withLock { $0.isDue(time, isHeard: isHeard, at: now) }
    }

    var now: Duration {
        let time = clock.now
        return gate.withLock { $0.timebase.itemTime(at: time) }
    }

    var outputClock: OutputClock {
        let host = clock.now
        let (timebase, generation, isReverse) = gate.withLock { ($0.timebase, $0.generation, $0.isReverse) }
        var clock = OutputClock(
            itemTime: timebase.itemTime(at: host), hostTime: self.clock.hostTime(host),
            rate: isPaced ? timebase.rate : 1, isPaced: isPaced, generation: generation)
        clock.isReverse = isReverse
        return clock
    }

    var generation: Int { gate.withLock { $0.generation } }

    func release() {
        gate.signal { $0.isHeld = false }
    }

    /// Called when interstitials replace the item, until it is released again.
    func hold() {
        gate.signal { $0.isHeld = true }
    }

    func setTimebase(_ timebase: TimebaseState) {
        gate.signal { state in
            state.timebase = timebase
            if timebase.rate != 0 { state.hasRun = true }
        }
    }

    func wakeDue() {
        let time = clock.now
        let wakes = gate.withLock { state in
            !state.isHeld && state.due.values.contains { state.hasReached($0, at: time) }
        }
        if wakes { gate.signal { _ in } }
    }

    func cancelWait(of waiter: ObjectIdentifier) {
        gate.signal { $0.due[waiter] = nil }
    }

    /// Ends all waits for earlier media, and holds time at `time`.
    ///
    /// Media that arrives before the next timebase is never late.
    ///
    /// - Parameter isReverse: Whether time runs backwards from now on.
    func flush(at time: Duration, isReverse: Bool = false) {
        let now = clock.now
        gate.signal { state in
            state.generation += 1
            state.isReverse = isReverse
            state.hasRun = false
            state.due.removeAll()
            state.timebase = TimebaseState(itemTime: time, hostTime: now, rate: 0)
        }
    }

    func close() {
        gate.signal { state in
            state.isClosed = true
            state.due.removeAll()
        }
    }
}

extension PresentationClock.State {
    fileprivate func isDue(_ time: Duration, isHeard: Bool, at host: Duration) -> Bool {
        guard isHeard, timebase.rate == 0 || host < timebase.hostTime else { return hasReached(time, at: host) }
        return hasRun && time < timebase.itemTime
    }

    fileprivate func hasReached(_ time: Duration, at host: Duration) -> Bool {
        let now = timebase.itemTime(at: host)
        return isReverse ? now <= time : now >= time
    }
}
