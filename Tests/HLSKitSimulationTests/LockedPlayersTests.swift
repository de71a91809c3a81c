import HLSKitCore
import HLSKitSimulation
import Testing

@Suite("Players locked together", .timeLimit(.minutes(10)))
struct LockedPlayersTests {
    private static func makeReady(_ player: Player, _ queue: VirtualQueue) throws {
        player.automaticallyWaitsToMinimizeStalling = false
        try player.replaceCurrentItem(with: queue.item("a"))
    }

    private static func distance(_ player: Player, from expected: MediaTime) -> Double {
        abs((player.currentTime - expected).seconds)
    }

    @Test(
        "B08: two players tied to one host time show the same moment, whenever made and started")
    func two() throws {
        let queue = try VirtualQueue(["a": 60])
        let clock = queue.clock
        try clock.run {
            let one = Player(configuration: queue.configuration)
            try await clock.sleep(for: .milliseconds(1733))
            let other = Player(configuration: queue.configuration)
            let players = [one, other]
            for player in players { try Self.makeReady(player, queue) }
            try await clock.sleep(for: .seconds(2))
            // The second player gets the rate while the first one already plays.
            for (rate, wait) in [(Float(1), Duration.milliseconds(100)), (1.5, .milliseconds(-200))] {
                let start = one.sourceClock.now + wait
                let place = one.currentTime + .seconds(2)
                for player in players {
                    try player.setRate(rate, time: place, atHostTime: start)
                    try await clock.sleep(for: .milliseconds(333))
                }
                for _ in 0..<5 {
                    try await clock.sleep(for: .milliseconds(871))
                    let now = other.sourceClock.now
                    let expected = place + MediaTime(now - start).multiplied(by: Double(rate))
                    for player in players {
                        #expect(player.timeControlStatus == .playing)
                        #expect(Self.distance(player, from: expected) < 0.001, "\(player.currentTime), not \(expected)")
                        let timebase = try #require(player.currentItem).timebase
                        #expect(abs((timebase.time(atHostTime: now) - expected).seconds) < 0.001)
                    }
                }
            }
            for player in players { await player.close() }
        }
    }

    @Test("B08: players of two machines follow a server's clock within a millisecond")
    func server() throws {
        let queue = try VirtualQueue(["a": 60])
        let clock = queue.clock
        let epoch = HostTime(offset: .seconds(1_700_000_000))
        /// The server's clock runs faster than the machines' clocks.
        @Sendable func serverTime() -> HostTime { epoch + clock.now.offset * 1.0004 }
        try clock.run {
            let machines = [Duration.milliseconds(-30), .milliseconds(45)].map { offset in
                SteeredClock(showing: serverTime() + offset, on: SourceClock(clock))
            }
            let players = machines.map { machine in
                var configuration = queue.configuration
                configuration.sourceClock = SourceClock(machine)
                return Player(configuration: configuration)
            }
            for player in players { try Self.makeReady(player, queue) }
            for _ in 0..<4 {
                for machine in machines { machine.steer(to: serverTime()) }
                try await clock.sleep(for: .seconds(1))
            }
            let start = serverTime() + .seconds(2)
            for player in players { try player.setRate(1, time: .seconds(5), atHostTime: start) }
            for _ in 0..<20 {
                for machine in machines { machine.steer(to: serverTime()) }
                try await clock.sleep(for: .milliseconds(1490))
                let expected = MediaTime.seconds(5) + MediaTime(max(serverTime() - start, .zero))
                for player in players {
                    #expect(Self.distance(player, from: expected) < 0.001, "\(player.currentTime), not \(expected)")
                }
            }
            for player in players { await player.close() }
        }
    }

    @Test(
        "B08: unreachable host times are refused, and nothing changes",
        arguments: [Duration.seconds(Int64.max), .seconds(Int64.min), .seconds(2_000_000_000)])
    func refused(offset: Duration) {
        let player = Player(configuration: PlayerConfiguration(clock: VirtualClock()))
        player.automaticallyWaitsToMinimizeStalling = false
        let error = #expect(throws: HLSError.self) {
            try player.setRate(1, time: .zero, atHostTime: HostTime(offset: offset))
        }
        #expect(error?.code == .invalidTime)
        #expect(throws: HLSError.self) { try player.setRate(1, time: .indefinite, atHostTime: nil) }
        #expect(player.rate == 0)
    }
}
