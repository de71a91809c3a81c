import HLSKitCore
import HLSKitSimulation
import Testing

@Suite("Misuse throws and does not trap", .timeLimit(.minutes(10)))
struct MisuseTests {
    struct Case: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var code: HLSError.Code
        var call: @Sendable (VirtualQueue, Player) async throws -> Void

        init(
            _ name: String, _ code: HLSError.Code,
            _ call: @escaping @Sendable (VirtualQueue, Player) async throws -> Void
        ) {
            testDescription = name
            self.code = code
            self.call = call
        }
    }

    private static let cases = [
        Case("an item of another player, replacing", .itemInUse) { queue, _ in
            let item = queue.item("a")
            let other = try Player(item: item, configuration: queue.configuration)
            let player = Player(configuration: queue.configuration)
            defer { withExtendedLifetime(other) {} }
            try player.replaceCurrentItem(with: item)
        },
        Case("an item of another player, at once", .itemInUse) { queue, _ in
            let item = queue.item("a")
            let other = try Player(item: item, configuration: queue.configuration)
            defer { withExtendedLifetime(other) {} }
            _ = try Player(item: item, configuration: queue.configuration)
        },
        Case("an item twice in a queue, at once", .itemInUse) { queue, _ in
            let item = queue.item("a")
            _ = try QueuePlayer(items: [item, item], configuration: queue.configuration)
        },
        Case("an item twice in a queue", .itemInUse) { queue, _ in
            let (player, item) = (QueuePlayer(configuration: queue.configuration), queue.item("a"))
            try player.insert(item)
            try player.insert(item)
        },
        Case("an item behind one that is not there", .invalidArgument) { queue, _ in
            let player = QueuePlayer(configuration: queue.configuration)
            try player.insert(queue.item("a"), after: queue.item("b"))
        },
        Case("a seek to no time", .invalidTime) { _, player in _ = try await player.seek(to: .invalid) },
        Case("a seek to an indefinite time", .invalidTime) { _, player in _ = try await player.seek(to: .indefinite) },
        Case("a tolerance below zero", .invalidTime) { _, player in
            _ = try await player.seek(to: .zero, toleranceBefore: MediaTime(value: -1, timescale: 1))
        },
        Case("a tolerance that is none", .invalidTime) { _, player in
            _ = try await player.seek(to: .zero, toleranceAfter: .invalid)
        },
        Case("an interval of zero", .invalidArgument) { _, player in _ = try player.times(every: .zero) },
        Case("an interval below zero", .invalidArgument) { _, player in
            _ = try player.times(every: MediaTime(value: -1, timescale: 1))
        },
        Case("an interval that is none", .invalidArgument) { _, player in _ = try player.times(every: .invalid) },
        Case("a boundary that is none", .invalidArgument) { _, player in
            _ = try player.boundaries([.zero, .indefinite])
        },
        Case("host time while the player waits by itself", .requiresManualWaiting) { _, player in
            try player.setRate(1, time: .zero, atHostTime: .zero)
        },
        Case("a host time of another age", .invalidTime) { _, player in
            player.automaticallyWaitsToMinimizeStalling = false
            try player.setRate(1, time: .zero, atHostTime: HostTime(offset: .seconds(Int64.max)))
        },
        Case("a rate that is none, at a host time", .invalidArgument) { _, player in
            player.automaticallyWaitsToMinimizeStalling = false
            try player.setRate(.nan, time: .zero, atHostTime: .zero)
        },
        Case("preroll without an item", .notReady) { _, player in _ = try await player.preroll(atRate: 1) },
        Case("preroll at a rate that is none", .invalidArgument) { _, player in
            _ = try await player.preroll(atRate: .infinity)
        },
        Case("an output of another item", .outputInUse) { queue, _ in
            let output = VideoOutput()
            let (one, other) = (queue.item("a"), queue.item("a"))
            try one.add(output)
            try other.add(output)
        },
        Case("a loop of nothing", .invalidArgument) { queue, _ in
            let player = QueuePlayer(configuration: queue.configuration)
            _ = try PlayerLooper(
                player: player, template: queue.item("a"), range: MediaTimeRange(start: .zero, duration: .zero))
        },
        Case("an item for a player that is closed", .invalidArgument) { queue, player in
            await player.close()
            try player.replaceCurrentItem(with: queue.item("a"))
        },
    ]

    @Test("each invalid call throws its error", arguments: cases)
    func misuse(_ c: Case) throws {
        let queue = try VirtualQueue(["a": 4])
        try queue.clock.run {
            let player = Player(configuration: queue.configuration)
            let error = await #expect(throws: HLSError.self) { try await c.call(queue, player) }
            #expect(error?.code == c.code)
            #expect(player.rate == 0)
            await player.close()
        }
    }

    @Test("an invalid rate, or none at all, changes nothing", arguments: [Float.nan, .infinity, -.infinity])
    func rates(rate: Float) throws {
        let queue = try VirtualQueue(["a": 4])
        try queue.clock.run {
            let player = try Player(item: queue.item("a"), configuration: queue.configuration)
            player.rate = 1
            player.rate = rate
            player.playImmediately(atRate: rate)
            try await queue.clock.sleep(for: .seconds(1))
            #expect(player.rate.isFinite)
            #expect(player.state.timebaseRate.isFinite)
            await player.close()
        }
    }
}
