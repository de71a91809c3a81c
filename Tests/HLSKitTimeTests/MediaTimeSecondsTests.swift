import HLSKitTime
import Testing

@Suite struct MediaTimeSecondsTests {
    struct Row: Sendable, CustomTestStringConvertible {
        var seconds: Double
        var value: Int64
        var timescale: Int32
        var testDescription: String { "\(seconds)" }
    }

    @Test(
        "B04: common decimal seconds are exact, in the coarsest usual timescale",
        arguments: [
            Row(seconds: 0, value: 0, timescale: 1), Row(seconds: 12, value: 12, timescale: 1),
            Row(seconds: 1.5, value: 900, timescale: 600), Row(seconds: -0.1, value: -60, timescale: 600),
            Row(seconds: 0.001, value: 90, timescale: 90_000), Row(seconds: 3.0005, value: 270_045, timescale: 90_000),
            Row(seconds: 0.000_001, value: 1, timescale: 1_000_000),
            Row(seconds: 0.000_000_001, value: 1, timescale: 1_000_000_000),
        ])
    func seconds(_ row: Row) {
        let time = MediaTime.seconds(row.seconds)
        #expect(time.value == row.value && time.timescale == row.timescale, "\(time.debugDescription)")
        #expect(time.seconds == row.seconds)
    }

    @Test("B04: seconds that no timescale represents are rounded to a nanosecond, or become non-numeric")
    func oddSeconds() {
        let root = MediaTime.seconds(2.0.squareRoot())
        #expect(root.value == 1_414_213_562 && root.timescale == 1_000_000_000 && root.hasBeenRounded)
        #expect(MediaTime.seconds(Double.nan) == .invalid)
        #expect(MediaTime.seconds(-Double.infinity) == .negativeInfinity)
        #expect(MediaTime.seconds(1e300) == .positiveInfinity)
        #expect(MediaTime.seconds(1e18).seconds == 1e18)
    }

    @Test("B04: whole numbers of any type are seconds and milliseconds")
    func wholeNumbers() {
        #expect(MediaTime.seconds(90) == MediaTime(value: 90, timescale: 1))
        #expect(MediaTime.seconds(Int8(-3)) == MediaTime(value: -3, timescale: 1))
        #expect(MediaTime.seconds(UInt64.max) == MediaTime(value: Int64.max, timescale: 1))
        #expect(MediaTime.milliseconds(1500) == .seconds(1.5))
        #expect(MediaTime.seconds(1.5) + .seconds(2) == .milliseconds(3500))
    }

    @Test("B04: a duration becomes a time, to the nanosecond")
    func durations() {
        #expect(MediaTime(.milliseconds(1500)) == .seconds(1.5))
        #expect(MediaTime(Duration(secondsComponent: -1, attosecondsComponent: -999_999_999)) == .seconds(-1))
        #expect(MediaTime(.seconds(Int64.max)) == .positiveInfinity)
        #expect(MediaTime(.seconds(Int64.min)) == .negativeInfinity)
    }

    @Test(
        "B01: a time is described in seconds, and in debug output also exactly",
        arguments: [
            (MediaTime.seconds(1.5), "1.5 s", " (900/600)"),
            (MediaTime(value: 23_950_001_000, timescale: 1_000_000_000), "23.950001 s", " (23950001000/1000000000)"),
            (MediaTime(value: 1001, timescale: 30_000), "0.033366667 s", " (1001/30000)"),
            (MediaTime(value: -1, timescale: 4), "-0.25 s", " (-1/4)"),
            (MediaTime(value: 5, timescale: 1, epoch: 2), "5 s epoch 2", " (5/1)"),
            (MediaTime(value: Int64.min, timescale: 1), "-9223372036854775808 s", " (-9223372036854775808/1)"),
            (MediaTime.seconds(2.0.squareRoot()), "1.414213562 s", " (1414213562/1000000000, rounded)"),
            (MediaTime.zero, "0 s", " (0/1)"), (.indefinite, "indefinite", ""), (.invalid, "invalid", ""),
            (.positiveInfinity, "+infinity", ""), (.negativeInfinity, "-infinity", ""),
        ])
    func descriptions(_ time: MediaTime, _ text: String, _ fraction: String) {
        #expect(time.description == text)
        #expect(time.debugDescription == text + fraction)
        #expect("\([time])" == "[\(text)\(fraction)]")
    }

    @Test("B06: a range is described by its start and end")
    func ranges() {
        #expect("\(MediaTimeRange(start: .seconds(1.5), end: .seconds(4)))" == "[1.5 s, 4 s)")
    }
}

@Suite struct HostTimeTests {
    @Test("B08: host times differ by durations, and are ordered")
    func arithmetic() {
        let time = HostTime(offset: .seconds(2))
        #expect(time + .milliseconds(500) == HostTime(offset: .milliseconds(2500)))
        #expect(time - .milliseconds(500) == HostTime(offset: .milliseconds(1500)))
        #expect(time - HostTime(offset: .seconds(5)) == .seconds(-3))
        #expect(time.advanced(by: .seconds(1)) > time && HostTime.zero < time)
        #expect(time.duration(to: .zero) == .seconds(-2))
        var other = time
        other += .seconds(1)
        other -= .seconds(2)
        #expect(other == HostTime(offset: .seconds(1)))
        #expect("\(time)" == "2 s")
    }

    @Test("B08: a moment of the machine's clock equals its host time")
    func machine() {
        let now = ContinuousClock.now
        let time = HostTime(now)
        #expect(time.continuousClockInstant == now)
        #expect(HostTime(now.advanced(by: .seconds(3))) - time == .seconds(3))
        #expect(time > .zero, "the machine was started before now")
    }
}
