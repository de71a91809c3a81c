import HLSKitCore
import HLSKitSimulation
import Testing

@Suite struct EventLogTests {
    @Test("times in a log are seconds since the log's origin")
    func seconds() {
        let start = HostTime(offset: .seconds(1_700_000_000))
        let times = [MediaTime(value: 23_950_001, timescale: 1_000_000), .indefinite]
        let events = times.enumerated().map { index, time in
            PlayerEvent(hostTime: start + .milliseconds(500) * index, kind: .durationChanged(time))
        }
        #expect(
            EventLog(events, origin: start).lines == [
                "0.000000000 duration 23.950001 s", "0.500000000 duration indefinite",
            ])
        #expect(EventLog(events).lines.first?.hasPrefix("1700000000.000000000 ") == true)
    }

    @Test("a logged decision does not depend on the timescale of a time")
    func timescales() {
        let logs = [MediaTime.seconds(4), MediaTime(value: 4_000_000_000, timescale: 1_000_000_000)].map { time in
            EventLog([PlayerEvent(hostTime: .zero, kind: .timeJumped(to: time))])
        }
        #expect(logs[0].decisions == logs[1].decisions)
        #expect(logs[0].decisions == ["jumped to 4 s"])
    }
}
