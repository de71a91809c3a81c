import HLSKitCore

/// What the clock of a sound device shows between measurements: a straight line through the newest of them.
///
/// The player's clock is steered along it, and may be some milliseconds beside it: frames are chosen by the line itself, so
/// that they are with the audio all the same.
struct DeviceLine: Sendable, Equatable {
    /// How far the speed of a device is believed, as a fraction.
    static let longestDrift = 0.1
    /// A measurement that is older than this says nothing of now.
    static let lifetime = Duration.seconds(3)

    private var last: DeviceClock.Measurement?
    private var rate = 1.0

    /// A measurement was made.
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
        // Two seconds tell more than one.
        rate = rate == 1 ? believed : (rate + believed) / 2
    }

    /// The device is counted anew.
    mutating func reset() { self = DeviceLine() }

    /// What it shows at a moment of the machine's clock; nil where nothing is known of then.
    func time(at moment: HostTime) -> HostTime? {
        guard let last else { return nil }
        let passed = moment - last.moment
        guard max(passed, .zero - passed) < Self.lifetime else { return nil }
        return last.time + .seconds(1) * (passed / .seconds(1) * rate)
    }
}
