import HLSKitCore

/// Extrapolates the clock of a sound device from its latest measurements along a straight line.
///
/// The player's clock is steered toward this line and may differ by some milliseconds. Frames are chosen by the line
/// itself, so that they match the audio.
struct DeviceLine: Sendable, Equatable {
    /// The largest accepted speed error of a device, as a fraction.
    static let longestDrift = 0.1
    static let lifetime = Duration.seconds(3)

    private var last: DeviceClock.Measurement?
    private var rate = 1.0

    mutating func note(_ measurement: DeviceClock.Measurement) {
        defer { last = measurement }
        guard let last else { return }
        let passed = (measurement.moment - last.moment) / .seconds(1)
        guard passed >= 0.5, passed < 10 else {
            rate = 1
            return
        }
        let speed = (measurement.time - last.time) / .seconds(1) / passed
        let believed = min(max(speed, 1 - Self.longestDrift), 1 + Self.longestDrift)
        // Average with the previous speed to reduce noise.
        rate = rate == 1 ? believed : (rate + believed) / 2
    }

    mutating func reset() { self = DeviceLine() }

    /// The device's clock at a moment of the machine's clock, or `nil` if no measurement is near it.
    func time(at moment: HostTime) -> HostTime? {
        guard let last else { return nil }
        let passed = moment - last.moment
        guard max(passed, .zero - passed) < Self.lifetime else { return nil }
        return last.time + .seconds(1) * (passed / .seconds(1) * rate)
    }
}
