import HLSKitLoading
import HLSKitSimulation
import TestSupport
import Testing

@Suite("Gate for tasks and threads", .timeLimit(.minutes(10)))
struct GateTests {
    private let clock = VirtualClock()
    private let diary = Diary()

    @Test("tasks check after each signal, in waiting order, and take the value under the lock")
    func tasks() {
        let gate = Gate([Int]())
        for name in ["a", "b"] {
            Task(executorPreference: clock) {
                let number = await gate.wait { $0.isEmpty ? nil : $0.removeFirst() }
                diary.add("\(name)\(number)")
            }
        }
        clock.advance(by: .zero)
        gate.signal { $0.append(1) }
        clock.advance(by: .zero)
        #expect(diary.lines == ["a1"])
        gate.withLock { $0.append(2) }
        clock.advance(by: .zero)
        #expect(diary.lines == ["a1"])
        gate.signal { _ in }
        clock.advance(by: .zero)
        #expect(diary.lines == ["a1", "b2"])
    }

    @Test("a signal between checking and waiting is not lost")
    func inBetween() async {
        for _ in 0..<200 {
            let gate = Gate(0)
            async let seen = gate.wait { $0 > 0 ? $0 : nil }
            gate.signal { $0 = 1 }
            #expect(await seen == 1)
        }
    }

    @Test("threads share the elements, each taken once")
    func threads() async {
        let monitor = Monitor([Int]())
        let done = (0..<3).map { _ in OneShot<[Int]>() }
        for thread in done {
            let isStarted = WorkerThread.start {
                var taken: [Int] = []
                while true {
                    let number: Int = monitor.wait { $0.isEmpty ? nil : $0.removeFirst() }
                    guard number >= 0 else { break }
                    taken.append(number)
                }
                thread.set(taken)
            }
            #expect(isStarted)
        }
        for number in 0..<300 { monitor.signal { $0.append(number) } }
        monitor.signal { $0 += [-1, -1, -1] }
        var all: [Int] = []
        for thread in done { all += await thread.value() }
        #expect(all.sorted() == Array(0..<300))
        #expect(monitor.withLock { $0.isEmpty })
    }
}
