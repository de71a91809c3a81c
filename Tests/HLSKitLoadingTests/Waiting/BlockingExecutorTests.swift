import Foundation
import Synchronization
import Testing

@testable import HLSKitLoading

/// Threads of the machine, but nothing depends on its speed: what has to happen is waited for.
@Suite("an executor that may be held up", .timeLimit(.minutes(1)))
struct BlockingExecutorTests {
    @Test(
        "tasks run although each thread is held up, and further threads end when nothing is to be done",
        arguments: [1, 2])
    func blocked(coreCount: Int) async throws {
        let executor = BlockingExecutor(coreCount: coreCount)
        let release = DispatchSemaphore(value: 0)
        // More than one thread for each: no order of theirs helps.
        let holders = (0..<5).map { _ in
            Task(executorPreference: executor) { Self.hold(release) }
        }
        let others = (0..<20).map { number in Task(executorPreference: executor) { number } }
        var sum = 0
        for task in others { sum += await task.value }
        #expect(sum == 190)
        #expect(executor.threadCount > coreCount)
        for _ in holders { release.signal() }
        for holder in holders { await holder.value }
        while executor.threadCount > coreCount { await Task.yield() }
    }

    @Test("a task goes on in the executor after it has waited")
    func resumed() async {
        let executor = BlockingExecutor(coreCount: 1)
        let gate = Gate(false)
        let waiting = Task(executorPreference: executor) {
            await gate.wait { $0 ? "resumed" : nil }
        }
        let waking = Task(executorPreference: executor) { gate.signal { $0 = true } }
        await waking.value
        #expect(await waiting.value == "resumed")
        #expect(executor.threadCount == 1)
    }

    private static func hold(_ semaphore: DispatchSemaphore) { semaphore.wait() }
}
