import HLSKitCore
import HLSKitSimulation
import Testing

@Suite("events", .timeLimit(.minutes(1)))
struct PlayerEventTests {
    @Test("F24: an event has the item that it is about, also when that is not in the player any more")
    func item() throws {
        let queue = try VirtualQueue(["a": 2, "b": 2])
        let (ended, failed, current) = try queue.clock.run {
            let player = try QueuePlayer(
                items: ["a", "x", "b"].map { queue.item($0) }, configuration: queue.configuration)
            let events = player.events()
            player.play()
            try await queue.clock.sleep(for: .seconds(8))
            // Read when all is over.
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

    private static let segments = SkippedSegments(
        first: 3, last: 3, mediaDuration: .seconds(6), url: "https://u:p@a/3.ts", cause: "not found")
    private static let load = SegmentLoad(
        url: "https://a/1.ts", mediaSequence: 1, itemTime: .zero, mediaDuration: .seconds(6),
        duration: .milliseconds(1250), byteCount: 1000, variantID: AssetVariant.ID(rawValue: "low"), variantIndex: 0)

    @Test(
        "F24: each event says in one line what happened",
        arguments: [
            (.playbackStalled(itemTime: MediaTime(value: 12_345, timescale: 1000)), "stall at 12.3 s"),
            (.timeJumped(to: MediaTime(value: -6, timescale: 100)), "jump to -0.1 s"),
            (.durationChanged(.indefinite), "duration indefinite"),
            (.itemStatusChanged(.readyToPlay), "ready to play"),
            (.itemStatusChanged(.failed), "the item's status is failed"),
            (.rateChanged(0, .itemEnded), "rate 0.0: the item ended"),
            (.currentItemChanged(nil), "no current item"),
            (.segmentLoaded(load), "segment 1: https://a/1.ts, 1000 bytes in 1.250 s"),
            (.segmentSkipped(segments), "skipped segment 3, 6.000 s of media: not found: https://a/3.ts"),
            (.warning("a\u{1b}[2J\nb"), "warning: a\\x1b[2J\\x0ab"),
            (.didPlayToEnd, "played to the end"),
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

    @Test("an item and its id can be read by people, without secrets")
    func itemDescription() {
        let item = PlayerItem(urlString: "https://user:secret@a.invalid/x.m3u8?token=0123456789abcdef0123456789abcdef")
        #expect("\(item)".hasPrefix("item "))
        #expect("\(item)" == "\(item.id) (https://a.invalid/x.m3u8?\("\(item)".split(separator: "?").last ?? "")")
        #expect(!"\(item)".contains("secret") && !"\(item)".contains("0123456789abcdef0123456789abcdef"))
        #expect(item == item && item != PlayerItem(urlString: item.urlString))
    }
}
