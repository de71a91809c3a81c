import HLSKitCore
import Testing

@testable import HLSGetWatch

@Suite("Device clock between measurements")
struct DeviceLineTests {
    private func time(_ seconds: Double) -> HostTime {
        HostTime(offset: .milliseconds(Int((seconds * 1000).rounded())))
    }

    private func measured(_ pairs: (Double, Double)...) -> DeviceLine {
        var line = DeviceLine()
        for (moment, shown) in pairs { line.note(DeviceClock.Measurement(time: time(shown), moment: time(moment))) }
        return line
    }

    private func shown(_ line: DeviceLine, at moment: Double) -> Double? {
        line.time(at: time(moment)).map { $0.offset / .seconds(1) }
    }

    @Test("W01: one measurement assumes the nominal speed, two determine the actual speed")
    func slope() throws {
        #expect(try #require(shown(measured((10, 100)), at: 10.5)) == 100.5)
        let slow = measured((10, 100), (11, 100.97))
        #expect(abs(try #require(shown(slow, at: 12)) - 101.94) < 0.001)
        let wild = measured((10, 100), (11, 102))
        #expect(abs(try #require(shown(wild, at: 12)) - 103.1) < 0.001)
    }

    @Test("old measurements do not affect the current speed")
    func old() {
        #expect(shown(DeviceLine(), at: 3) == nil)
        let line = measured((10, 100), (11, 101))
        #expect(shown(line, at: 13.9) != nil && shown(line, at: 14.1) == nil)
        var reset = line
        reset.reset()
        #expect(shown(reset, at: 11) == nil)
    }
}
