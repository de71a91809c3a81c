import HLSKitCore
import HLSKitSimulation
import Synchronization
import Testing

@Suite("App code in the player", .timeLimit(.minutes(10)))
struct ProgramCodeTests {
    /// Reads the state of a player. The player is created later, so `follow(_:)` sets it.
    private final class Reader: Sendable {
        private struct State {
            weak var player: Player?
            var readings: [String] = []
        }

        private let state = Mutex(State())

        func follow(_ player: Player) { state.withLock { $0.player = player } }

        func read() {
            guard let player = state.withLock({ $0.player }) else { return }
            let (state, rate) = (player.state, player.rate)
            let item = player.currentItem
            let text = "\(rate) \(state.timeControlStatus) \(state.variant?.index ?? -1) \(item?.duration.seconds ?? 0)"
            self.state.withLock { $0.readings.append(text) }
        }

        var readings: [String] { state.withLock(\.readings) }
    }

    private struct LowThenHigh: VariantSelector {
        let reader: Reader
        private(set) var count = 0

        init(reader: Reader) { self.reader = reader }

        mutating func decide(_ input: SelectionInput) -> SelectionDecision {
            reader.read()
            if let download = input.download {
                return SelectionDecision(variantID: download.variantID, explanation: "goes on")
            }
            count += 1
            let ladder = input.candidates
            let choice = ladder[min(count / 3, ladder.count - 1)].id
            let number = count
            return SelectionDecision(variantID: choice, explanation: "decision \(number)")
        }
    }

    private func play(
        prefer: (PlayerItem, Reader) -> Void = { _, _ in }, _ configure: (inout PlayerConfiguration, Reader) -> Void
    ) throws -> (log: String, readings: [String], variants: [Int]) {
        let (clock, stream, reader) = (VirtualClock(), SyntheticStream(segmentCount: 15), Reader())
        let link = NetworkTrace(constant: .init(bitsPerSecond: 8e6, latency: .milliseconds(50)))
        var configuration = PlayerConfiguration(
            clock: clock, transport: SimulatedTransport(stream, over: link, clock: clock))
        configure(&configuration, reader)
        let player = Player(configuration: configuration)
        reader.follow(player)
        let events = player.events()
        player.play()
        let item = PlayerItem(urlString: stream.urlString)
        prefer(item, reader)
        try player.replaceCurrentItem(with: item)
        let (log, variants) = try clock.run {
            var (log, variants) = (EventLog(), [Int]())
            for await event in events {
                log.append(event)
                if case .variantSwitched(_, let variant, _) = event.kind { variants.append(variant.index) }
                if case .didPlayToEnd = event.kind { break }
                if case .itemStatusChanged(.failed) = event.kind { break }
            }
            return (log, variants)
        }
        #expect(player.state.itemStatus == .readyToPlay)
        return (log.text, reader.readings, variants)
    }

    @Test("a custom keep-up policy may read the player, and the session stays deterministic")
    func keepUp() throws {
        func run() throws -> (log: String, readings: [String], variants: [Int]) {
            try play { configuration, reader in
                configuration.keepUpPolicy = .custom { input in
                    reader.read()
                    return input.holdsAllRemaining || input.forwardDuration >= .seconds(10)
                }
            }
        }
        let first = try run()
        #expect(!first.readings.isEmpty)
        let second = try run()
        #expect(first.log == second.log)
        #expect(first.readings == second.readings)
    }

    private static func quality(_ reader: Reader, from index: Int) -> QualityExpression {
        QualityExpression([
            .matching { variant in
                reader.read()
                return variant.index >= index
            }
        ])
    }

    @Test("E15: a variant condition may read the player, whether set before loading or later")
    func condition() throws {
        let result = try play(prefer: { item, reader in item.quality = Self.quality(reader, from: 2) }) { _, _ in }
        #expect(result.readings.count == 4, "once for each variant")
        #expect(!result.variants.isEmpty && result.variants.allSatisfy { $0 >= 2 })

        let (clock, stream, reader) = (VirtualClock(), SyntheticStream(segmentCount: 15), Reader())
        let link = NetworkTrace(constant: .init(bitsPerSecond: 8e6, latency: .milliseconds(50)))
        let configuration = PlayerConfiguration(
            clock: clock, transport: SimulatedTransport(stream, over: link, clock: clock))
        try clock.run {
            let item = PlayerItem(urlString: stream.urlString)
            let player = try Player(item: item, configuration: configuration)
            reader.follow(player)
            player.play()
            try await clock.sleep(for: .seconds(5))
            item.quality = Self.quality(reader, from: 3)
            try await clock.sleep(for: .seconds(60))
            #expect(player.state.variant?.index == 3)
            #expect(reader.readings.count == 4)
            await player.close()
        }
    }

    @Test("an app's rule may read the player, and its state is kept between decisions")
    func selector() throws {
        func run() throws -> (log: String, readings: [String], variants: [Int]) {
            try play { configuration, reader in configuration.variantSelector = LowThenHigh(reader: reader) }
        }
        let first = try run()
        #expect(!first.readings.isEmpty)
        #expect(first.variants == [0, 1, 2, 3])
        let second = try run()
        #expect(first.log == second.log)
        #expect(first.readings == second.readings)
    }

    private struct Wrapped: VariantSelector {
        var rule: any VariantSelector
        mutating func decide(_ input: SelectionInput) -> SelectionDecision { rule.decide(input) }
    }

    @Test("a rule chooses the same variants whether the app or the engine calls it")
    func wrapped() throws {
        let own = try play { configuration, _ in configuration.variantSelector = ScenarioRule() }
        let wrapped = try play { configuration, _ in configuration.variantSelector = Wrapped(rule: ScenarioRule()) }
        // Among simultaneous events, the app's response is last.
        #expect(own.variants == wrapped.variants)
        #expect(own.variants.count > 1)
    }

    @Test("the date is read once, when the player is made, and not under its lock")
    func wallClock() throws {
        let reader = Reader()
        let count = Mutex(0)
        let clock = VirtualClock()
        let stream = SyntheticStream(segmentCount: 2)
        let link = NetworkTrace(constant: .init(bitsPerSecond: 8e6, latency: .milliseconds(50)))
        var configuration = PlayerConfiguration(
            clock: clock, transport: SimulatedTransport(stream, over: link, clock: clock))
        configuration.wallClock = {
            count.withLock { $0 += 1 }
            reader.read()
            return PlaylistDate(seconds: 5)
        }
        let player = QueuePlayer(configuration: configuration)
        reader.follow(player)
        player.play()
        for _ in 0..<3 { try player.insert(PlayerItem(urlString: stream.urlString)) }
        clock.advance(by: .seconds(60))
        #expect(count.withLock { $0 } == 1)
    }
}
