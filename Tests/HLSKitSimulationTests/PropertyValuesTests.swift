import HLSKitCore
import HLSKitSimulation
import Synchronization
import Testing

@Suite("Values of properties", .timeLimit(.minutes(10)))
struct PropertyValuesTests {
    private final class Reader<Value: Equatable & Sendable>: Sendable {
        private let state = Mutex((values: [Value](), hasEnded: false))
        private let task = Mutex<Task<Void, Never>?>(nil)

        init(_ values: PropertyValues<Value>, on clock: VirtualClock) {
            let task = Task(executorPreference: clock) { [weak self] in
                for await value in values { self?.state.withLock { $0.values.append(value) } }
                self?.state.withLock { $0.hasEnded = true }
            }
            self.task.withLock { $0 = task }
        }

        var values: [Value] { state.withLock(\.values) }
        var hasEnded: Bool { state.withLock(\.hasEnded) }
        func cancel() { task.withLock { $0 }?.cancel() }
    }

    @Test("F23: a reader gets the current value, then each that differs from the previous one")
    func player() throws {
        let queue = try VirtualQueue(["a": 8])
        try queue.clock.run {
            let player = Player(configuration: queue.configuration)
            let early = Reader(player.values(of: \.timeControlStatus), on: queue.clock)
            let rates = Reader(player.values(of: \.rate), on: queue.clock)
            let variants = Reader(player.values(of: \.state.variant?.index), on: queue.clock)
            let items = Reader(player.values(of: \.currentItem), on: queue.clock)
            try await queue.clock.sleep(for: .seconds(1))
            #expect(early.values == [.paused])
            let item = queue.item("a")
            player.play()
            try player.replaceCurrentItem(with: item)
            try await queue.clock.sleep(for: .seconds(2))
            let late = Reader(player.values(of: \.timeControlStatus), on: queue.clock)
            try await queue.clock.sleep(for: .seconds(10))
            #expect(early.values == [.paused, .waitingToPlayAtSpecifiedRate, .playing, .paused])
            #expect(late.values == [.playing, .paused])
            #expect(rates.values == [0, 1, 0])
            #expect(variants.values == [nil, 0])
            #expect(items.values == [nil, item])
            await player.close()
        }
    }

    @Test("F23: an item's status, duration, tracks and loaded ranges are read before it has a player")
    func item() throws {
        let queue = try VirtualQueue(["a": 8])
        try queue.clock.run {
            let item = queue.item("a")
            let statuses = Reader(item.values(of: \.status), on: queue.clock)
            let durations = Reader(item.values(of: \.duration), on: queue.clock)
            let tracks = Reader(item.values(of: \.tracks.count), on: queue.clock)
            let loaded = Reader(item.values(of: \.loadedTimeRanges), on: queue.clock)
            let errors = Reader(item.values(of: \.error), on: queue.clock)
            try await queue.clock.sleep(for: .seconds(1))
            let player = try Player(item: item, configuration: queue.configuration)
            try await queue.clock.sleep(for: .seconds(5))
            #expect(statuses.values == [.unknown, .readyToPlay])
            #expect(durations.values.map { $0.isIndefinite ? -1 : $0.inSeconds } == [-1, 8])
            #expect(tracks.values == [0, 1])
            #expect(errors.values == [nil])
            let ends = loaded.values.map { $0.last?.end.inSeconds ?? 0 }
            #expect(ends.first == 0 && ends.last == 8 && ends.count >= 3)
            #expect(zip(ends, ends.dropFirst()).allSatisfy { $0 <= $1 })
            await player.close()
        }
    }

    @Test("F23: values of a failing item, and of one prepared after another, are reported")
    func queued() throws {
        let queue = try VirtualQueue(["a": 4, "b": 4])
        try queue.clock.run {
            let items = ["a", "x", "b"].map { queue.item($0) }
            let statuses = items.map { Reader($0.values(of: \.status), on: queue.clock) }
            let error = Reader(items[1].values(of: \.error?.code), on: queue.clock)
            let player = try QueuePlayer(items: items, configuration: queue.configuration)
            let current = Reader(player.values(of: \.currentItem), on: queue.clock)
            player.play()
            try await queue.clock.sleep(for: .seconds(2))
            #expect(
                statuses.map(\.values) == [[.unknown, .readyToPlay], [.unknown, .failed], [.unknown, .readyToPlay]])
            #expect(error.values == [nil, .notFound])
            #expect(current.values == [items[0]])
            try await queue.clock.sleep(for: .seconds(10))
            #expect(current.values == [items[0], items[2], nil])
            await player.close()
        }
    }

    @Test("F23: a slow reader gets the newest value only")
    func slow() throws {
        let queue = try VirtualQueue([:])
        try queue.clock.run {
            let player = Player(configuration: queue.configuration)
            var iterator = player.values(of: \.volume).makeAsyncIterator()
            #expect(await iterator.next() == 1)
            for step in 1...9 { player.volume = Float(step) / 10 }
            #expect(await iterator.next() == 0.9)
            player.isMuted = true
            player.volume = 0.5
            #expect(await iterator.next() == 0.5)
            player.networkResourcePriority = .high
            var priorities = player.values(of: \.networkResourcePriority).makeAsyncIterator()
            #expect(await priorities.next() == .high)
            player.networkResourcePriority = .low
            #expect(await priorities.next() == .low)
            await player.close()
            #expect(await iterator.next() == nil)
        }
    }

    /// Reads a value occasionally and compares it with the property.
    private final class Sampler<Value: Equatable & Sendable>: Sampling {
        let name: String
        private var iterator: PropertyValues<Value>.Iterator
        private let read: () -> Value
        private var last: Value?

        init(_ name: String, _ values: PropertyValues<Value>, _ read: @escaping () -> Value) {
            self.name = name
            iterator = values.makeAsyncIterator()
            self.read = read
        }

        func begin() async -> Bool {
            var iterator = iterator
            last = await iterator.next()
            self.iterator = iterator
            return last == read()
        }

        /// Reads the next value if the property has changed. `isNewest` is whether that value is the property's current
        /// one.
        func advance() async -> (isOther: Bool, isNewest: Bool) {
            guard read() != last else { return (false, true) }
            var iterator = iterator
            last = await iterator.next()
            self.iterator = iterator
            return (true, last == read())
        }
    }

    private protocol Sampling {
        var name: String { get }
        func begin() async -> Bool
        func advance() async -> (isOther: Bool, isNewest: Bool)
    }

    private static func samplers(_ player: Player, _ item: PlayerItem) -> [any Sampling] {
        func of<Value: Equatable & Sendable>(
            _ name: String, _ path: any KeyPath<Player, Value> & Sendable
        ) -> any Sampling {
            Sampler(name, player.values(of: path)) { player[keyPath: path] }
        }
        func of<Value: Equatable & Sendable>(
            _ name: String, _ path: any KeyPath<PlayerItem, Value> & Sendable
        ) -> any Sampling {
            Sampler(name, item.values(of: path)) { item[keyPath: path] }
        }
        return [
            of("currentItem", \Player.currentItem), of("rate", \Player.rate),
            of("reasonForWaitingToPlay", \Player.reasonForWaitingToPlay),
            of("timeControlStatus", \Player.timeControlStatus), of("variant", \Player.state.variant?.index),
            of("liveOffset", \Player.state.liveOffset),
            of("duration", \PlayerItem.duration), of("error", \PlayerItem.error?.code),
            of("isPlaybackLikelyToKeepUp", \PlayerItem.isPlaybackLikelyToKeepUp),
            of("loadedTimeRanges", \PlayerItem.loadedTimeRanges),
            of("presentationSize", \PlayerItem.presentationSize),
            of("seekableTimeRanges", \PlayerItem.seekableTimeRanges), of("status", \PlayerItem.status),
            of("tracks", \PlayerItem.tracks.count),
        ]
    }

    private static func changed(
        _ item: PlayerItem, _ configuration: PlayerConfiguration, _ clock: VirtualClock, after time: Duration
    ) async throws -> [String] {
        let player = Player(configuration: configuration)
        let samplers = samplers(player, item)
        for sampler in samplers { #expect(await sampler.begin(), "\(sampler.name)") }
        player.play()
        try player.replaceCurrentItem(with: item)
        try await clock.sleep(for: time)
        var changed: [String] = []
        for sampler in samplers {
            let (isOther, isNewest) = await sampler.advance()
            #expect(isNewest, "\(sampler.name)")
            if isOther { changed.append(sampler.name) }
        }
        await player.close()
        return changed
    }

    @Test("F23: each property starts with its value, and a late reader gets the newest one at once")
    func everyProperty() throws {
        let queue = try VirtualQueue(["a": 60])
        let played = try queue.clock.run {
            try await Self.changed(queue.item("a"), queue.configuration, queue.clock, after: .seconds(5))
        }
        #expect(
            played == [
                "currentItem", "rate", "timeControlStatus", "variant", "duration", "isPlaybackLikelyToKeepUp",
                "loadedTimeRanges", "presentationSize", "seekableTimeRanges", "status", "tracks",
            ])
        let failed = try queue.clock.run {
            try await Self.changed(queue.item("x"), queue.configuration, queue.clock, after: .seconds(60))
        }
        #expect(failed.contains("error") && failed.contains("status") && !failed.contains("tracks"))
    }

    @Test("F23: the reason for waiting and the live offset are reported as values")
    func waitingAndLive() throws {
        let clock = VirtualClock()
        let stream = SyntheticStream(
            bitRates: [400_000], segmentDuration: .seconds(2), segmentCount: 200, liveWindow: 10)
        let trace = try NetworkTrace(parsing: VirtualQueue.fastLink.utf8)
        let configuration = PlayerConfiguration(
            clock: clock, transport: SimulatedTransport(stream, over: trace, clock: clock))
        let changed = try clock.run {
            let player = Player(configuration: configuration)
            var reasons = player.values(of: \.reasonForWaitingToPlay).makeAsyncIterator()
            #expect(await reasons.next() == .some(nil))
            player.play()
            #expect(await reasons.next() == .some(.noItemToPlay))
            await player.close()
            return try await Self.changed(
                PlayerItem(urlString: stream.urlString), configuration, clock, after: .seconds(30))
        }
        #expect(changed.contains("liveOffset") && changed.contains("seekableTimeRanges"))
        #expect(!changed.contains("duration"))
    }

    @Test("F23: values end with the player, with its items, and with the reading task")
    func ends() throws {
        let queue = try VirtualQueue(["a": 8, "b": 8])
        try queue.clock.run {
            let items = [queue.item("a"), queue.item("b")]
            let player = try QueuePlayer(items: items, configuration: queue.configuration)
            let cancelled = Reader(player.values(of: \.rate), on: queue.clock)
            let rates = Reader(player.values(of: \.rate), on: queue.clock)
            let statuses = items.map { Reader($0.values(of: \.status), on: queue.clock) }
            let events = items.map { item in
                Task(executorPreference: queue.clock) { [events = item.events()] in for await _ in events {} }
            }
            try await queue.clock.sleep(for: .seconds(1))
            cancelled.cancel()
            try await queue.clock.sleep(for: .seconds(1))
            #expect(cancelled.hasEnded && !rates.hasEnded && statuses.allSatisfy { !$0.hasEnded })
            await player.close()
            for task in events { await task.value }
            try await queue.clock.sleep(for: .milliseconds(1))
            #expect(rates.hasEnded && statuses.allSatisfy(\.hasEnded))
            let late = Reader(items[0].values(of: \.status), on: queue.clock)
            try await queue.clock.sleep(for: .milliseconds(1))
            #expect(late.values == [.readyToPlay] && late.hasEnded)
        }
    }

    private struct Weak {
        weak var player: Player?
        weak var item: PlayerItem?
    }

    @Test("F23: a sequence retains neither the player nor the item")
    func lifetime() throws {
        let queue = try VirtualQueue(["a": 8])
        try queue.clock.run {
            var item: PlayerItem? = queue.item("a")
            var player: Player? = Player(configuration: queue.configuration)
            try player?.replaceCurrentItem(with: item)
            let weak = Weak(player: player, item: item)
            let rates = (player?.values(of: \.rate)).map { Reader($0, on: queue.clock) }
            let statuses = (item?.values(of: \.status)).map { Reader($0, on: queue.clock) }
            try await queue.clock.sleep(for: .seconds(1))
            item = nil
            player = nil
            try await queue.clock.sleep(for: .seconds(1))
            #expect(weak.item == nil && weak.player == nil)
            #expect(rates?.hasEnded == true && statuses?.hasEnded == true)
        }
    }

    @Test("F23, H06: a looper's rounds are reported until looping ends")
    func looper() throws {
        let queue = try VirtualQueue(["a": 4])
        try queue.clock.run {
            let player = QueuePlayer(configuration: queue.configuration)
            let looper = try PlayerLooper(player: player, template: queue.item("a"))
            let counts = Reader(looper.values(of: \.loopCount), on: queue.clock)
            let statuses = Reader(looper.values(of: \.status), on: queue.clock)
            player.play()
            try await queue.clock.sleep(for: .seconds(10))
            #expect(counts.values == [0, 1, 2])
            #expect(statuses.values == [.unknown, .ready])
            #expect(!counts.hasEnded)
            looper.disableLooping()
            try await queue.clock.sleep(for: .seconds(4))
            #expect(counts.values == [0, 1, 2, 3])
            #expect(statuses.values == [.unknown, .ready, .cancelled])
            #expect(counts.hasEnded && statuses.hasEnded)
            let late = Reader(looper.values(of: \.loopCount), on: queue.clock)
            try await queue.clock.sleep(for: .seconds(1))
            #expect(late.values == [3] && late.hasEnded)
            await player.close()
        }
    }
}
