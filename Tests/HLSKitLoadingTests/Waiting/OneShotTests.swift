import HLSKitLoading
import HLSKitSimulation
import HLSKitTime
import TestSupport
import Testing

@Suite("One-shot value", .timeLimit(.minutes(10)))
struct OneShotTests {
    private let clock = VirtualClock()
    private let diary = Diary()
    private let value = OneShot<Int>()

    @discardableResult
    private func wait(_ name: String, whileCancelled: Bool = false) -> Task<Void, Never> {
        Task(executorPreference: clock) {
            do {
                let value = whileCancelled ? await value.value() : try await value.valueUnlessCancelled()
                diary.add("\(name) \(value)")
            } catch {
                diary.add("\(name) cancelled")
            }
        }
    }

    @Test("waiters continue in waiting order, and later ones do not wait")
    func several() {
        for name in ["a", "b", "c"] { wait(name, whileCancelled: name == "b") }
        clock.advance(by: .zero)
        #expect(diary.lines.isEmpty)
        #expect(!value.isSet)
        #expect(value.set(1))
        #expect(value.isSet)
        wait("d")
        clock.advance(by: .zero)
        #expect(diary.lines == ["a 1", "b 1", "c 1", "d 1"])
    }

    @Test("the first value is kept")
    func first() {
        #expect(value.set(1))
        #expect(!value.set(2))
        wait("a")
        clock.advance(by: .zero)
        #expect(diary.lines == ["a 1"])
    }

    @Test("a cancelled waiter continues at once, and no other does")
    func cancelled() {
        let tasks = ["a", "b", "c"].map { wait($0) }
        clock.advance(by: .zero)
        tasks[1].cancel()
        clock.advance(by: .zero)
        #expect(diary.lines == ["b cancelled"])
        value.set(1)
        clock.advance(by: .zero)
        #expect(diary.lines == ["b cancelled", "a 1", "c 1"])
    }

    @Test("a waiter cancelled before it waits does not begin to wait", arguments: [false, true])
    func cancelledBefore(isSet: Bool) {
        if isSet { value.set(1) }
        wait("a").cancel()
        clock.advance(by: .zero)
        #expect(diary.lines == [isSet ? "a 1" : "a cancelled"])
    }

    @Test("a waiter that ignores its cancellation gets the value")
    func uncancellable() {
        let task = wait("a", whileCancelled: true)
        clock.advance(by: .zero)
        task.cancel()
        clock.advance(by: .zero)
        #expect(diary.lines.isEmpty)
        value.set(1)
        clock.advance(by: .zero)
        #expect(diary.lines == ["a 1"])
    }

    @Test("waiters continue at the time when the value is set")
    func time() throws {
        Task(executorPreference: clock) {
            try await clock.sleep(for: .seconds(3))
            value.set(1)
        }
        let now = try clock.run {
            _ = await value.value()
            return clock.now.offset
        }
        #expect(now == .seconds(3))
    }

    @Test("concurrent values, cancellations and waits leave no waiter behind")
    func threads() async {
        for _ in 0..<100 {
            let value = OneShot<Int>()
            let tasks = (0..<8).map { _ in Task { try await value.valueUnlessCancelled() } }
            let setters = (0..<3).map { number in Task { value.set(number) } }
            for (index, task) in tasks.enumerated() where index.isMultiple(of: 3) { task.cancel() }
            var winners = 0
            for setter in setters where await setter.value { winners += 1 }
            #expect(winners == 1)
            let set = await value.value()
            for task in tasks {
                switch await task.result {
                case .success(let value): #expect(value == set)
                case .failure(let error): #expect(error is CancellationError)
                }
            }
        }
    }
}
