import HLSKitCore
import HLSKitSimulation
import Testing

@Suite("A queue of items", .timeLimit(.minutes(10)))
struct QueuePlayerTests {
    @Test("H09: the next item's time 0 follows the previous end, frame by frame, without a status change")
    func seam() throws {
        let queue = try VirtualQueue(["a": 8, "b": 6])
        let log = FrameLog(clock: queue.clock)
        let (events, last) = try queue.clock.run {
            let player = try QueuePlayer(
                items: [queue.item("a", to: log.named("a")), queue.item("b", to: log.named("b"))],
                configuration: queue.configuration)
            let stream = player.events()
            player.play()
            var events: [PlayerEvent] = []
            for await event in stream {
                events.append(event)
                if case .currentItemChanged(nil) = event.kind { break }
            }
            let state = player.state
            await player.close()
            return (events, state)
        }
        let frames = log.frames
        #expect(frames.map(\.name) == Array(repeating: "a", count: 200) + Array(repeating: "b", count: 150))
        for (index, (one, next)) in zip(frames, frames.dropFirst()).enumerated().dropFirst() {
            let distance = next.hostTime - one.hostTime
            #expect(distance >= .milliseconds(39.9) && distance <= .milliseconds(40.1), "picture \(index + 1)")
        }
        #expect(frames[200].itemTime == .zero)
        let words = events.compactMap { event -> String? in
            switch event.kind {
            case .timeControl(let change): change.new.rawValue
            case .didPlayToEnd: "end"
            case .currentItemChanged(let id): id == nil ? "no item" : "item"
            case .playbackStalled: "stall"
            default: nil
            }
        }
        #expect(words.drop { $0 != "playing" } == ["playing", "end", "item", "end", "no item"])
        #expect(last.timeControlStatus == .waitingToPlayAtSpecifiedRate)
        #expect(last.reasonForWaitingToPlay == .noItemToPlay)
        #expect(last.rate == 1)
    }

    @Test("G01, H05: an item seeks while it is current, and otherwise starts at that time")
    func itemSeeks() throws {
        let queue = try VirtualQueue(["a": 8, "b": 200])
        try queue.clock.run {
            let (first, second) = (queue.item("a"), queue.item("b"))
            #expect(try await first.seek(to: .seconds(4)))
            #expect(first.startPosition == .time(.seconds(4)))
            #expect(try await first.seek(to: .positiveInfinity) == false)
            await #expect(throws: HLSError.self) { try await first.seek(to: .invalid) }
            let player = try QueuePlayer(items: [first, second], configuration: queue.configuration)
            player.play()
            try await queue.clock.sleep(for: .seconds(2))
            #expect(first.currentTime.seconds > 4)
            #expect(try await first.seek(to: .seconds(1), toleranceBefore: .zero, toleranceAfter: .zero))
            #expect(abs(first.currentTime.seconds - 1) < 0.1)
            player.remove(first)
            #expect(player.currentItem === second)
            #expect(try await first.seek(to: .seconds(-3)))
            #expect(first.startPosition == .time(.zero))
            try await queue.clock.sleep(for: .seconds(2))
            #expect(try await second.seek(to: .seconds(100)))
            #expect((96...101).contains(second.currentTime.seconds))
            await player.close()
        }
    }

    @Test("H01: the next item loads when the current one is full, and the one after if both are short")
    func preparing() throws {
        let queue = try VirtualQueue(["long": 200, "a": 4, "b": 4, "c": 4])
        try queue.clock.run {
            let names = ["long", "a", "b", "c"]
            let items = names.map { queue.item($0) }
            let player = try QueuePlayer(items: items, configuration: queue.configuration)
            #expect(Set(queue.requestedNames).isEmpty || Set(queue.requestedNames) == ["long"])
            player.play()
            try await queue.clock.sleep(for: .seconds(20))
            #expect(Set(queue.requestedNames) == ["long", "a"], "\(Set(queue.requestedNames))")
            player.remove(items[0])
            #expect(player.currentItem === items[1])
            try await queue.clock.sleep(for: .seconds(1))
            #expect(Set(queue.requestedNames) == Set(names))
            await player.close()
        }
    }

    @Test("H02: insert, canInsert, remove, advance and removeAllItems act at once")
    func calls() throws {
        let queue = try VirtualQueue(["a": 8, "b": 8, "c": 8, "d": 8])
        try queue.clock.run {
            let (a, b, c, d) = (queue.item("a"), queue.item("b"), queue.item("c"), queue.item("d"))
            let player = try QueuePlayer(items: [a, b], configuration: queue.configuration)
            func names() -> String { player.items().map { String($0.urlString.dropFirst(8).prefix(1)) }.joined() }
            #expect(names() == "ab")
            #expect(!player.canInsert(a))
            #expect(throws: HLSError.self) { try player.insert(b) }
            #expect(throws: HLSError.self) { try player.insert(d, after: c) }
            #expect(player.canInsert(c, after: a))
            try player.insert(c, after: a)
            #expect(names() == "acb")
            try player.insert(d)
            #expect(names() == "acbd")
            player.play()
            try await queue.clock.sleep(for: .seconds(2))
            #expect(player.timeControlStatus == .playing)
            player.remove(b)
            #expect(names() == "acd")
            player.advanceToNextItem()
            #expect(names() == "cd")
            #expect(player.currentItem === c)
            #expect(player.rate == 1)
            player.remove(c)
            #expect(player.currentItem === d)
            #expect(throws: HLSError.self) { try QueuePlayer(configuration: queue.configuration).insert(a) }
            try player.insert(a)
            #expect(names() == "da")
            player.removeAllItems()
            #expect(names().isEmpty)
            #expect(player.currentItem == nil)
            #expect(player.rate == 0)
            #expect(player.timeControlStatus == .paused)
            await player.close()
            #expect(throws: HLSError.self) { try player.insert(queue.item("b")) }
        }
    }

    @Test("H03: advance without a queue pauses; none lets time run on; a new action then acts at once")
    func actionAtItemEnd() throws {
        let queue = try VirtualQueue(["a": 4])
        try queue.clock.run {
            let player = try Player(item: queue.item("a"), configuration: queue.configuration)
            #expect(player.actionAtItemEnd == .pause)
            player.actionAtItemEnd = .none
            player.actionAtItemEnd = .advance
            #expect(player.actionAtItemEnd == .pause)
            player.actionAtItemEnd = .none
            let events = player.events()
            player.play()
            try await queue.clock.sleep(for: .seconds(10))
            #expect(player.timeControlStatus == .playing)
            #expect(player.state.timebaseRate == 1)
            #expect(player.state.currentTime.seconds > 9)
            player.actionAtItemEnd = .pause
            #expect(player.timeControlStatus == .paused)
            #expect(player.rate == 0)
            await player.close()
            var endCount = 0
            for await event in events { if case .didPlayToEnd = event.kind { endCount += 1 } }
            #expect(endCount == 1)
        }
    }

    @Test("F16: a failed item in a queue is skipped and the rate kept", arguments: [["x", "a"], ["a", "x", "b"]])
    func failure(_ names: [String]) throws {
        let queue = try VirtualQueue(["a": 4, "b": 4])
        let played = try queue.clock.run {
            let items = names.map { queue.item($0) }
            let player = try QueuePlayer(items: items, configuration: queue.configuration)
            let events = player.events()
            player.play()
            var played: [String] = []
            for await event in events {
                if case .didPlayToEnd = event.kind, let item = event.item {
                    played.append(String(item.urlString.dropFirst(8).prefix(1)))
                }
                if case .currentItemChanged(nil) = event.kind { break }
            }
            #expect(player.rate == 1)
            #expect(player.reasonForWaitingToPlay == .noItemToPlay)
            for item in items { #expect((item.error != nil) == item.urlString.hasPrefix("https://x.")) }
            await player.close()
            return played
        }
        #expect(played == names.filter { $0 != "x" })
    }

    @Test("H01: an empty queue waits for an item, and plays it at the kept rate")
    func ranOut() throws {
        let queue = try VirtualQueue(["a": 4, "b": 4])
        try queue.clock.run {
            let player = try QueuePlayer(items: [queue.item("a")], configuration: queue.configuration)
            player.rate = 2
            try await queue.clock.sleep(for: .seconds(10))
            #expect(player.reasonForWaitingToPlay == .noItemToPlay)
            #expect(player.rate == 2)
            try player.insert(queue.item("b"))
            #expect(player.reasonForWaitingToPlay == .evaluatingBufferingRate)
            try await queue.clock.sleep(for: .seconds(1))
            #expect(player.timeControlStatus == .playing)
            #expect(player.state.timebaseRate == 2)
            await player.close()
        }
    }

    @Test("H09: unpaced, items also follow each other, each with all its frames")
    func unpaced() throws {
        let queue = try VirtualQueue(["a": 8, "b": 4, "c": 2]) { $0.pacing = .unpaced }
        let log = FrameLog(clock: queue.clock)
        try queue.clock.run {
            let player = try QueuePlayer(
                items: ["a", "b", "c"].map { queue.item($0, to: log.named($0)) }, configuration: queue.configuration)
            let events = player.events()
            player.play()
            for await event in events { if case .currentItemChanged(nil) = event.kind { break } }
            await player.close()
        }
        let names = ["a", "b", "c"].flatMap { Array(repeating: $0, count: ["a": 200, "b": 100, "c": 50][$0] ?? 0) }
        #expect(log.frames.map(\.name) == names)
    }

    @Test("H05: played items inserted at the end of the queue again play in each round without a pause")
    func treadmill() throws {
        let queue = try VirtualQueue(["a": 4, "b": 4])
        let log = FrameLog(clock: queue.clock)
        try queue.clock.run {
            let items = [queue.item("a", to: log.named("a")), queue.item("b", to: log.named("b"))]
            let player = try QueuePlayer(items: items, configuration: queue.configuration)
            let events = player.events()
            player.play()
            var changeCount = 0
            for await event in events {
                guard case .currentItemChanged = event.kind, let current = event.item else { continue }
                changeCount += 1
                if changeCount == 5 { break }
                for item in items where item != current && player.canInsert(item) { try player.insert(item) }
            }
            await player.close()
        }
        let frames = log.frames.prefix(500)
        let expected = ["a", "b", "a", "b", "a"].flatMap { [String](repeating: $0, count: 100) }
        #expect(frames.map(\.name) == expected)
        for (one, next) in zip(frames, frames.dropFirst()).dropFirst() {
            let distance = next.hostTime - one.hostTime
            #expect(distance >= .milliseconds(39.9) && distance <= .milliseconds(40.1))
        }
    }

    @Test("an item removed from a queue stops loading at once")
    func removal() throws {
        let queue = try VirtualQueue(["a": 200], over: "1000,300,50\n")
        try queue.clock.run {
            let item = queue.item("a")
            let player = try QueuePlayer(items: [item], configuration: queue.configuration)
            player.play()
            try await queue.clock.sleep(for: .seconds(5))
            player.remove(item)
            let count = queue.requestedNames.count
            try await queue.clock.sleep(for: .seconds(20))
            #expect(queue.requestedNames.count == count)
            await player.close()
        }
    }

    @Test("H03: effects of a call at the end of the last item are reported at once")
    func callAtTheEnd() throws {
        let queue = try VirtualQueue(["a": 4])
        try queue.clock.run {
            let player = try QueuePlayer(items: [queue.item("a")], configuration: queue.configuration)
            player.actionAtItemEnd = .none
            player.play()
            try await queue.clock.sleep(for: .seconds(8))
            #expect(player.timeControlStatus == .playing)
            let events = player.events()
            player.actionAtItemEnd = .advance
            #expect(player.reasonForWaitingToPlay == .noItemToPlay)
            try await queue.clock.sleep(for: .milliseconds(1))
            var iterator = events.makeAsyncIterator()
            guard case .currentItemChanged(nil) = await iterator.next()?.kind else {
                Issue.record("not told that there is no item")
                return
            }
            guard case .timeControl(let change) = await iterator.next()?.kind else {
                Issue.record("not told that it waits")
                return
            }
            #expect(change.reason == .noItemToPlay)
            await player.close()
        }
    }
}
