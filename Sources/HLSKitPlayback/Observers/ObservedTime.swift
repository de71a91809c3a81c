import HLSKitEngine

/// The timebase of the current item as observers of time see it.
struct ObservedTime: Sendable, Hashable {
    var timebase = TimebaseState.stopped
    /// Time does not pass this on its way forward; nil while the end is not known.
    var end: Duration?

    /// Outputs take what there is: their position is reported from time to time, by a timebase that stands.
    var isDrivenByOutputs = false

    var isRunning: Bool { timebase.rate != 0 || isDrivenByOutputs }

    func itemTime(at host: Duration) -> Duration {
        let time = timebase.itemTime(at: host)
        guard timebase.rate > 0, let end else { return time }
        // Playing may begin behind an end that was set later.
        return max(min(time, end), timebase.itemTime)
    }

    /// The host time at which `time` is reached, never a moment too early; nil if it will not be.
    func hostTime(of time: Duration) -> Duration? {
        if timebase.rate > 0 {
            if let end, time > end { return nil }
            return timebase.hostTime(of: time)
        }
        guard timebase.rate < 0 else { return nil }
        // Reversed, time runs forward.
        let mirrored = TimebaseState(
            itemTime: .zero - timebase.itemTime, hostTime: timebase.hostTime, rate: -timebase.rate)
        return mirrored.hostTime(of: .zero - time)
    }
}
