import HLSKitCore
import HLSKitSimulation
import Testing

@Suite("Players that share a budget", .timeLimit(.minutes(10)))
struct ResourceBudgetTests {
    /// - Returns: The wait of the second player, the first one's stalls, and all requests.
    private static func start(
        _ first: ResourcePriority, _ second: ResourcePriority
    ) throws -> (wait: Duration, stalls: Int, requests: [String]) {
        // The link has twice the bit rate of a stream.
        let pipe = try SharedPipe(kilobitsPerSecond: 4200)
        let budget = ResourceBudget()
        let preview = try pipe.play("preview", budget) { $0.buffering.forwardDuration = .seconds(60) }
        pipe.run(20)
        #expect(preview.state.ahead > 12)
        preview.networkResourcePriority = first
        let film = try pipe.play("film", budget)
        film.networkResourcePriority = second
        let wait = pipe.run(30) { film.timeControlStatus != .playing }
        pipe.run(40)
        #expect(film.timeControlStatus == .playing)
        return (wait, preview.state.statistics.numberOfStalls, pipe.requests)
    }

    @Test("D10: a high priority player starts sooner next to a low one, which does not stall")
    func priority() throws {
        let equal = try Self.start(.default, .default)
        let ranked = try Self.start(.low, .high)
        #expect(ranked.wait < equal.wait * 0.8, "\(ranked.wait) and \(equal.wait)")
        #expect(ranked.stalls == 0)
        #expect(try Self.start(.low, .low).requests == equal.requests, "equals do not mind each other")
        #expect(try Self.start(.high, .low).wait >= equal.wait * 0.9, "who is higher yields to nobody")
        #expect(try Self.start(.low, .high).requests == ranked.requests, "the same each time")
    }

    @Test("D10: a player that waits for ever lets lower priority players continue")
    func starvation() throws {
        let pipe = try SharedPipe(kilobitsPerSecond: 6000) { $0 == "dead" }
        let budget = ResourceBudget()
        let dead = try pipe.play("dead", budget) { $0.retryPolicies = .patient }
        dead.networkResourcePriority = .high
        let low = try pipe.play("low", budget)
        low.networkResourcePriority = .low
        let start = pipe.run(20) { low.timeControlStatus != .playing }
        #expect(start < .seconds(5))
        var most = 0.0
        pipe.run(45) {
            most = max(most, low.state.ahead)
            return true
        }
        #expect(dead.timeControlStatus == .waitingToPlayAtSpecifiedRate)
        #expect(low.state.statistics.numberOfStalls == 0)
        #expect(most < 13, "it holds a reserve and no more: \(most)")
        dead.pause()
        pipe.run(5)
        #expect(low.state.ahead > most)
        pipe.run(20)
        #expect(low.state.currentTime.seconds > 69)
        #expect(low.state.statistics.numberOfStalls == 0)
    }

    @Test("D10: a low priority recorder continues segment by segment next to a waiting player")
    func recorder() throws {
        let pipe = try SharedPipe(kilobitsPerSecond: 20_000, segmentCount: 30) { $0 == "dead" }
        let budget = ResourceBudget()
        let dead = try pipe.play("dead", budget) { $0.retryPolicies = .patient }
        dead.networkResourcePriority = .high
        let recorder = try pipe.play("low", budget) {
            $0.pacing = .unpaced
            $0.decodesWithoutOutput = [.video]
        }
        recorder.networkResourcePriority = .low
        pipe.run(30)
        #expect(recorder.state.currentTime.seconds > 59.9)
        withExtendedLifetime(dead) {}
    }

    struct Limit: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var budget: @Sendable () -> ResourceBudget
        /// The upper limits: the seconds ahead and the bytes of all players.
        var ahead = Double.infinity
        var bytes = Double.infinity
    }

    static let limits = [
        Limit(
            testDescription: "bytes", budget: { ResourceBudget(maximumBufferedByteCount: 6_000_000) },
            bytes: 6_000_000),
        Limit(
            testDescription: "seconds", budget: { ResourceBudget(maximumBufferedDuration: .seconds(32)) }, ahead: 32),
    ]

    @Test("D10: all players together stay within the budget, and none of them stalls", arguments: limits)
    func together(_ limit: Limit) throws {
        let pipe = try SharedPipe(kilobitsPerSecond: 100_000)
        let budget = limit.budget()
        let players = try (0..<4).map { try pipe.play("s\($0)", budget) }
        #expect(budget.playerCount == 4)
        var (ahead, held) = (0.0, 0.0)
        pipe.run(40) {
            let states = players.map(\.state)
            ahead = max(ahead, states.reduce(0) { $0 + $1.ahead })
            held = max(held, states.reduce(0) { $0 + $1.held } * Double(SharedPipe.bytesPerSecond))
            return true
        }
        #expect(ahead <= limit.ahead + 0.001)
        #expect(held <= limit.bytes + 1)
        // The total is close to the limit, within one segment per player.
        #expect(ahead > 14)
        for player in players {
            #expect(player.state.statistics.numberOfStalls == 0)
            #expect(player.state.currentTime.seconds > 38)
        }
    }

    @Test("D10: with an empty budget each player holds the minimum for playback")
    func nothing() throws {
        let pipe = try SharedPipe(kilobitsPerSecond: 20_000, segmentCount: 10)
        let budget = ResourceBudget(maximumBufferedByteCount: 0, maximumBufferedDuration: .zero)
        let players = try (0..<3).map { try pipe.play("s\($0)", budget) }
        pipe.run(25) {
            #expect(players.allSatisfy { $0.state.ahead <= 4.001 })
            return true
        }
        #expect(players.allSatisfy { $0.state.currentTime.seconds > 19.9 })
        #expect(players.allSatisfy { $0.state.statistics.numberOfStalls == 0 })
    }

    @Test("D10: shares change when players join, lose their item, close and are released")
    func membership() throws {
        weak var last: Player?
        let pipe = try SharedPipe(kilobitsPerSecond: 100_000)
        let budget = ResourceBudget(maximumBufferedDuration: .seconds(24))
        let player = try pipe.play("a", budget)
        pipe.run(10)
        #expect(player.state.ahead > 20)
        do {
            let others = try (0..<2).map { try pipe.play("b\($0)", budget) }
            let idle = Player(configuration: pipe.configuration(budget))
            last = others[1]
            #expect(budget.playerCount == 3)
            pipe.run(20)
            #expect(player.state.ahead <= 8)
            try others[0].replaceCurrentItem(with: nil)
            #expect(budget.playerCount == 2)
            pipe.run(1)
            #expect(player.state.ahead > 8, "it fills at once")
            withExtendedLifetime((others, idle)) {}
        }
        #expect(last == nil)
        #expect(budget.playerCount == 1)
        pipe.run(1)
        #expect(player.state.ahead > 20)
        let closing = Task(executorPreference: pipe.clock) { await player.close() }
        pipe.run(1)
        withExtendedLifetime(closing) {}
        #expect(budget.playerCount == 0)
    }

    @Test("D10: the items of a queue share their player's allowance")
    func queue() throws {
        let pipe = try SharedPipe(kilobitsPerSecond: 100_000, segmentCount: 15)
        let budget = ResourceBudget(maximumBufferedByteCount: 3_000_000)
        let items = [pipe.item("a"), pipe.item("b")]
        let player = try QueuePlayer(items: items, configuration: pipe.configuration(budget))
        player.play()
        var most = 0.0
        pipe.run(55) {
            let open = player.currentItem === items[0] ? items : [items[1]]
            let held = open.flatMap(\.loadedTimeRanges).reduce(0) { $0 + $1.duration.seconds }
            most = max(most, held)
            return true
        }
        #expect(player.currentItem === items[1])
        // 12 s, plus the start of the second item.
        #expect(most <= 14.001)
        #expect(most > 9)
        #expect(player.state.statistics.numberOfStalls == 0)
    }
}
