import HLSKitCore
import HLSKitSimulation
import Testing

@Suite("what an item shows", .timeLimit(.minutes(1)))
struct PlayerItemStateTests {
    @Test("F17: status, duration, size and tracks come with the media, and stay when the item is taken out")
    func properties() throws {
        let queue = try VirtualQueue(["a": 8, "b": 4])
        try queue.clock.run {
            let item = queue.item("a")
            #expect(item.status == .unknown)
            #expect(item.duration == .indefinite)
            #expect(item.presentationSize == PixelSize(width: 0, height: 0))
            #expect(item.tracks.isEmpty)
            let player = try Player(item: item, configuration: queue.configuration)
            player.play()
            try await queue.clock.sleep(for: .seconds(3))
            #expect(item.status == .readyToPlay)
            #expect(item.duration.inSeconds == 8)
            #expect(item.presentationSize == PixelSize(width: 64, height: 36))
            #expect(item.tracks.map(\.mediaType) == [.video])
            #expect(item.currentTime.seconds > 2 && item.currentTime.seconds < 3)
            #expect(item.seekableTimeRanges.first?.end.inSeconds == 8)
            #expect(item.loadedTimeRanges.first?.end.inSeconds == 8)
            #expect(item.isPlaybackLikelyToKeepUp && item.isPlaybackBufferFull && !item.isPlaybackBufferEmpty)

            let time = item.currentTime
            try player.replaceCurrentItem(with: queue.item("b"))
            try await queue.clock.sleep(for: .seconds(2))
            #expect(item.status == .readyToPlay)
            #expect(item.currentTime == time)
            #expect(item.tracks.count == 1)
            await player.close()
        }
    }

    @Test("F17: a failed item stays failed and cannot come back")
    func failure() throws {
        let queue = try VirtualQueue([:])
        try queue.clock.run {
            let item = queue.item("x")
            let player = try Player(item: item, configuration: queue.configuration)
            try await queue.clock.sleep(for: .seconds(1))
            #expect(item.status == .failed)
            try player.replaceCurrentItem(with: nil)
            #expect(item.status == .failed)
            #expect(item.error?.code == .notFound)
            #expect(throws: PlayerError.self) { try player.replaceCurrentItem(with: item) }
            await player.close()
        }
    }
}
