import HLSKitCore
import HLSKitSimulation
import Testing

@Suite("Properties of an item", .timeLimit(.minutes(10)))
struct PlayerItemStateTests {
    @Test("F17: status, duration, size and tracks appear with the media, and stay after removal")
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

    @Test("F17: a failed item stays failed and cannot be reused")
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
            #expect(throws: HLSError.self) { try player.replaceCurrentItem(with: item) }
            await player.close()
        }
    }

    @Test("F17: a reached playback end time does not become the item's duration")
    func endTime() throws {
        let queue = try VirtualQueue(["a": 8])
        try queue.clock.run {
            let item = queue.item("a")
            item.forwardPlaybackEndTime = MediaTime(value: 3, timescale: 1)
            let player = try Player(item: item, configuration: queue.configuration)
            player.play()
            try await queue.clock.sleep(for: .seconds(5))
            #expect(item.currentTime.inSeconds == 3)
            #expect(player.rate == 0)
            #expect(item.duration.inSeconds == 8)
            await player.close()
        }
    }

    @Test("F17: a ready item that is reused and removed before loading again stays ready")
    func comesBack() throws {
        let queue = try VirtualQueue(["a": 8])
        try queue.clock.run {
            let item = queue.item("a")
            let player = try Player(item: item, configuration: queue.configuration)
            try await queue.clock.sleep(for: .seconds(2))
            #expect(item.status == .readyToPlay)
            try player.replaceCurrentItem(with: nil)
            try player.replaceCurrentItem(with: item)
            #expect(item.status == .readyToPlay)
            try player.replaceCurrentItem(with: nil)
            #expect(item.status == .readyToPlay)
            await player.close()
        }
    }

    private static func twoVariants(_ clock: VirtualClock) throws -> PlayerConfiguration {
        let stream = SyntheticStream(bitRates: [200_000, 400_000], segmentCount: 20)
        let transport = SimulatedTransport(
            stream, over: try NetworkTrace(parsing: "1000,9000,300\n".utf8), clock: clock)
        return PlayerConfiguration(clock: clock, transport: transport)
    }

    @Test("F17: duration and seekable ranges stay known while another variant's playlist is loaded")
    func variantSwitch() throws {
        let clock = VirtualClock()
        let configuration = try Self.twoVariants(clock)
        try clock.run {
            let item = PlayerItem(urlString: SyntheticStream().urlString)
            var options = AssetOptions(transport: configuration.transport)
            options.clock = clock
            let names = try await Asset(urlString: item.urlString, options: options).load(.variants).map(\.id)
            item.variantPolicy = .pinned(names[0])
            let player = try Player(item: item, configuration: configuration)
            player.play()
            try await clock.sleep(for: .seconds(20))
            item.variantPolicy = .pinned(names[1])
            for _ in 0..<1000 {
                #expect(item.duration.inSeconds == 120)
                #expect(item.seekableTimeRanges.count == 1)
                try await clock.sleep(for: .milliseconds(20))
            }
            #expect(player.state.variant?.index == 1)
            await player.close()
        }
    }

    @Test("I04: selecting an unknown rendition during playback is a warning and changes nothing")
    func unmatchedWish() throws {
        let clock = VirtualClock()
        let configuration = try Self.twoVariants(clock)
        try clock.run {
            let item = PlayerItem(urlString: SyntheticStream().urlString)
            let player = try Player(item: item, configuration: configuration)
            player.play()
            try await clock.sleep(for: .seconds(5))
            let events = player.events()
            item.audio = try QualityExpression(parsing: "lang=de", for: .renditions)
            item.subtitles = try QualityExpression(parsing: "lang=de", for: .renditions)
            #expect(player.timeControlStatus == .playing)
            #expect(item.error == nil)
            try await clock.sleep(for: .seconds(5))
            #expect(player.timeControlStatus == .playing)
            await player.close()
            let warnings = await events.reduce(into: 0) { count, event in
                if case .warning = event.kind { count += 1 }
            }
            #expect(warnings > 0)
        }
    }

    @Test("J06: adding and removing outputs during loading changes neither times nor loaded media")
    func lateOutputs() throws {
        for time in stride(from: 100, to: 1600, by: 100) {
            let queue = try VirtualQueue(["a": 6], over: "1000,900,50\n") { $0.decodesWithoutOutput = [] }
            let log = FrameLog(clock: queue.clock)
            try queue.clock.run {
                let item = queue.item("a")
                let player = try Player(item: item, configuration: queue.configuration)
                player.play()
                try await queue.clock.sleep(for: .milliseconds(time))
                let output = VideoOutput()
                try item.add(output)
                try await queue.clock.sleep(for: .milliseconds(400))
                item.remove(output)
                try await queue.clock.sleep(for: .milliseconds(200))
                item.add(log)
                try await queue.clock.sleep(for: .seconds(3))
                #expect(item.duration.inSeconds == 6, "\(time)")
                #expect(item.loadedTimeRanges.map(\.end.inSeconds) == [6], "\(time)")
                #expect(item.loadedTimeRanges.map(\.start.inSeconds) == [0], "\(time)")
                try await queue.clock.sleep(for: .seconds(9))
                #expect(player.state.statistics.numberOfStalls == 0, "\(time)")
                await player.close()
            }
            let frames = log.frames
            #expect(frames.last?.itemTime == .milliseconds(5960), "\(time)")
            let isInOrder = zip(frames, frames.dropFirst()).allSatisfy { $0.itemTime < $1.itemTime }
            #expect(isInOrder, "\(time)")
        }
    }

    @Test("J06: an item whose output is removed after loading continues to its end")
    func lastOutputGoes() throws {
        let queue = try VirtualQueue(["a": 6]) { $0.decodesWithoutOutput = [] }
        let log = FrameLog(clock: queue.clock)
        try queue.clock.run {
            let item = queue.item("a", to: log)
            let player = try Player(item: item, configuration: queue.configuration)
            player.play()
            try await queue.clock.sleep(for: .seconds(2))
            item.remove(log)
            try await queue.clock.sleep(for: .seconds(2))
            #expect(player.timeControlStatus == .playing)
            #expect(item.duration.inSeconds == 6)
            try await queue.clock.sleep(for: .seconds(4))
            #expect(item.currentTime.inSeconds == 6)
            #expect(player.rate == 0)
            await player.close()
        }
    }

    @Test("G06: a seek to an unloaded end plays to the end, and the duration stays")
    func seekToTheEnd() throws {
        let queue = try VirtualQueue(["a": 100])
        try queue.clock.run {
            let item = queue.item("a")
            item.preferredForwardBufferDuration = .seconds(5)
            let player = try Player(item: item, configuration: queue.configuration)
            player.play()
            try await queue.clock.sleep(for: .seconds(3))
            #expect(try await player.seek(to: .positiveInfinity))
            try await queue.clock.sleep(for: .seconds(3))
            #expect(player.rate == 0)
            #expect(item.currentTime.inSeconds == 100)
            #expect(item.duration.inSeconds == 100)
            await player.close()
        }
    }

    @Test(
        "no number set by an app traps",
        arguments: [Double.nan, .infinity, -.infinity, 1e300, -1e300, .leastNonzeroMagnitude, -1, 0])
    func numbers(_ number: Double) throws {
        let clock = VirtualClock()
        let stream = SyntheticStream(bitRates: [200_000, 400_000], segmentCount: 40, liveWindow: 5)
        let transport = SimulatedTransport(stream, over: try NetworkTrace(parsing: "1000,9000,30\n".utf8), clock: clock)
        var configuration = PlayerConfiguration(clock: clock, transport: transport)
        configuration.decodesWithoutOutput = [.video]
        try clock.run { [configuration] in
            let items = (0..<2).map { _ in PlayerItem(urlString: stream.urlString) }
            for item in items {
                // Duration has a smaller range than Double, and no NaN.
                let preference = number.isNaN ? nil : Duration.seconds(min(max(number, -1e18), 1e18))
                item.preferredForwardBufferDuration = preference
                item.preferredPeakBitRate = number
                item.preferredPeakBitRateForExpensiveNetworks = number
                item.configuredTimeOffsetFromLive = MediaTime(seconds: number, preferredTimescale: 600)
            }
            let player = try QueuePlayer(items: items, configuration: configuration)
            let times = [
                MediaTime(seconds: number, preferredTimescale: 600), MediaTime(value: .max, timescale: 1),
                MediaTime(value: .min, timescale: 1),
            ]
            player.networkConditions = NetworkConditions(isExpensive: true)
            for waits in [true, false] {
                player.automaticallyWaitsToMinimizeStalling = waits
                player.play()
                try await clock.sleep(for: .seconds(3))
                player.defaultRate = Float(number)
                player.play()
                player.rate = Float(number)
                try await clock.sleep(for: .seconds(1))
                player.playImmediately(atRate: Float(number))
                player.volume = Float(number)
                for time in times {
                    items[0].forwardPlaybackEndTime = time
                    items[0].forwardPlaybackEndTime = nil
                    _ = try? await player.seek(to: time, toleranceBefore: .zero, toleranceAfter: .positiveInfinity)
                    let hosts = times.compactMap { $0.duration.map(HostTime.init(offset:)) }
                    for host in hosts + [.zero, nil] {
                        try? player.setRate(Float(number), time: time, atHostTime: host)
                        try? player.setRate(1, time: time, atHostTime: host)
                        try? player.setRate(-1, time: nil, atHostTime: host)
                        _ = player.state
                    }
                    try await clock.sleep(for: .milliseconds(50))
                }
            }
            let state = player.state
            #expect((state.rate == 0) == (state.timeControlStatus == .paused))
            await player.close()
        }
    }

    @Test("an item's id is never reused, even after its release")
    func identity() {
        let ids = (0..<100).map { _ in PlayerItem(urlString: "https://host.invalid/a.m3u8").id }
        #expect(Set(ids).count == 100)
    }
}
