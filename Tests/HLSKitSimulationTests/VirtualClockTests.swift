import HLSKitCore
import HLSKitSimulation
import HLSKitTime
import Synchronization
import Testing

@Suite("Virtual clock", .timeLimit(.minutes(10)))
struct VirtualClockTests {
    private final class Log: Sendable {
        private let lines = Mutex<[String]>([])
        func add(_ line: String) { lines.withLock { $0.append(line) } }
        var all: [String] { lines.withLock { $0 } }
    }

    private func seconds(_ clock: VirtualClock) -> Int64 { clock.now.offset.components.seconds }

    @Test("time stops until the clock is advanced")
    func standsStill() {
        let clock = VirtualClock()
        #expect(clock.now.offset == .zero)
        clock.advance(by: .milliseconds(1500))
        clock.advance(by: .zero)
        #expect(clock.now == VirtualClock.Instant(offset: .milliseconds(1500)))
    }

    @Test("sleepers wake by deadline, then in the order of their sleeps")
    func order() {
        let clock = VirtualClock()
        let log = Log()
        for (name, deadline) in [("a", 3), ("b", 1), ("c", 3), ("d", 2), ("e", 1), ("f", 4)] {
            Task(executorPreference: clock) {
                try await clock.sleep(for: .seconds(deadline))
                log.add("\(name)\(self.seconds(clock))")
            }
        }
        clock.advance(by: .seconds(3))
        #expect(log.all == ["b1", "e1", "d2", "a3", "c3"])
        #expect(clock.nextDeadline == VirtualClock.Instant(offset: .seconds(4)))
    }

    @Test("one advance runs consecutive sleeps, each at its time")
    func nested() {
        let clock = VirtualClock()
        let log = Log()
        Task(executorPreference: clock) {
            for _ in 0..<10 {
                try await clock.sleep(for: .seconds(1))
                log.add("\(self.seconds(clock))")
            }
        }
        clock.advance(by: .milliseconds(4500))
        #expect(log.all == ["1", "2", "3", "4"])
        clock.advance(by: .seconds(100))
        #expect(log.all.count == 10)
        #expect(seconds(clock) == 104)
    }

    @Test("a deadline in the past does not wait")
    func past() throws {
        let clock = VirtualClock()
        clock.advance(by: .seconds(5))
        let time = try clock.run {
            try await clock.sleep(until: .init(offset: .seconds(2)))
            return clock.now.offset
        }
        #expect(time == .seconds(5))
    }

    @Test("a cancelled sleep throws at once and leaves the others alone")
    func cancellation() {
        let clock = VirtualClock()
        let log = Log()
        let tasks = ["a", "b"].map { name in
            Task(executorPreference: clock) {
                do {
                    try await clock.sleep(for: .seconds(2))
                    log.add("\(name) woke")
                } catch is CancellationError {
                    log.add("\(name) cancelled at \(self.seconds(clock))")
                }
            }
        }
        clock.advance(by: .seconds(1))
        tasks[0].cancel()
        clock.advance(by: .zero)
        #expect(log.all == ["a cancelled at 1"])
        clock.advance(by: .seconds(1))
        #expect(log.all == ["a cancelled at 1", "b woke"])
        #expect(clock.nextDeadline == nil)
    }

    @Test("a task cancelled before its sleep does not sleep")
    func cancelledBefore() {
        let clock = VirtualClock()
        let log = Log()
        let task = Task(executorPreference: clock) {
            do {
                try await clock.sleep(for: .seconds(2))
            } catch {
                log.add("cancelled")
            }
        }
        task.cancel()
        clock.advance(by: .zero)
        #expect(log.all == ["cancelled"])
        #expect(clock.nextDeadline == nil)
    }

    private actor Counter {
        var count = 0
        func add(_ number: Int) { count += number }
    }

    @Test("run() runs actors and child tasks, and returns the operation's result")
    func run() throws {
        let clock = VirtualClock()
        let counter = Counter()
        let (count, time) = try clock.run {
            await withThrowingTaskGroup(of: Void.self) { group in
                for number in 1...100 {
                    group.addTask {
                        try await clock.sleep(for: .milliseconds(10 * number))
                        await counter.add(number)
                    }
                }
            }
            return (await counter.count, clock.now.offset)
        }
        #expect(count == 5050)
        #expect(time == .seconds(1))
    }

    @Test("run() throws the operation's error")
    func runThrows() {
        let clock = VirtualClock()
        #expect(throws: CancellationError.self) {
            try clock.run {
                try await clock.sleep(for: .seconds(1))
                throw CancellationError()
            }
        }
        #expect(clock.now.offset == .seconds(1))
    }

    @Test("an operation that waits for ever is reported")
    func stuck() {
        let clock = VirtualClock()
        let (stream, continuation) = AsyncStream.makeStream(of: Int.self)
        let error = #expect(throws: HLSError.self) {
            try clock.run {
                try await clock.sleep(for: .seconds(7))
                for await _ in stream {}
                return 0
            }
        }
        #expect(error?.code == .stuck)
        #expect(error?.detail == "at 7.0 seconds")
        continuation.finish()
    }

    @Test("the same code always gives the same sequence of events")
    func determinism() throws {
        func log() throws -> [String] {
            let clock = VirtualClock()
            let log = Log()
            let counter = Counter()
            try clock.run {
                await withThrowingTaskGroup(of: Void.self) { group in
                    for name in 0..<20 {
                        group.addTask {
                            for round in 0..<20 {
                                try await clock.sleep(for: .milliseconds((name * 7 + round * 13) % 50))
                                await counter.add(1)
                                log.add(
                                    "\(name).\(round) at \(clock.now.offset.components.attoseconds) \(await counter.count)"
                                )
                            }
                        }
                    }
                }
            }
            return log.all
        }
        let first = try log()
        #expect(first.count == 400)
        for _ in 0..<5 {
            #expect(try log() == first)
        }
    }

    @Test("tasks on other executors can sleep on it, too")
    func otherExecutors() async throws {
        let clock = VirtualClock()
        let task = Task {
            try await clock.sleep(for: .seconds(10))
            return clock.now.offset
        }
        while clock.nextDeadline == nil { await Task.yield() }
        clock.advance(by: .seconds(9))
        #expect(clock.nextDeadline != nil)
        clock.advance(by: .seconds(1))
        #expect(try await task.value == .seconds(10))
    }
}
