import HLSKitEngine
import HLSKitLoading
import HLSKitOutput
import HLSKitSelection
import HLSKitSimulation
import HLSKitTime
import Synchronization
import Testing

@testable import HLSKitPlayback

@Suite("P02: Interstitials in queues and loops", .timeLimit(.minutes(10)))
struct InterstitialQueueTests {
    private static func seconds(_ time: Double) -> MediaTime { MediaTime(.seconds(time)) }

    private final class Notes: Sendable {
        private let lines = Mutex<[String]>([])
        func add(_ line: String) { lines.withLock { $0.append(line) } }
        var all: [String] { lines.withLock(\.self) }
    }

    private static func play(
        _ names: [String], events: [String: [InterstitialEvent]] = [:],
        frames: FrameLog? = nil, clock: VirtualQueue,
        act: @escaping @Sendable (QueuePlayer, [PlayerItem]) async throws -> Void = { _, _ in }
    ) throws -> [String] {
        try clock.clock.run {
            let items = names.map { clock.item($0, to: frames?.named($0)) }
            for (name, item) in zip(names, items) { item.interstitialEvents = events[name] }
            let player = QueuePlayer(configuration: clock.configuration)
            let stream = player.events()
            for item in items { try player.insert(item, after: nil) }
            player.play()
            let user = Task(executorPreference: clock.clock) { try await act(player, items) }
            let end = Task(executorPreference: clock.clock) {
                try? await clock.clock.sleep(for: .seconds(200))
                await player.close()
            }
            func name(_ item: PlayerItem?) -> String {
                item.flatMap { item in items.firstIndex { $0 === item } }.map { names[$0] } ?? "-"
            }
            var words: [String] = []
            for await event in stream {
                switch event.kind {
                case .currentItemChanged(let id):
                    words.append("now \(name(event.item))")
                    if id == nil { end.cancel() }
                case .didPlayToEnd: words.append("end \(name(event.item))")
                case .interstitialEventBegan(let other): words.append("begin \(other.id) in \(name(event.item))")
                case .interstitialEventEnded(let other, let outcome, _): words.append("\(outcome.rawValue) \(other.id)")
                default: break
                }
                if case .currentItemChanged(nil) = event.kind { break }
            }
            try await user.value
            await player.close()
            return words
        }
    }

    @Test("each item of a queue has its own breaks from its playlist and the app")
    func severalItems() throws {
        let log: FrameLog
        let serve = BreakTests.serve(
            [
                BreakTests.range("listed", at: 4, #"X-ASSET-URI="https://a.invalid/index.m3u8",X-RESUME-OFFSET=0"#)
            ], 8)
        let queue = try VirtualQueue(["two": 8, "main": 8, "three": 4, "a": 2, "b": 2], answer: { serve($0) })
        log = FrameLog(clock: queue.clock)
        var last = BreakTests.event("last", at: 0, ["b"])
        last.cue = .leaveCue
        let words = try Self.play(
            ["two", "main", "three"],
            events: ["two": [BreakTests.event("own", at: 4, ["b"])], "three": [last]], frames: log, clock: queue)
        #expect(
            words == [
                "now two", "begin own in two", "played own", "end two", "now main", "begin listed in main",
                "played listed", "end main", "now three", "begin last in three", "played last", "end three", "now -",
            ], "\(words)")
        #expect(log.frames.count == 200 + 50 + 200 + 50 + 100 + 50)
        // Frames have no gaps, even after a break at the end of an item.
        let odd = zip(log.frames, log.frames.dropFirst()).dropFirst().map { $1.hostTime - $0.hostTime }
            .filter { $0 < .milliseconds(39.9) || $0 > .milliseconds(40.1) }
        #expect(odd.isEmpty, "\(odd)")
    }

    @Test("a queued item plays its pre-roll first")
    func joined() throws {
        var first = BreakTests.event("first", at: 0, ["a"])
        first.cue = .joinCue
        let queue = try VirtualQueue(["one": 4, "two": 4, "a": 2])
        let log = FrameLog(clock: queue.clock)
        let words = try Self.play(["one", "two"], events: ["two": [first]], frames: log, clock: queue)
        #expect(
            words == [
                "now one", "end one", "now two", "begin first in two", "played first", "end two", "now -",
            ], "\(words)")
        #expect(log.frames.count == 250)
        let names = log.frames.map(\.name)
        #expect(names == Array(repeating: "one", count: 100) + Array(repeating: "two", count: 150))
    }

    @Test("the item after one with a post-roll follows without a gap")
    func left() throws {
        var last = BreakTests.event("last", at: 0, ["a"])
        last.cue = .leaveCue
        let queue = try VirtualQueue(["one": 8, "two": 4, "a": 6])
        let log = FrameLog(clock: queue.clock)
        let words = try Self.play(["one", "two"], events: ["one": [last]], frames: log, clock: queue)
        #expect(words == ["now one", "begin last in one", "played last", "end one", "now two", "end two", "now -"])
        #expect(log.frames.count == 450)
        let odd = zip(log.frames, log.frames.dropFirst()).dropFirst().map { $1.hostTime - $0.hostTime }
            .filter { $0 < .milliseconds(39.9) || $0 > .milliseconds(40.1) }
        #expect(odd.isEmpty, "\(odd)")
    }

    @Test("a queue that advances during a break releases the break's players")
    func advanced() throws {
        let queue = try VirtualQueue(["one": 8, "two": 4, "a": 6])
        let words = try Self.play(
            ["one", "two"], events: ["one": [BreakTests.event("e", at: 4, ["a"])]], clock: queue
        ) { player, _ in
            while player.state.interstitial == nil { try await queue.clock.sleep(for: .milliseconds(100)) }
            try await queue.clock.sleep(for: .seconds(1))
            player.advanceToNextItem()
            #expect(player.state.interstitial == nil)
        }
        #expect(words == ["now one", "begin e in one", "left e", "now two", "end two", "now -"], "\(words)")
    }

    @Test("an item removed during its break plays nothing more")
    func removed() throws {
        let queue = try VirtualQueue(["one": 8, "a": 6])
        let words = try Self.play(["one"], events: ["one": [BreakTests.event("e", at: 4, ["a"])]], clock: queue) {
            player, _ in
            while player.state.interstitial == nil { try await queue.clock.sleep(for: .milliseconds(100)) }
            player.removeAllItems()
            #expect(player.state.interstitial == nil && player.items().isEmpty)
        }
        #expect(words == ["now one", "begin e in one", "left e", "now -"], "\(words)")
    }

    @Test("a looper plays its item's breaks in each round")
    func looped() throws {
        let queue = try VirtualQueue(["main": 4, "a": 2])
        let ends = Notes()
        let rounds = try queue.clock.run {
            let pattern = queue.item("main")
            pattern.interstitialEvents = [BreakTests.event("e", at: 2, ["a"])]
            let player = QueuePlayer(configuration: queue.configuration)
            let looper = try PlayerLooper(player: player, template: pattern)
            let stream = InterstitialEventMonitor(primaryPlayer: player).changes()
            let follower = Task(executorPreference: queue.clock) {
                for await event in stream {
                    if case .interstitialEventEnded(_, .played, _) = event.kind { ends.add("end") }
                }
            }
            player.play()
            try await queue.clock.sleep(for: .seconds(25))
            let rounds = looper.loopCount
            await player.close()
            await follower.value
            return rounds
        }
        #expect(rounds == 4)
        #expect(ends.all.count == 4)
    }

    @Test("asset items have separate outputs, settings, logs and events")
    func prepared() throws {
        let queue = try VirtualQueue(["main": 8, "a": 4])
        let notes = Notes()
        try queue.clock.run {
            let item = queue.item("main")
            item.preferredPeakBitRate = 900_000
            item.interstitialEvents = [BreakTests.event("e", at: 4, ["a"])]
            let player = try Player(item: item, configuration: queue.configuration)
            let output = VideoOutput()
            let monitor = InterstitialEventMonitor(primaryPlayer: player)
            monitor.itemPreparation = { asset in
                notes.add("\(asset.urlString) \(asset.preferredPeakBitRate ?? 0)")
                try? asset.add(output)
            }
            let frames = Task(executorPreference: queue.clock) { [frames = output.frames()] in
                var count = 0
                for await _ in frames { count += 1 }
                return count
            }
            let events = Task(executorPreference: queue.clock) { [stream = monitor.itemEvents()] in
                for await event in stream {
                    if case .segmentLoaded(let load) = event.kind { notes.add("loaded \(load.mediaSequence)") }
                    if case .didPlayToEnd = event.kind { notes.add("end \(event.item?.accessLog?.events.count ?? 0)") }
                }
            }
            player.play()
            try await queue.clock.sleep(for: .seconds(20))
            await player.close()
            await events.value
            let count = await frames.value
            #expect(count == 100)
        }
        #expect(
            notes.all == ["https://a.invalid/index.m3u8 900000.0", "loaded 0", "loaded 1", "end 1"], "\(notes.all)")
    }
}
