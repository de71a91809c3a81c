import HLSKitEngine
public import HLSKitLoading
public import HLSKitTime
import Synchronization

extension Player {
    /// Returns a sequence of the current item's time at regular intervals.
    ///
    /// The sequence yields the time at each multiple of `interval` on the item's timeline while time passes. It also
    /// yields the time after each jump (including a change of item), and when time starts or stops. It does not yield
    /// the time at the moment of the call. There are at most 60 values per second of clock time. A slow reader gets
    /// only the newest value.
    ///
    /// - Throws: ``HLSError/Code/invalidArgument`` if `interval` is not a number above 0.
    public func times(every interval: MediaTime) throws(HLSError) -> PeriodicTimes {
        guard let duration = interval.duration, duration > .zero else {
            throw HLSError(
                code: .invalidArgument, cause: "an interval must be longer than 0", detail: "\(interval)")
        }
        return core.times(every: duration)
    }

    /// Returns a sequence of the given times as playback reaches or crosses them, in either direction.
    ///
    /// A seek across a time does not yield it. The times apply to any current item. If playback crosses several times
    /// at once, the sequence yields them in playback order. A slow reader loses none.
    ///
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

    /// Reports the state of the current item's engine to the time observers. Call with the lock held.
    func observe(_ state: inout State, isNewItem: Bool = false, at now: Duration) {
        if timeObservers.isActive { note(&state, isNewItem: isNewItem, at: now) }
    }

    /// Reports the position of the current item to the time observers. Call with the lock held.
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
