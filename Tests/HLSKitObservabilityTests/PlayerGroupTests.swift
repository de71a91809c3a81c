import HLSKitCore
import HLSKitSimulation
import MetricsTestKit
import ServiceLifecycle
import ServiceLifecycleTestKit
import Synchronization
import TestSupport
import Testing

@testable import HLSKitObservability

@Suite("A group of players as a service", .timeLimit(.minutes(10)))
struct PlayerGroupTests {
    private final class Diary: Sendable {
        private let content = Mutex<[String]>([])
        var lines: [String] { content.withLock(\.self) }
        func add(_ line: String) { content.withLock { $0.append(line) } }
    }

    private static func member(
        _ name: String, of stage: Stage, _ diary: Diary? = nil, finishTime: Duration = .zero,
        failurePolicy: RestartPolicy? = nil, endPolicy: RestartPolicy? = nil
    ) -> PlayerGroupMember {
        let (clock, url) = (stage.clock, stage.stream.urlString)
        return PlayerGroupMember(
            name: name, configuration: stage.configuration, failurePolicy: failurePolicy, endPolicy: endPolicy
        ) { number in
            diary?.add("\(name) turn \(number) at \(clock.now.offset.seconds)")
            return PlayerGroupMember.Session(item: PlayerItem(urlString: url)) { outcome in
                let word =
                    switch outcome {
                    case .ended: "ended"
                    case .failed: "failed"
                    case .stopped: "stopped"
                    }
                if finishTime > .zero {
                    do { try await clock.sleep(for: finishTime) } catch {
                        diary?.add("\(name) broken off")
                        throw error
                    }
                }
                diary?.add("\(name) \(word), finished at \(clock.now.offset.seconds.rounded())")
            }
        }
    }

    private static func group(
        _ stage: Stage, _ change: (inout PlayerGroup.Configuration) -> Void = { _ in }
    ) -> PlayerGroup {
        var configuration = PlayerGroup.Configuration()
        configuration.clock = SourceClock(stage.clock)
        change(&configuration)
        return PlayerGroup(configuration: configuration)
    }

    private func run(
        _ stage: Stage, _ group: PlayerGroup,
        _ body: @escaping @Sendable (_ task: Task<Void, any Error>) async throws -> Void
    ) throws {
        try stage.clock.run {
            try await testGracefulShutdown { trigger in
                let task = Task(executorPreference: stage.clock) { try await group.run() }
                try await body(task)
                trigger.triggerGracefulShutdown()
                try await task.value
            }
        }
    }

    @Test("all play until shutdown; their output is finished before the service returns")
    func shutDown() throws {
        let stage = Stage(SyntheticStream(bitRates: Stage.bitRates, segmentCount: 1000))
        let diary = Diary()
        let group = Self.group(stage)
        for name in ["a", "b", "c"] {
            try group.add(Self.member(name, of: stage, diary, finishTime: .seconds(2)))
        }
        #expect(group.statuses.allSatisfy { if case .pending = $0.status { true } else { false } })
        try run(stage, group) { _ in
            try await stage.clock.sleep(for: .seconds(20))
            #expect(group.player("b")?.timeControlStatus == .playing)
            #expect(group.player("d") == nil)
        }
        #expect(stage.clock.now.offset == .seconds(22))
        #expect(diary.lines.filter { $0.hasSuffix("stopped, finished at 22.0") }.count == 3)
        #expect(group.statuses.allSatisfy { if case .over(.stopped) = $0.status { true } else { false } })
        #expect(throws: HLSError.self) { try group.add(Self.member("d", of: stage)) }
    }

    @Test("a player that exceeds the closing deadline is abandoned and logged by name")
    func deadline() throws {
        let stage = Stage(SyntheticStream(bitRates: Stage.bitRates, segmentCount: 1000))
        let diary = Diary()
        let group = Self.group(stage) { $0.closingDeadline = .seconds(5) }
        try group.add(Self.member("slow", of: stage, diary, finishTime: .seconds(60)))
        try group.add(Self.member("quick", of: stage, diary, finishTime: .seconds(1)))
        let abandoned = Diary()
        let events = group.events(bufferingNewest: 10_000)
        try run(stage, group) { _ in try await stage.clock.sleep(for: .seconds(10)) }
        try stage.clock.run {
            for await event in events {
                if case .abandoned = event.kind { abandoned.add(event.name) }
            }
        }
        #expect(stage.clock.now.offset == .seconds(15))
        #expect(abandoned.lines == ["slow"])
        #expect(diary.lines.contains("slow broken off"))
        #expect(diary.lines.contains("quick stopped, finished at 11.0"))
    }

    @Test("a group whose task is cancelled closes its players and waits for a second")
    func cancelled() throws {
        let stage = Stage(SyntheticStream(bitRates: Stage.bitRates, segmentCount: 1000))
        let diary = Diary()
        let group = Self.group(stage)
        try group.add(Self.member("a", of: stage, diary))
        try group.add(Self.member("slow", of: stage, diary, finishTime: .seconds(60)))
        let outcome = try stage.clock.run { () -> Bool in
            let task = Task(executorPreference: stage.clock) { try await group.run() }
            try await stage.clock.sleep(for: .seconds(10))
            task.cancel()
            do { try await task.value } catch is CancellationError { return true } catch { return false }
            return false
        }
        #expect(outcome)
        #expect(stage.clock.now.offset == .seconds(11))
        #expect(diary.lines.contains("a stopped, finished at 10.0"))
        stage.clock.advance(by: .zero)
        #expect(diary.lines.contains("slow broken off"))
        stage.clock.advance(by: .seconds(1))
        #expect(stage.clock.nextDeadline == nil)
    }

    @Test("a failed player is restarted with growing delays, and the others are unaffected")
    func restarts() throws {
        let good = Stage(SyntheticStream(bitRates: Stage.bitRates, segmentCount: 1000))
        let transport = SimulatedTransport(over: NetworkTrace(constant: Stage.fast), clock: good.clock) { _ in
            .failure(.connectionLost)
        }
        var configuration = PlayerConfiguration(clock: good.clock, transport: transport)
        configuration.retryPolicies = RetryPolicies()
        let diary = Diary()
        let group = Self.group(good)
        try group.add(Self.member("good", of: good, diary))
        let backoff = RestartBackoff(delays: [.seconds(1), .seconds(4)], spread: 0)
        try group.add(
            PlayerGroupMember(name: "bad", configuration: configuration, failurePolicy: .restart(backoff)) { number in
                diary.add("bad turn \(number)")
                throw HLSError(code: .network, cause: "no file to write to")
            })
        try run(good, group) { _ in
            try await good.clock.sleep(for: .milliseconds(500))
            #expect(diary.lines.filter { $0.hasPrefix("bad") }.count == 1)
            try await good.clock.sleep(for: .seconds(1))
            #expect(diary.lines.filter { $0.hasPrefix("bad") }.count == 2)
            try await good.clock.sleep(for: .seconds(3))
            #expect(diary.lines.filter { $0.hasPrefix("bad") }.count == 2)
            try await good.clock.sleep(for: .seconds(1))
            #expect(diary.lines.filter { $0.hasPrefix("bad") }.count == 3)
            guard case .restarting(let time) = group.statuses[1].status else {
                Issue.record("\(group.statuses[1].status)")
                return
            }
            #expect(time.offset == .seconds(9))
            #expect(group.player("good")?.timeControlStatus == .playing)
        }
        #expect(diary.lines.filter { $0.hasPrefix("good turn") }.count == 1)
    }

    @Test("a player with the policy to leave is removed with its error, despite the group's policy")
    func left() throws {
        let stage = Stage { _ in .notFound }
        let diary = Diary()
        let group = Self.group(stage)
        try group.add(Self.member("a", of: stage, diary, failurePolicy: .leave))
        try run(stage, group) { _ in try await stage.clock.sleep(for: .seconds(200)) }
        #expect(diary.lines.count == 2)
        #expect(diary.lines.last?.hasPrefix("a failed") == true)
        guard case .over(.failed(let error)) = group.statuses[0].status else {
            Issue.record("\(group.statuses[0].status)")
            return
        }
        #expect((error as? HLSError)?.code == .notFound)
    }

    @Test("a player is removed after its film ends, or restarted on request")
    func ends() throws {
        let stage = Stage(SyntheticStream(bitRates: Stage.bitRates, segmentCount: 2))
        let diary = Diary()
        let group = Self.group(stage)
        try group.add(Self.member("once", of: stage, diary))
        try group.add(Self.member("again", of: stage, diary, endPolicy: .restart()))
        try run(stage, group) { _ in try await stage.clock.sleep(for: .seconds(60)) }
        #expect(diary.lines.filter { $0.hasPrefix("once turn") }.count == 1)
        #expect(diary.lines.filter { $0.hasPrefix("again turn") }.count >= 4)
        #expect(diary.lines.contains { $0.hasPrefix("once ended") })
    }

    @Test("players can be added and removed while the group runs; names are unique")
    func changes() throws {
        let stage = Stage(SyntheticStream(bitRates: Stage.bitRates, segmentCount: 1000))
        let diary = Diary()
        let group = Self.group(stage)
        try run(stage, group) { _ in
            try await stage.clock.sleep(for: .seconds(5))
            try group.add(Self.member("a", of: stage, diary, finishTime: .seconds(2)))
            #expect(throws: HLSError.self) { try group.add(Self.member("a", of: stage)) }
            try await stage.clock.sleep(for: .seconds(10))
            #expect(group.player("a")?.timeControlStatus == .playing)
            #expect(await group.remove("a"))
            #expect(stage.clock.now.offset == .seconds(17))
            #expect(diary.lines.last == "a stopped, finished at 17.0")
            #expect(await !group.remove("a"))
            #expect(group.statuses.isEmpty)
            try group.add(Self.member("a", of: stage))
            try await stage.clock.sleep(for: .seconds(1))
        }
        #expect(group.statuses.map(\.name) == ["a"])
    }

    @Test("the events of all players are one sequence with the players' names")
    func events() throws {
        let stage = Stage(SyntheticStream(bitRates: Stage.bitRates, segmentCount: 2))
        let group = Self.group(stage)
        try group.add(Self.member("a", of: stage))
        try group.add(Self.member("b", of: stage))
        let events = group.events(bufferingNewest: 10_000)
        try run(stage, group) { _ in try await stage.clock.sleep(for: .seconds(30)) }
        let reported = try stage.clock.run {
            var reported: [String: [String]] = [:]
            for await event in events {
                switch event.kind {
                case .began(let session): reported[event.name, default: []].append("turn \(session)")
                case .player(let inner):
                    if case .segmentLoaded = inner.kind { reported[event.name, default: []].append("segment") }
                case .over(.ended, restartsIn: nil): reported[event.name, default: []].append("ended")
                default: break
                }
            }
            return reported
        }
        let all = ["turn 1", "segment", "segment", "ended"]
        #expect(reported == ["a": all, "b": all])
        #expect(try stage.clock.run { await group.events().first { _ in true } } == nil)
    }

    @Test("a player's metrics have its name as a dimension, and spans end before the group")
    func observed() throws {
        let stage = Stage(SyntheticStream(bitRates: Stage.bitRates, segmentCount: 100))
        let readings = Readings()
        let group = Self.group(stage) { $0.metrics = PlayerMetrics(factory: readings) }
        try group.add(Self.member("News", of: stage))
        try run(stage, group) { _ in try await stage.clock.sleep(for: .seconds(30)) }
        #expect(readings.count("hls_items_total{stream=News,outcome=left}") == 1)
        #expect(readings.count("hls_played_seconds_total{stream=News}") > 25)
        #expect(readings.gauge("hls_players{stream=News,state=playing}") == 0)
    }

    @Test("a group can run only once")
    func once() throws {
        let stage = Stage(SyntheticStream(bitRates: Stage.bitRates, segmentCount: 2))
        let group = Self.group(stage)
        try run(stage, group) { _ in }
        #expect(throws: HLSError.self) { try stage.clock.run { try await group.run() } }
    }
}

@Suite("Delay before a restart")
struct RestartCountTests {
    @Test("delays grow, permanent failures wait longest, and playback resets the count")
    func delays() {
        var count = RestartCount(name: "a")
        let backoff = RestartBackoff(spread: 0)
        let passing = HLSError(code: .network, cause: "x")
        let waits = (0..<8).map { _ in count.delay(backoff, after: passing, played: .zero) }
        #expect(waits == [1, 2, 5, 10, 20, 30, 30, 30].map { .seconds($0) })
        #expect(count.delay(backoff, after: passing, played: .seconds(59)) == .seconds(30))
        #expect(count.delay(backoff, after: passing, played: .seconds(60)) == .seconds(1))
        #expect(count.delay(backoff, after: HLSError(code: .notFound, cause: "x"), played: .zero) == .seconds(30))
        #expect(count.delay(backoff, after: nil, played: .zero) == .seconds(1))
        #expect(count.delay(RestartBackoff(delays: []), after: passing, played: .zero) == .zero)
    }

    @Test("players with different names have delays that differ by up to a fifth, always the same")
    func spread() {
        let waits = (0..<100).map { number in
            var count = RestartCount(name: "stream \(number)")
            return count.delay(RestartBackoff(delays: [.seconds(10)]), after: nil, played: .zero)
        }
        #expect(waits.allSatisfy { $0 >= .seconds(8) && $0 <= .seconds(12) })
        #expect(Set(waits).count > 80)
        #expect((waits.max() ?? .zero) - (waits.min() ?? .zero) > .seconds(3))
        var count = RestartCount(name: "stream 7")
        #expect(count.delay(RestartBackoff(delays: [.seconds(10)]), after: nil, played: .zero) == waits[7])
    }
}
