import HLSKitCore

/// The clock of a sound device, by the frames that it asks for: how fast they pass, and which of them is heard when.
///
/// The device asks for frames period by period, now and then late; over many periods that is its true speed. The player's
/// clock is steered to it, so that sound is never too long or too short for its time.
struct DeviceClock: Sendable {
    /// What the player's clock is to be told.
    struct Measurement: Sendable, Equatable {
        /// What the device's clock showed, in the time of the player's clock.
        var time: HostTime
        /// When, on the clock of the machine.
        var moment: HostTime
    }

    /// How long periods are gathered for one measurement.
    static let interval = Duration.seconds(1)
    /// At the start the device fills its buffers: these periods come faster than they are heard.
    static let burst = 6
    /// A device that is off by more than this has stood still: it is counted anew.
    static let longestLapse = Duration.milliseconds(200)

    let sampleRate: Int
    /// The time at which frame 0 would have been asked for; nil before the first period.
    private(set) var origin: HostTime?
    private var periodCount = 0
    private var isSettled = false
    // Sums, as distances from the first period of the measurement.
    private var first: (moment: HostTime, shown: HostTime, frame: Int)?
    private var count = 0
    private var moments = Duration.zero
    private var frames = 0

    init(sampleRate: Int) { self.sampleRate = max(1, sampleRate) }

    private func length(_ frames: Int) -> Duration { .seconds(1) * frames / sampleRate }

    /// The time at which a frame is asked for, in the player's time; nil before the first period.
    func time(ofFrame frame: Int) -> HostTime? { origin.map { $0 + length(frame) } }

    /// The frame that is asked for at a time; nil before the first period, and for what is years away.
    func frame(at time: HostTime) -> Int? {
        guard let origin else { return nil }
        let frames = ((time - origin) / .seconds(1) * Double(sampleRate)).rounded()
        return abs(frames) < 1e12 ? Int(frames) : nil
    }

    /// The device asks for the period that begins with `frame`.
    ///
    /// - Parameters:
    ///   - moment: now, on the clock of the machine.
    ///   - shown: now, on the player's clock.
    /// - Returns: by how many frames places have moved, where it is counted anew; what to tell the player's clock.
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
            // The player's clock has hardly been steered meanwhile.
            isSettled = true
            return (setOrigin(begun.shown + mean - meanFrame), nil)
        }
        guard let origin else { return (0, nil) }
        return (0, Measurement(time: origin + meanFrame, moment: begun.moment + mean))
    }

    /// - Returns: by how many frames the places of what is to be heard at known times move.
    private mutating func setOrigin(_ new: HostTime) -> Int {
        defer { origin = new }
        guard let origin else { return 0 }
        let frames = ((origin - new) / .seconds(1) * Double(sampleRate)).rounded()
        return abs(frames) < 1e12 ? Int(frames) : 0
    }
}
