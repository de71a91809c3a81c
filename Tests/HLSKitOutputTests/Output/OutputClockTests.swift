import HLSKitCore
import Testing

@Suite struct OutputClockTests {
    private static func clock(rate: Double, isPaced: Bool = true) -> OutputClock {
        var clock = OutputClock()
        clock.itemTime = .seconds(10)
        clock.hostTime = HostTime(offset: .seconds(100))
        clock.rate = rate
        clock.isPaced = isPaced
        return clock
    }

    @Test("B07: item time and host time convert at the current rate")
    func conversion() {
        let clock = Self.clock(rate: 2)
        #expect(clock.hostTime(of: .seconds(14)) == HostTime(offset: .seconds(102)))
        #expect(clock.itemTime(atHostTime: HostTime(offset: .seconds(99))) == .seconds(8))
    }

    @Test("B07: with stopped, unpaced or invalid time the result is the current moment")
    func rest() {
        for clock in [Self.clock(rate: 0), Self.clock(rate: 1, isPaced: false)] {
            #expect(clock.hostTime(of: .seconds(14)) == clock.hostTime)
        }
        #expect(Self.clock(rate: 1).hostTime(of: .indefinite) == HostTime(offset: .seconds(100)))
        #expect(Self.clock(rate: 0).itemTime(atHostTime: .zero) == .seconds(10))
        var clock = Self.clock(rate: 1)
        clock.itemTime = .invalid
        #expect(clock.itemTime == .seconds(10))
    }

    @Test(
        "B07: extreme rates and times give valid results", arguments: [1e-300, -1e-300, 1e300, .infinity, .nan])
    func odd(rate: Double) {
        let clock = Self.clock(rate: rate)
        for time in [MediaTime.seconds(Int64.max), .seconds(Int64.min), .seconds(11), .seconds(10)] {
            let host = clock.hostTime(of: time)
            #expect(host > HostTime(offset: .seconds(-2_000_000_000_000)))
            #expect(clock.itemTime(atHostTime: host).isValid)
        }
        #expect(clock.itemTime(atHostTime: HostTime(offset: .seconds(Int64.max))).isValid)
    }
}
