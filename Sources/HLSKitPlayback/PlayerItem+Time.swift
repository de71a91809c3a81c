import HLSKitEngine
import HLSKitLoading
public import HLSKitTime

/// The mapping between host time and item time, and the rate at which item time passes.
///
/// The rate differs from the requested ``Player/rate`` while the player waits: the requested rate may be 1 while this
/// rate is 0. A timebase is a snapshot. A rate change, a jump or the end of the item creates a new one.
public struct Timebase: Sendable, Hashable {
    /// The item time at ``hostTime``.
    public let time: MediaTime
    /// The host time at ``time``, on the player's ``Player/sourceClock``.
    public let hostTime: HostTime
    /// The number of media seconds per second of the clock, or 0 while time does not pass.
    public let rate: Double

    let state: TimebaseState
    /// The host time at which the times of ``state`` are 0.
    let origin: HostTime
    let end: Duration?

    /// Returns the item time at a host time if nothing changes until then, at most the item's end.
    public func time(atHostTime hostTime: HostTime) -> MediaTime {
        let time = state.itemTime(at: hostTime - origin)
        return MediaTime(end.map { min(time, $0) } ?? time)
    }
}

extension PlayerItem {
    /// The current timebase of the item.
    ///
    /// Its time and rate are zero until the item is loaded, and after the item leaves its player.
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
