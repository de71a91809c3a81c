import HLSKitEngine
import HLSKitLoading
import HLSKitOutput

/// Lets renderers wait until the timebase reaches an item time.
///
/// They tell what they wait for; the player's driver sleeps on the injected clock until the earliest of these times and
/// then calls ``wakeDue()``. So they never sleep by a clock of their own. Until the item is the player's current one
/// (``release()``) no time comes.
final class PresentationClock: Sendable {
    fileprivate struct State {
        var timebase = TimebaseState.stopped
        var isClosed = false
        /// The item is not the current one: nothing of it is shown.
        var isHeld = false
        /// Counts flushes: who waits for media of before the last one is let go.
        var generation = 0
        /// Time runs backwards: what is presented comes in that order, too.
        var isReverse = false
        /// Time has run since the last flush.
        var hasRun = false
        var due: [ObjectIdentifier: Duration] = [:]
    }

    /// Whether media waits for its time at all.
    let isPaced: Bool
    private let clock: HostClock
    private let gate: Gate<State>
    /// Called when a renderer begins to wait for a time, so that the driver can set its timer.
    private let dueChanged: @Sendable () -> Void

    /// - Parameter isHeld: no time comes before ``release()``.
    init(isPaced: Bool, clock: HostClock, isHeld: Bool = false, dueChanged: @escaping @Sendable () -> Void) {
        gate = Gate(State(isHeld: isHeld))
        self.isPaced = isPaced
        self.clock = clock
        self.dueChanged = dueChanged
    }

    enum Outcome { case due, flushed }

    /// Waits until the timebase reaches `time`. `waiter` names the renderer; each has one time at most.
    ///
    /// - Parameter isHeard: as in ``isDue(_:isHeard:)``.
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

    /// The host time at which the first renderer wants to go on; nil while none waits or time stands still.
    var nextDue: Duration? {
        gate.withLock { state in
            let first = state.isReverse ? state.due.values.max() : state.due.values.min()
            return state.isHeld ? nil : first.flatMap { state.timebase.hostTime(reaching: $0) }
        }
    }

    /// The host time at which the item time will be `time`; nil without pacing and while time stands still.
    func hostTime(of time: Duration) -> Duration? {
        isPaced ? gate.withLock { $0.timebase.hostTime(of: time) } : nil
    }

    /// Whether the time of media has come. A picture of now is shown while time stands still; sound is not heard before
    /// time runs.
    func isDue(_ time: Duration, isHeard: Bool) -> Bool {
        let now = clock.now
        return gate.withLock { $0.isDue(time, isHeard: isHeard, at: now) }
    }

    /// The item time of now.
    var now: Duration {
        let time = clock.now
        return gate.withLock { $0.timebase.itemTime(at: time) }
    }

    /// How item time stands to host time now.
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

    /// The item is the current one from now on.
    func release() {
        gate.signal { $0.isHeld = false }
    }

    /// Others are played in its place, until it is released again.
    func hold() {
        gate.signal { $0.isHeld = true }
    }

    func setTimebase(_ timebase: TimebaseState) {
        gate.signal { state in
            state.timebase = timebase
            if timebase.rate != 0 { state.hasRun = true }
        }
    }

    /// Resumes the renderers whose time has come.
    func wakeDue() {
        let time = clock.now
        let wakes = gate.withLock { state in
            !state.isHeld && state.due.values.contains { state.hasReached($0, at: time) }
        }
        if wakes { gate.signal { _ in } }
    }

    /// Lets a renderer go: what it waits with is not to be presented.
    func cancelWait(of waiter: ObjectIdentifier) {
        gate.signal { $0.due[waiter] = nil }
    }

    /// Lets everybody go who waits for media of before, and holds time at `time`: until the timebase is set anew nothing
    /// of what comes is late.
    ///
    /// - Parameter isReverse: time runs backwards from here on.
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
