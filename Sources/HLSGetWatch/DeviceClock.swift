import HLSKitCore

/// The clock of a sound device, derived from the frames that the device requests.
///
/// The device requests one period of frames after another, sometimes late. Averaged over many periods, the requests
/// show its true speed. The player's clock is steered to it, so that audio and video stay in sync.
struct DeviceClock: Sendable {
    struct Measurement: Sendable, Equatable {
        /// The device's clock, on the timescale of the player's clock.
        var time: HostTime
        /// When it was measured, on the machine's clock.
        var moment: HostTime
    }

    static let interval = Duration.seconds(1)
    /// The number of initial periods to ignore, because the device fills its buffers faster than it plays them.
    static let burst = 6
    /// A device that differs by more than this was interrupted, so counting restarts.
    static let longestLapse = Duration.milliseconds(200)

    let sampleRate: Int
    /// The time of frame 0, or `nil` before the first period.
    private(set) var origin: HostTime?
    private var periodCount = 0
    private var isSettled = false
    // Sums of distances from the first period of the measurement.
    private var first: (moment: HostTime, shown: HostTime, frame: Int)?
    private var count = 0
    private var moments = Duration.zero
    private var frames = 0

    init(sampleRate: Int) { self.sampleRate = max(1, sampleRate) }

    private func length(_ frames: Int) -> Duration { .seconds(1) * frames / sampleRate }

    /// The time of a frame on the player's clock, or `nil` before the first period.
    func time(ofFrame frame: Int) -> HostTime? { origin.map { $0 + length(frame) } }

    /// The frame at a time, or `nil` before the first period or if it is years away.
    func frame(at time: HostTime) -> Int? {
        guard let origin else { return nil }
        let frames = ((time - origin) / .seconds(1) * Double(sampleRate)).rounded()
        return abs(frames) < 1e12 ? Int(frames) : nil
    }

    /// Notes that the device requests the period that begins with `frame`.
    ///
    /// - Parameters:
    ///   - moment: The current time of the machine's clock.
    ///   - shown: The current time of the player's clock.
    /// - Returns: The number of frames by which positions shift if counting restarts, and a measurement for the
    ///   player's clock.
    mutating func note(frame: Int, at moment: HostTime, shown: HostTime) -> (shift: Int, measurement: Measurement?) {
        periodCount += 1
        guard let known = time(ofFrame: frame) else {
            origin = shown - length(frame)
            return (0, nil)
        }
        if periodCount <= Self.burst { return (0, nil) }
        let lapse = shown - known
        if isSettled, lapse > Self.longestLapse || lapse < .zero - Self.longestLapse {
            isSettled = false
            first = nil
            return (setOrigin(shown - length(frame)), nil)
        }
        guard let begun = first else {
            first = (moment, shown, frame)
            (count, moments, frames) = (1, .zero, 0)
            return (0, nil)
        }
        count += 1
        moments += moment - begun.moment
        frames += frame - begun.frame
        let wanted = isSettled ? Self.interval : Self.interval / 4
        guard moment - begun.moment >= wanted else { return (0, nil) }
        first = nil
        let mean = moments / count
        let meanFrame = length(begun.frame) + length(frames) / count
        guard isSettled else {
            // The player's clock has hardly been steered during this time.
            isSettled = true
            return (setOrigin(begun.shown + mean - meanFrame), nil)
        }
        guard let origin else { return (0, nil) }
        return (0, Measurement(time: origin + meanFrame, moment: begun.moment + mean))
    }

    /// - Returns: The number of frames by which positions of known times shift.
    private mutating func setOrigin(_ new: HostTime) -> Int {
        defer { origin = new }
        guard let origin else { return 0 }
        let frames = ((origin - new) / .seconds(1) * Double(sampleRate)).rounded()
        return abs(frames) < 1e12 ? Int(frames) : 0
    }
}
