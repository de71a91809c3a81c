import HLSKitCore
import HLSKitSimulation
import Testing

@Suite("Looping an item", .timeLimit(.minutes(10)))
struct PlayerLooperTests {
    private static func seconds(_ value: Int64) -> MediaTime { MediaTime(value: value, timescale: 1) }

    @Test("H06: rounds follow each other without a pause, and only the first one uses the network")
    func rounds() throws {
        let queue = try VirtualQueue(["a": 4])
        try queue.clock.run {
            let player = QueuePlayer(configuration: queue.configuration)
            player.play()
            let looper = try PlayerLooper(player: player, template: queue.item("a"))
            #expect(looper.status == .unknown)
            #expect(looper.loopingPlayerItems.count == 3)
            #expect(player.rate == 1)
            #expect(player.actionAtItemEnd == .advance)
            try await queue.clock.sleep(for: .milliseconds(3500))
            #expect(looper.status == .ready)
            let count = queue.requestedNames.count
            // Two playlists, a map and two segments. The copies wait for the first item's requests.
            #expect(count == 5)
            try await queue.clock.sleep(for: .seconds(20))
            #expect(looper.loopCount == 5)
            #expect(looper.loopingPlayerItems.count == 3)
            #expect(looper.loopingPlayerItems.first === player.currentItem)
            #expect(queue.requestedNames.count == count)
            let state = player.state
            #expect(state.timeControlStatus == .playing)
            #expect(state.statistics.numberOfStalls == 0)

            looper.disableLooping()
            #expect(looper.status == .cancelled)
            #expect(player.items().count == 1)
            try await queue.clock.sleep(for: .seconds(5))
            #expect(player.items().isEmpty)
            #expect(looper.loopCount == 6)
            await player.close()
        }
    }

    @Test("a live stream cannot be looped: the looper fails")
    func live() throws {
        let (clock, stream) = (VirtualClock(), SyntheticStream(liveWindow: 5))
        let link = NetworkTrace(constant: .init(bitsPerSecond: 8e6, latency: .milliseconds(20)))
        let player = QueuePlayer(
            configuration: PlayerConfiguration(
                clock: clock, transport: SimulatedTransport(stream, over: link, clock: clock)))
        player.play()
        let looper = try PlayerLooper(player: player, template: PlayerItem(urlString: stream.urlString))
        clock.advance(by: .seconds(10))
        #expect(looper.error?.code == .invalidArgument)
        #expect(looper.loopingPlayerItems.count <= 1)
    }

    @Test("H06: a range of the item loops from its start to its end")
    func range() throws {
        let queue = try VirtualQueue(["a": 10])
        let times = try queue.clock.run {
            let player = QueuePlayer(configuration: queue.configuration)
            let events = player.events()
            let range = MediaTimeRange(start: Self.seconds(3), duration: Self.seconds(2))
            let looper = try PlayerLooper(player: player, template: queue.item("a"), range: range)
            player.play()
            var times: [Double] = []
            for await event in events {
                switch event.kind {
                case .didPlayToEnd: times.append(event.hostTime.offset / .seconds(1))
                case .timeControl(let change) where change.new == .playing:
                    #expect(change.itemTime.inSeconds == 3)
                    times.append(event.hostTime.offset / .seconds(1))
                default: break
                }
                if times.count == 5 { break }
            }
            #expect(looper.loopCount >= 3)
            await player.close()
            return times
        }
        for (one, next) in zip(times, times.dropFirst()) { #expect(abs(next - one - 2) < 0.002, "\(times)") }
    }

    @Test("H06: looping comes before or after other items, which follow when it ends", arguments: [true, false])
    func ordering(precedes: Bool) throws {
        let queue = try VirtualQueue(["a": 4, "b": 4])
        try queue.clock.run {
            let other = queue.item("b")
            let player = try QueuePlayer(items: [other], configuration: queue.configuration)
            player.play()
            let looper = try PlayerLooper(
                player: player, template: queue.item("a"),
                ordering: precedes ? .precedesExistingItems : .followsExistingItems)
            #expect(player.items().firstIndex { $0 === other } == (precedes ? 3 : 0))
            #expect(player.rate == 1)
            try await queue.clock.sleep(for: .seconds(7))
            looper.disableLooping()
            try await queue.clock.sleep(for: .seconds(3))
            if precedes { #expect(player.currentItem === other) } else { #expect(player.items().isEmpty) }
            await player.close()
        }
    }

    @Test("H06: impossible ranges throw at once, and one outside the item fails the looper")
    func refusals() throws {
        let queue = try VirtualQueue(["a": 4])
        try queue.clock.run {
            let player = QueuePlayer(configuration: queue.configuration)
            let item = queue.item("a")
            for range in [
                MediaTimeRange(start: .zero, duration: .zero), MediaTimeRange(start: .zero, duration: .indefinite),
                MediaTimeRange(start: Self.seconds(-1), duration: Self.seconds(2)),
            ] where range.isValid {
                #expect(throws: HLSError.self) { try PlayerLooper(player: player, template: item, range: range) }
            }
            let range = MediaTimeRange(start: Self.seconds(2), duration: Self.seconds(20))
            let looper = try PlayerLooper(player: player, template: item, range: range)
            player.play()
            try await queue.clock.sleep(for: .seconds(2))
            #expect(looper.error?.code == .invalidArgument)
            await player.close()
        }
    }

    @Test("H05: a copy has its item's preferences without outputs; loaded data serves both")
    func copies() throws {
        let queue = try VirtualQueue(["a": 4])
        let log = FrameLog(clock: queue.clock)
        try queue.clock.run {
            let item = queue.item("a", to: log)
            item.preferredPeakBitRate = 300_000
            item.forwardPlaybackEndTime = Self.seconds(2)
            let copy = item.copy()
            #expect(copy.preferredPeakBitRate == 300_000)
            #expect(copy.forwardPlaybackEndTime?.inSeconds == 2)
            let player = try Player(item: item, configuration: queue.configuration)
            player.play()
            try await queue.clock.sleep(for: .seconds(4))
            let (count, frames) = (queue.requestedNames.count, log.frames.count)
            #expect(frames == 50)
            try player.replaceCurrentItem(with: copy)
            player.play()
            try await queue.clock.sleep(for: .seconds(4))
            #expect(queue.requestedNames.count == count)
            #expect(log.frames.count == frames)
            await player.close()
        }
    }
}
