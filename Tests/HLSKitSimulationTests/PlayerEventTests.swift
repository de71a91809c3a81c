import HLSKitCore
import HLSKitSimulation
import Testing

@Suite("Events", .timeLimit(.minutes(10)))
struct PlayerEventTests {
    @Test("F24: an event names its item, even if that is no longer in the player")
    func item() throws {
        let queue = try VirtualQueue(["a": 2, "b": 2])
        let (ended, failed, current) = try queue.clock.run {
            let player = try QueuePlayer(
                items: ["a", "x", "b"].map { queue.item($0) }, configuration: queue.configuration)
            let events = player.events()
            player.play()
            try await queue.clock.sleep(for: .seconds(8))
            await player.close()
            var ended: [String?] = []
            var failed: [String?] = []
            var current: [String?] = []
            for await event in events {
                switch event.kind {
                case .didPlayToEnd: ended.append(event.item?.urlString)
                case .itemStatusChanged(.failed): failed.append(event.item?.error?.urlString)
                case .currentItemChanged: current.append(event.item?.urlString)
                default: break
                }
            }
            return (ended, failed, current)
        }
        #expect(ended == ["https://a.invalid/index.m3u8", "https://b.invalid/index.m3u8"])
        #expect(failed == ["https://x.invalid/index.m3u8"])
        #expect(current == ["https://b.invalid/index.m3u8", nil])
    }

    @Test("F24: a slow reader keeps the newest events and gets the number of lost ones; others lose nothing")
    func slow() throws {
        let queue = try VirtualQueue(["a": 8])
        let (slow, all, item) = try queue.clock.run {
            let item = queue.item("a")
            let player = Player(configuration: queue.configuration)
            let streams = (player.events(bufferingNewest: 4), item.events(bufferingNewest: 4), player.events())
            player.play()
            try player.replaceCurrentItem(with: item)
            try await queue.clock.sleep(for: .seconds(20))
            await player.close()
            var read: [[PlayerEvent]] = []
            for stream in [streams.0, streams.1, streams.2] {
                var events: [PlayerEvent] = []
                for await event in stream { events.append(event) }
                read.append(events)
            }
            return (read[0], read[2], read[1])
        }
        #expect(slow.count == 5 && item.count == 5 && all.count > 10)
        #expect(slow.dropFirst().map(\.description) == all.suffix(4).map(\.description))
        let lost = try #require(slow.first)
        guard case .eventsLost(let count) = lost.kind else {
            Issue.record("\(lost)")
            return
        }
        #expect(count == all.count - 4)
        #expect(lost.item == nil)
        #expect(lost.hostTime == all[count - 1].hostTime)
        #expect(slow.contains { if case .didPlayToEnd = $0.kind { true } else { false } })
        #expect(item.first.map { if case .eventsLost = $0.kind { true } else { false } } == true)
    }

    private static let segments = SkippedSegments(
        first: 3, last: 3, mediaDuration: .seconds(6), url: "https://u:p@a/3.ts", cause: "not found")
    private static let reported = SkippedSegments(
        first: 3, last: 3, mediaDuration: .seconds(6), url: "https://a/3.ts",
        cause: "not found: https://a/3.ts (HTTP 404)")
    private static let load = SegmentLoad(
        url: "https://a/1.ts", mediaSequence: 1, itemTime: .zero, mediaDuration: .seconds(6),
        duration: .milliseconds(1250), byteCount: 1000, variantID: AssetVariant.ID(rawValue: "low"), variantIndex: 0)

    @Test(
        "F24: each event describes itself in one line",
        arguments: [
            (.playbackStalled(itemTime: MediaTime(value: 12_345, timescale: 1000)), "stall at 12.3 s"),
            (.timeJumped(to: MediaTime(value: -6, timescale: 100)), "jump to -0.1 s"),
            (.durationChanged(.indefinite), "duration indefinite"),
            (.itemStatusChanged(.readyToPlay), "ready to play"),
            (.itemStatusChanged(.failed), "the item failed"),
            (.rateChanged(0, .itemEnded), "rate 0.0: the item ended"),
            (.currentItemChanged(nil), "no current item"),
            (.segmentLoaded(load), "segment 1: https://a/1.ts, 1000 bytes in 1.250 s"),
            (.segmentSkipped(segments), "skipped segment 3, 6.000 s of media: not found: https://a/3.ts"),
            (.segmentsMissed(reported), "missed segment 3, 6.000 s of media: not found: https://a/3.ts (HTTP 404)"),
            (.warning("a\u{1b}[2J\nb"), "warning: a\\x1b[2J\\x0ab"),
            (.didPlayToEnd, "played to the end"),
            (.eventsLost(1), "1 event lost"),
            (.eventsLost(12), "12 events lost"),
            (
                .timeControl(
                    TimeControlChange(
                        old: .playing, new: .waitingToPlayAtSpecifiedRate, reason: .toMinimizeStalls, rate: 1,
                        timebaseRate: 0, itemTime: MediaTime(value: 3, timescale: 1))),
                "waiting to minimize stalls at 3.0 s"
            ),
            (
                .variantSwitched(
                    from: nil,
                    to: AssetVariant(
                        index: 2, peakBitRate: 1_500_000, presentationSize: PixelSize(width: 1280, height: 720)),
                    explanation: "first"
                ),
                "variant none -> 720p 1500k: first"
            ),
        ] as [(PlayerEvent.Kind, String)])
    func description(kind: PlayerEvent.Kind, text: String) {
        #expect("\(kind)" == text)
        #expect("\(PlayerEvent(hostTime: HostTime(offset: .milliseconds(62_005)), kind: kind))" == "62.005 s: \(text)")
    }

    @Test("an item and its id have readable descriptions without secrets")
    func itemDescription() {
        let item = PlayerItem(urlString: "https://user:secret@a.invalid/x.m3u8?token=0123456789abcdef0123456789abcdef")
        #expect("\(item)".hasPrefix("item "))
        #expect("\(item)" == "\(item.id) (https://a.invalid/x.m3u8?token=...)")
        #expect(item != PlayerItem(urlString: item.urlString))
    }

    @Test("F24: the event of a failed item gives the reason")
    func failure() throws {
        let clock = VirtualClock()
        let link = NetworkTrace(constant: .init(bitsPerSecond: 1e6))
        let transport = SimulatedTransport(over: link, clock: clock) { _ in .notFound }
        let player = Player(configuration: PlayerConfiguration(clock: clock, transport: transport))
        let lines = try clock.run {
            let item = PlayerItem(urlString: "https://example.com/a.m3u8?token=1")
            let events = item.events()
            player.play()
            try player.replaceCurrentItem(with: item)
            for await event in events {
                if case .itemStatusChanged(.failed) = event.kind { return ["\(event)", "\(event.kind)"] }
            }
            return []
        }
        #expect(
            lines == [
                "0.000 s: the item failed: not found: https://example.com/a.m3u8?token=... (HTTP 404)",
                "the item failed",
            ])
    }

    @Test("F24: a state describes in one line what the player does, where, and how well")
    func state() throws {
        let queue = try VirtualQueue(["a": 8])
        let player = Player(configuration: queue.configuration)
        #expect("\(player.state)" == "paused, no stall")
        player.play()
        #expect("\(player.state)" == "waiting for an item, no stall")
        try player.replaceCurrentItem(with: queue.item("a"))
        queue.clock.advance(by: .seconds(5))
        let line = "\(player.state)"
        #expect(line.hasPrefix("playing at 4."))
        #expect(line.contains(" s ahead, 36p 400k, network 19968k, no stall"))
        try player.replaceCurrentItem(with: queue.item("x"))
        queue.clock.advance(by: .seconds(60))
        #expect("\(player.state)".hasPrefix("failed at 0.0 s"))
    }
}
