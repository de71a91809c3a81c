import HLSKitEngine
import HLSKitLoading
import HLSKitPlayback
import HLSKitSimulation
import HLSKitTime
import TestSupport
import Testing

@Suite("A closed player", .timeLimit(.minutes(10)))
struct ClosedPlayerTests {
    @Test(
        "a player closed while waiting, playing or before its start is paused and waits for nothing",
        arguments: [0, 40, 3000])
    func status(_ milliseconds: Int) throws {
        let sample = try VirtualSample(end: .seconds(20))
        sample.player.play()
        try sample.player.replaceCurrentItem(with: sample.item)
        sample.clock.advance(by: .milliseconds(milliseconds))
        #expect(
            sample.player.state.timeControlStatus == (milliseconds == 3000 ? .playing : .waitingToPlayAtSpecifiedRate))
        let player = sample.player
        try sample.clock.run { await player.close() }
        #expect(player.state.timeControlStatus == .paused)
        #expect(player.state.reasonForWaitingToPlay == nil)
        player.play()
        sample.clock.advance(by: .seconds(1))
        #expect(player.state.timeControlStatus == .paused)
        #expect(throws: HLSError.self) { try player.replaceCurrentItem(with: sample.item) }
    }

    @Test("an invalid or non-positive bit rate hint is ignored", arguments: [Double.nan, 0, -5, .infinity])
    func hint(_ value: Double) throws {
        let played = try [nil, value].map { hint in
            let sample = try VirtualSample(end: .seconds(4), quality: nil) { $0.initialBitRateHint = hint }
            try sample.play()
            return sample.events.elements.map { "\($0)" }.filter { !$0.contains("current item") }
        }
        #expect(played[0] == played[1])
        #expect(played[1].count > 5)
    }
}
