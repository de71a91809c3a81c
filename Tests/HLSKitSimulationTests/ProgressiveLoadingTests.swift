import HLSKitCore
import Testing

@Suite("Media of a partly loaded segment", .timeLimit(.minutes(10)))
struct ProgressiveLoadingTests {
    @Test("D08: received media of a segment is demuxed, decoded and played before its last byte")
    func progressive() throws {
        // The segment takes 20 s to arrive and contains 2 s of media, so time advances at the speed of the bytes.
        let pipe = try SharedPipe(kilobitsPerSecond: 200, segmentCount: 1)
        let player = try pipe.play("a", ResourceBudget()) { $0.decodesWithoutOutput = [.video] }
        pipe.run(6)
        var state = player.state
        #expect(state.statistics.numberOfSegments == 0)
        #expect(state.loadedTimeRanges.count == 1)
        #expect((0.4...0.7).contains(state.held))
        #expect(state.statistics.numberOfDecodedVideoFrames > 0)
        #expect(state.itemStatus == .readyToPlay)
        player.playImmediately(atRate: 1)
        pipe.run(1)
        state = player.state
        #expect(state.statistics.numberOfSegments == 0)
        #expect(state.currentTime.seconds > 0.3)
        pipe.run(20)
        #expect(player.state.statistics.numberOfSegments == 1)
    }
}
