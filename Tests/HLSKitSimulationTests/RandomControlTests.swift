import Foundation
import HLSKitLoading
import HLSKitSimulation
import HLSKitTime
import Synchronization
import TestSupport
import Testing

@testable import HLSKitEngine
@testable import HLSKitPlayback

/// Eight users control one player at once, at random. The rules in docs/reference/playback.md must hold at all times.
@Suite("A player under random control", .timeLimit(.minutes(30)))
struct RandomControlTests {
    static let userCount = 8

    /// The seeds, and the minutes of each walk. The default is two short walks. `HLSKIT_CONTROL` overrides it: `0-8x60`
    /// is eight walks of an hour.
    private static let plan: (seeds: [UInt64], minutes: Int) = {
        let text = ProcessInfo.processInfo.environment["HLSKIT_CONTROL"] ?? "0-2x2"
        let numbers = text.split(whereSeparator: { "-x".contains($0) }).compactMap { Int($0) }
        guard numbers.count == 3, 0 <= numbers[0], numbers[0] < numbers[1], numbers[2] > 0 else { return ([], 0) }
        return ((numbers[0]..<numbers[1]).map { UInt64($0) }, numbers[2])
    }()

    private static func configuration(_ clock: any Clock<Duration>, seed: UInt64) throws -> PlayerConfiguration {
        let origin = try ControlOrigin(seed: seed)
        let transport = SimulatedTransport(over: try ControlOrigin.trace(seed: seed), clock: clock) {
            origin.response(to: $0)
        }
        var configuration = PlayerConfiguration(clock: clock, transport: transport)
        configuration.seed = seed
        configuration.decodingThreadCount = 1
        configuration.sendsPlaybackSessionID = false
        // The buffer is small, so that it is full from time to time.
        if seed % 2 == 0 { configuration.buffering.forwardDuration = .seconds(12) }
        return configuration
    }

    // MARK: Virtual time

    @Test(
        "C: eight tasks on the virtual clock: the same seed gives the same log, and the invariants hold",
        arguments: plan.seeds)
    func virtual(seed: UInt64) throws {
        let first = try Self.walk(seed: seed)
        let second = try Self.walk(seed: seed)
        let difference = zip(first, second).enumerated().first { $0.element.0 != $0.element.1 }
        if let difference {
            let before = first[max(0, difference.offset - 12)..<difference.offset].joined(separator: "\n")
            Issue.record(
                "seed \(seed), line \(difference.offset):\n\(before)\n1: \(difference.element.0)\n2: \(difference.element.1)"
            )
        }
        #expect(first.count == second.count)
    }

    private static func walk(seed: UInt64) throws -> [String] {
        let clock = VirtualClock()
        let stage = ControlStage(configuration: try configuration(clock, seed: seed), isAlone: true)
        let end = Duration.seconds(60 * plan.minutes)
        for number in 0..<userCount {
            Task(executorPreference: clock) {
                var user = RandomUser(number, seed: seed, stage: stage)
                while clock.now.offset < end {
                    try? await clock.sleep(for: user.pause())
                    user.act()
                }
            }
        }
        var inspector = StandstillInspector(stage: stage)
        while clock.now.offset < end {
            clock.advance(by: .milliseconds(100))
            inspector.look(at: clock.now.offset)
        }
        clock.advance(by: .seconds(20))
        if let text = ProcessInfo.processInfo.environment["HLSKIT_CONTROL_LOG"] {
            try stage.lines.joined(separator: "\n").write(toFile: "\(text)-\(seed)", atomically: true, encoding: .utf8)
        }
        try playOn(stage, clock)
        try clock.run { await stage.close() }
        clock.advance(by: .seconds(120))
        #expect(stage.openCalls == 0, "calls that have not come back")
        #expect(clock.nextDeadline == nil, "somebody still sleeps")
        #expect(stage.callCount > plan.minutes * 60)
        judge(stage, seed: seed)
        return stage.lines
    }

    /// Checks that the player still plays on request.
    private static func playOn(_ stage: ControlStage, _ clock: VirtualClock) throws {
        let player = stage.player
        let looper = stage.change { props in
            defer { props.looper = nil }
            return props.looper
        }
        looper?.disableLooping()
        (player as? QueuePlayer)?.removeAllItems()
        clock.advance(by: .seconds(1))
        player.automaticallyWaitsToMinimizeStalling = true
        player.defaultRate = 1
        player.actionAtItemEnd = .pause
        let item = stage.newItem(.short)
        try player.replaceCurrentItem(with: item)
        player.play()
        for _ in 0..<1200 where player.rate != 0 { clock.advance(by: .milliseconds(100)) }
        #expect(player.state.currentTime.seconds == 6, "played to \(player.state)")
    }

    private static func judge(_ stage: ControlStage, seed: UInt64) {
        let violations = stage.violations
        guard !violations.isEmpty else { return }
        Issue.record("seed \(seed), \(violations.count) times:\n\(Self.various(violations).joined(separator: "\n"))")
    }

    private static func various(_ violations: [String]) -> [String] {
        var known: Set<Substring> = []
        return violations.filter { violation in
            let rule = violation.split(separator: ": ").dropFirst().joined(separator: ": ")
            return known.insert(rule.filter { !$0.isNumber }.prefix(40)[...]).inserted
        }
    }

    // MARK: Threads

    @Test("C: eight threads: no race, no trap, and the invariants hold", arguments: plan.seeds)
    func threads(seed: UInt64) async throws {
        let clock = FastClock(factor: 60)
        let stage = ControlStage(configuration: try Self.configuration(clock, seed: seed), isAlone: false)
        let end = Duration.seconds(60 * Self.plan.minutes)
        await withTaskGroup { group in
            for number in 0..<Self.userCount {
                group.addTask {
                    await withCheckedContinuation { continuation in
                        Thread.detachNewThread {
                            var user = RandomUser(number, seed: seed, stage: stage)
                            // On a busy machine the time may end before a thread has started.
                            while clock.now.offset < end || stage.callCount <= Self.plan.minutes * 60 {
                                usleep(UInt32(user.pause() / .microseconds(1)) / UInt32(clock.factor))
                                user.act()
                            }
                            continuation.resume()
                        }
                    }
                }
            }
        }
        await stage.close()
        for _ in 0..<1000 where stage.openCalls > 0 { try await Task.sleep(for: .milliseconds(10)) }
        #expect(stage.openCalls == 0, "calls that have not come back")
        #expect(stage.callCount > Self.plan.minutes * 60)
        Self.judge(stage, seed: seed)
    }
}

/// Inspects a player at rest. All changes must have been reported, and time must have passed as reported.
private struct StandstillInspector {
    let stage: ControlStage
    private var last: Look?

    private struct Look {
        var player: ObjectIdentifier
        var state: PlayerState
        var isSeeking: Bool
        /// The player's host time, and the time at which its rate takes effect. A rate may be tied to a later host
        /// time.
        var now: Duration
        var beginsToPass: Duration
        var eventCount: Int
        var lineCount: Int
    }

    init(stage: ControlStage) { self.stage = stage }

    mutating func look(at time: Duration) {
        stage.check()
        let (player, follower) = stage.scene
        let (state, view) = (player.state, follower.now)
        func require(_ isTrue: Bool, _ text: @autoclosure () -> String) {
            if !isTrue { stage.fail("standing still: \(text())") }
        }
        require(view.status == state.timeControlStatus, "the status is \(state.timeControlStatus), told \(view.status)")
        require(
            view.reason == state.reasonForWaitingToPlay,
            "the reason is \(state.reasonForWaitingToPlay.map { "\($0)" } ?? "none"), told \(view.reason.map { "\($0)" } ?? "none")"
        )
        require(view.rate == state.rate, "the rate is \(state.rate), told \(view.rate)")
        require(view.currentItem == state.currentItemID, "another item was told")
        if let id = state.currentItemID, let item = view.items[id], state.itemStatus == .readyToPlay {
            require(item.status == state.itemStatus, "the item is \(state.itemStatus), told \(item.status)")
            // The report has the playlist's duration. Once everything is loaded, the last sample determines the
            // duration.
            let matchesReport = item.duration.map {
                $0 == state.duration || abs($0.seconds - state.duration.seconds) < 0.5
            }
            require(
                matchesReport ?? false,
                "the duration is \(state.duration.seconds), told \(item.duration?.seconds ?? -1)")
        }
        let look = Look(
            player: ObjectIdentifier(player), state: state, isSeeking: player.core.read { $0.machine.isSeekPending },
            now: player.core.clock.now, beginsToPass: player.core.read { $0.clock.timebase.hostTime },
            eventCount: view.eventCount,
            lineCount: stage.lines.count)
        if let last, last.player == look.player, last.eventCount == look.eventCount, last.lineCount == look.lineCount,
            last.state.currentItemID == state.currentItemID, last.state.itemStatus == .readyToPlay,
            !last.isSeeking, !look.isSeeking
        {
            let passed = max(.zero, look.now - max(last.now, look.beginsToPass)).seconds * last.state.timebaseRate
            let moved = state.currentTime.seconds - last.state.currentTime.seconds
            let isAtEnd = state.duration.isNumeric && state.currentTime >= state.duration
            require(abs(moved - passed) < 0.002 || isAtEnd, "time went on by \(moved) instead of \(passed)")
        }
        last = look
    }
}
