import HLSKitLoading
import HLSKitSimulation
import HLSKitTime
import TestSupport
import Testing

@Suite("A value that is set once", .timeLimit(.minutes(10)))
struct OneShotTests {
    private let clock = VirtualClock()
    private let diary = Diary()
    private let value = OneShot<Int>()

    /// A task that waits and notes what it gets.
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

    @Test("all who wait continue in the order in which they came, and later ones do not wait")
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

    @Test("the first value stays")
    func first() {
        #expect(value.set(1))
        #expect(!value.set(2))
        wait("a")
        clock.advance(by: .zero)
        #expect(diary.lines == ["a 1"])
    }

    @Test("one that is cancelled continues at once and alone")
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

    @Test("one that is cancelled before it waits does not begin to", arguments: [false, true])
    func cancelledBefore(isSet: Bool) {
        if isSet { value.set(1) }
        wait("a").cancel()
        clock.advance(by: .zero)
        #expect(diary.lines == [isSet ? "a 1" : "a cancelled"])
    }

    @Test("one that waits in spite of its cancellation gets the value")
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

    @Test("whoever waits continues at the time at which the value is set")
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

    @Test("values, cancellations and waits by many threads at once leave no one waiting")
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
