import HLSKitEngine
import HLSKitPlayback
import HLSKitTime
import Testing

@Suite("Timebase: item time and host time")
struct TimebaseStateTests {
    static let rates = [1, 0.5, 2, 1.5, 1.0 / 3, 0.1, 1.0001, 0.999, 1.7, 3, 32, 0.01]

    @Test("a wake time is not before its moment, and close to it", arguments: rates)
    func wakeTime(rate: Double) throws {
        var random = SplitMix64(seed: 7)
        for magnitude in [1.0, 1e4, 1e9] {
            for _ in 0..<2000 {
                let state = TimebaseState(
                    itemTime: .seconds(.random(in: -magnitude...magnitude, using: &random)),
                    hostTime: .seconds(.random(in: 0...magnitude, using: &random))
                        + Duration(secondsComponent: 0, attosecondsComponent: .random(in: 0..<1000, using: &random)),
                    rate: rate)
                let time =
                    state.itemTime + .seconds(.random(in: 0...magnitude, using: &random))
                    + ItemTimeline.duration(.random(in: 0..<90_000, using: &random), 90_000)
                let host = try #require(state.hostTime(of: time))
                #expect(state.itemTime(at: host) >= time)
                let late = state.itemTime(at: host) - time
                #expect(late <= .nanoseconds(4) * max(rate, 1) + .seconds(magnitude * 1e-15))
            }
        }
    }

    @Test("stopped or reversed time, and moments centuries away, have no wake time")
    func none() {
        #expect(TimebaseState.stopped.hostTime(of: .seconds(1)) == nil)
        #expect(TimebaseState(itemTime: .zero, hostTime: .zero, rate: -1).hostTime(of: .seconds(1)) == nil)
        let slow = TimebaseState(itemTime: .zero, hostTime: .zero, rate: 1e-9)
        #expect(slow.hostTime(of: .seconds(Int64.max / 4)) == nil)
        #expect(slow.hostTime(of: .seconds(1)) != nil)
    }

    @Test("a moment in the past is due")
    func past() throws {
        let state = TimebaseState(itemTime: .seconds(10), hostTime: .seconds(3), rate: 1.5)
        let host = try #require(state.hostTime(of: .seconds(4)))
        #expect(state.itemTime(at: host) >= .seconds(4))
        #expect(host < .seconds(3))
    }
}
