import HLSKitCore
import Testing

@testable import HLSGetWatch

@Suite("Clock of an audio device")
struct DeviceClockTests {
    private func time(_ seconds: Double) -> HostTime { HostTime(offset: .seconds(seconds)) }

    /// Runs a device and a player's clock that the device steers.
    ///
    /// - Parameters:
    ///   - speed: The speed of the device relative to the machine's clock.
    ///   - lateness: The lateness of each period, in seconds.
    /// - Returns: The final distance between the two clocks in seconds, and the number of steerings.
    private func run(
        speed: Double, seconds: Double, burst: Int = 0, lateness: (Int) -> Double = { _ in 0 }
    ) -> (distance: Double, steerings: Int) {
        let period = 1024.0 / 48_000
        var device = DeviceClock(sampleRate: 48_000)
        // Like `SteeredClock`: a straight line plus a correction that is spread over one second.
        var (base, shown, rate, correction): (Double, Double, Double, Double) = (0, 0, 1, 0)
        func clock(_ now: Double) -> Double { shown + (now - base) * rate + min(now - base, 1) * correction }
        var (distance, steerings, index) = (0.0, 0, 0)
        var first: DeviceClock.Measurement?
        while true {
            let due = Double(max(0, index - burst)) * period / speed
            guard due < seconds else { break }
            let now = due + lateness(index)
            let (_, measurement) = device.note(frame: index * 1024, at: time(now), shown: time(clock(now)))
            if let measurement {
                steerings += 1
                let reported = (measurement.time - time(0)) / .seconds(1)
                let moment = (measurement.moment - time(0)) / .seconds(1)
                if let first {
                    let known = (first.time - time(0)) / .seconds(1)
                    rate = (reported - known) / (moment - (first.moment - time(0)) / .seconds(1))
                } else {
                    first = measurement
                }
                let is_ = clock(now)
                let wanted = reported + (now - moment) * rate
                (base, shown, correction) = (now, is_, wanted - is_)
            }
            if let ideal = device.time(ofFrame: index * 1024) {
                distance = clock(due) - (ideal - time(0)) / .seconds(1)
            }
            index += 1
        }
        return (distance, steerings)
    }

    @Test(
        "the player's clock follows a device that is too fast or too slow",
        arguments: [1.0, 1.0002, 0.9998, 1.006, 0.995])
    func follows(_ speed: Double) {
        let (distance, steerings) = run(speed: speed, seconds: 60)
        #expect(abs(distance) < 0.002, "\(distance)")
        #expect((50...60).contains(steerings))
    }

    @Test("occasional late periods make little difference")
    func jitter() {
        let (distance, _) = run(speed: 1.001, seconds: 60) { index in index % 7 == 0 ? 0.015 : 0 }
        #expect(abs(distance) < 0.006, "\(distance)")
    }

    @Test("the burst that fills the device's buffers is not taken for its speed")
    func burst() {
        let (distance, _) = run(speed: 1, seconds: 20, burst: 3)
        #expect(abs(distance) < 0.003, "\(distance)")
    }

    @Test("after a dropout, the device clock resets and queued audio shifts with it")
    func lapse() {
        var device = DeviceClock(sampleRate: 1000)
        var now = 0.0
        for frame in stride(from: 0, to: 5000, by: 100) {
            _ = device.note(frame: frame, at: time(now), shown: time(now))
            now += 0.1
        }
        let before = device.frame(at: time(6))
        now += 2
        let (shift, measurement) = device.note(frame: 5000, at: time(now), shown: time(now))
        #expect(measurement == nil)
        #expect(abs(shift + 2000) <= 1, "\(shift)")
        #expect(device.frame(at: time(6)) == before.map { $0 + shift })
        #expect(device.frame(at: time(now)) == 5000)
    }

    @Test("before the first period no position is known, and none for times years away")
    func unknown() {
        var device = DeviceClock(sampleRate: 48_000)
        #expect(device.frame(at: time(1)) == nil && device.time(ofFrame: 3) == nil)
        _ = device.note(frame: 0, at: time(10), shown: time(20))
        #expect(device.frame(at: time(21)) == 48_000)
        #expect(device.frame(at: time(1e12)) == nil)
    }
}
