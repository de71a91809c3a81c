import HLSKitEngine
import HLSKitLoading
public import HLSKitTime

/// Which item time is shown when, and how fast it really passes.
///
/// Not the rate that is wanted (``Player/rate``): while a player waits, that may be 1 and this one is 0. A snapshot: a
/// change of rate, a jump and the end of the item make another one. See docs/behaviour/time-control.md.
public struct Timebase: Sendable, Hashable {
    /// The item time at ``hostTime``.
    public let time: MediaTime
    /// On the player's ``Player/sourceClock``.
    public let hostTime: HostTime
    /// Seconds of media in a second of the clock; 0 while time stands.
    public let rate: Double

    let state: TimebaseState
    /// 0 of the times of ``state``.
    let origin: HostTime
    let end: Duration?

    /// The item time at a host time, if nothing changes until then; not beyond the item's end.
    public func time(atHostTime hostTime: HostTime) -> MediaTime {
        let time = state.itemTime(at: hostTime - origin)
        return MediaTime(end.map { min(time, $0) } ?? time)
    }
}

extension PlayerItem {
    /// Time that stands at zero while the item is not loaded, or no player's any more.
    public var timebase: Timebase {
        let core = attachedCore
        let known = core?.read(of: self) { engine -> (TimebaseState, Duration?)? in
            guard engine.configuration.pacing == .realTime else {
                return (TimebaseState(itemTime: engine.playhead, hostTime: .zero, rate: 0), nil)
            }
            return (engine.timebase, engine.lastTime)
        }
        let (state, end) = known ?? (.stopped, nil)
        let origin = core?.clock.origin ?? .zero
        return Timebase(
            time: MediaTime(state.itemTime), hostTime: origin + state.hostTime, rate: state.rate, state: state,
            origin: origin, end: end)
    }
}
