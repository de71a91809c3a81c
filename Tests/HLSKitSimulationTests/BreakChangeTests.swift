import HLSKitPlayback
import HLSKitSelection
import HLSKitSimulation
import HLSKitTime
import TestSupport
import Testing

@Suite("Breaks that come and go", .ownThread, .timeLimit(.minutes(10)))
struct BreakChangeTests {
    private static func seconds(_ time: Double) -> MediaTime { MediaTime(.seconds(time)) }

    @Test("a refused seek changes nothing, before a break and in it", arguments: [7.5, 10])
    func refused(_ moment: Double) throws {
        let outcome = try BreakTests.play(
            ["main": 20, "ad": 6], [BreakTests.event(at: 8, ["ad"])],
            act: { player, clock in
                try await clock.sleep(for: .seconds(moment))
                for _ in 0..<3 {
                    #expect(try await player.seek(to: Self.seconds(100)) == false)
                    try await clock.sleep(for: .milliseconds(30))
                }
            })
        #expect(outcome.frames.count == 650)
        #expect(outcome.irregular(\.hostTime) == nil)
        #expect(outcome.irregular(\.itemTime) == nil)
    }

    @Test("a break removed and set again while media after it loads plays as if it had stayed")
    func setAgain() throws {
        let events = [BreakTests.event(at: 8, ["ad"])]
        let outcome = try BreakTests.play(
            ["main": 40, "ad": 6], events,
            act: { player, clock in
                let controller = InterstitialEventController(primaryPlayer: player)
                try await clock.sleep(for: .seconds(3))
                for pause in [0, 5, 30, 45, 70, 90, 110] {
                    controller.events = []
                    try await clock.sleep(for: .milliseconds(pause))
                    controller.events = events
                    try await clock.sleep(for: .milliseconds(100))
                }
            })
        #expect(outcome.frames.count == 1150)
        #expect(outcome.irregular(\.hostTime) == nil)
        #expect(outcome.irregular(\.itemTime) == nil)
        #expect(outcome.assetWords.count { $0 == "end" } == 1)
    }

    @Test(
        "a break removed when it is reached loses no frame of the item, at or inside a segment",
        arguments: [8.0, 7.0])
    func takenAway(time: Double) throws {
        for moment in stride(from: time, through: time + 0.4, by: 0.02) {
            let outcome = try BreakTests.play(
                ["main": 20, "ad": 6], [BreakTests.event(at: time, ["ad"])],
                act: { player, clock in
                    try await clock.sleep(for: .seconds(moment))
                    InterstitialEventController(primaryPlayer: player).events = []
                })
            #expect([500, 650].contains(outcome.frames.count), "at \(moment): \(outcome.frames.count)")
            #expect(outcome.irregular(\.itemTime) == nil, "at \(moment)")
        }
    }

    @Test("a seek to the end first plays mandatory breaks, and does not leave them")
    func toTheEnd() throws {
        var event = BreakTests.event(at: 8, ["ad"])
        event.restrictions = .constrainsSeekingForwardInPrimaryContent
        let outcome = try BreakTests.play(
            ["main": 20, "ad": 6], [event],
            act: { player, clock in
                try await clock.sleep(for: .seconds(3))
                #expect(try await player.seek(to: .positiveInfinity))
                try await clock.sleep(for: .seconds(2))
                #expect(try await player.seek(to: .positiveInfinity) == false)
            })
        #expect(outcome.assetWords.count { $0 == "end" } == 1)
        #expect((215...235).contains(outcome.frames.count), "\(outcome.frames.count)")
    }
}
