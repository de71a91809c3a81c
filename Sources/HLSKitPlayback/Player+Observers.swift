import HLSKitEngine
public import HLSKitLoading
public import HLSKitTime
import Synchronization

extension Player {
    /// The current item's time: at each multiple of `interval` on its timeline while time runs, once after each jump
    /// (another item included), and when time begins to run and stops.
    ///
    /// Not when called. At most 60 times a second of the clock. A slow consumer gets the newest time only.
    /// - Throws: ``HLSError/Code/invalidArgument`` if `interval` is not a number above 0.
    public func times(every interval: MediaTime) throws(HLSError) -> PeriodicTimes {
        guard let duration = interval.duration, duration > .zero else {
            throw HLSError(
                code: .invalidArgument, cause: "an interval must be longer than 0", detail: "\(interval)")
        }
        return core.times(every: duration)
    }

    /// Each of `times` when playing comes to it or goes over it, in either direction; not when a seek does.
    ///
    /// Whatever item is current. Several at once come in the order of playing; none is lost.
    /// - Throws: ``HLSError/Code/invalidArgument`` if one of the times is not a number.
    public func boundaries(_ times: [MediaTime]) throws(HLSError) -> BoundaryTimes {
        let durations = times.compactMap(\.duration)
        guard durations.count == times.count else {
            throw HLSError(code: .invalidArgument, cause: "a boundary must be a time")
        }
        return core.boundaries(durations)
    }
}

extension PlayerCore {
    func times(every interval: Duration) -> PeriodicTimes {
        let now = clock.now
        state.withLock { note(&$0, isNewItem: false, at: now) }
        let stream = timeObservers.periodic(interval, at: now)
        wakeDriver()
        return PeriodicTimes(stream: stream)
    }

    func boundaries(_ times: [Duration]) -> BoundaryTimes {
        let now = clock.now
        state.withLock { note(&$0, isNewItem: false, at: now) }
        let stream = timeObservers.boundaries(times, at: now)
        wakeDriver()
        return BoundaryTimes(stream: stream)
    }

    /// Tells the observers of time what the engine of the current item has come to. Under the lock.
    func observe(_ state: inout State, isNewItem: Bool = false, at now: Duration) {
        if timeObservers.isActive { note(&state, isNewItem: isNewItem, at: now) }
    }

    /// Tells the observers of time where the current item is. Under the lock.
    func noteTime(_ state: inout State, at now: Duration) { note(&state, isNewItem: false, at: now) }

    private func note(_ state: inout State, isNewItem: Bool, at now: Duration) {
        let engine = state.current.engine
        var time = ObservedTime(timebase: engine.timebase, end: engine.lastTime)
        if engine.configuration.pacing == .unpaced {
            time.isDrivenByOutputs = engine.machine.status == .playing
            time.timebase = TimebaseState(itemTime: engine.playhead, hostTime: now, rate: 0)
        }
        timeObservers.note(
            TimeObservers.Report(time: time, isNewItem: isNewItem, isSeeking: engine.machine.isSeekPending), at: now)
    }
}
