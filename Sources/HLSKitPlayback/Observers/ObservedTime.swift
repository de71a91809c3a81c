import HLSKitEngine

struct ObservedTime: Sendable, Hashable {
    var timebase = TimebaseState.stopped
    /// The end that forward playback does not pass, or `nil` while it is unknown.
    var end: Duration?

    /// Whether outputs take media as it arrives, so that the position changes although the timebase does not run.
    var isDrivenByOutputs = false

    var isRunning: Bool { timebase.rate != 0 || isDrivenByOutputs }

    func itemTime(at host: Duration) -> Duration {
        let time = timebase.itemTime(at: host)
        guard timebase.rate > 0, let end else { return time }
        // Playback may start after an end that was set later.
        return max(min(time, end), timebase.itemTime)
    }

    /// Returns the host time at which `time` is reached, never early, or `nil` if it will not be.
    func hostTime(of time: Duration) -> Duration? {
        if timebase.rate > 0 {
            if let end, time > end { return nil }
            return timebase.hostTime(of: time)
        }
        guard timebase.rate < 0 else { return nil }
        // Mirror the times, so that time runs forward.
        let mirrored = TimebaseState(
            itemTime: .zero - timebase.itemTime, hostTime: timebase.hostTime, rate: -timebase.rate)
        return mirrored.hostTime(of: .zero - time)
    }
}
