import Synchronization
import TestSupport
import Testing

@testable import HLSKitPlayback

@Suite("Work next to the driver", .timeLimit(.minutes(10)))
struct SerialWorkerTests {
    private static func adder(
        on queue: WorkQueue?, deliver: @escaping @Sendable (Int) -> Void
    ) -> SerialWorker<Int, Int, Int> {
        SerialWorker(0, on: queue, deliver: deliver) { sum, number in
            sum += number
            return number < 0 ? nil : sum
        }
    }

    @Test("without a queue work is done at once, and its report returned")
    func atOnce() async {
        let worker = Self.adder(on: nil) { _ in Issue.record("delivered") }
        #expect([1, 2, -3, 4].map { worker.perform($0) } == [1, 3, nil, 4])
        await worker.close()
    }

    @Test("with a queue work is done in order, and all pending work in one batch")
    func inOrder() {
        let held = HeldWork()
        let reports = Recorder<Int>()
        let worker = Self.adder(on: held.queue) { reports.append($0, at: .zero) }
        held.hold()
        for number in [1, 2, -3, 4] { #expect(worker.perform(number) == nil) }
        #expect(held.count == 1)
        #expect(reports.elements == [])
        held.release()
        #expect(reports.elements == [1, 3, 4])
        #expect(worker.perform(5) == nil)
        #expect(reports.elements == [1, 3, 4, 9])
    }

    @Test("small work is done at once, unless earlier work is pending")
    func small() {
        let held = HeldWork()
        let reports = Recorder<Int>()
        let worker = Self.adder(on: held.queue) { reports.append($0, at: .zero) }
        held.hold()
        #expect(worker.perform(1, atOnce: true) == 1)
        #expect(worker.perform(2) == nil)
        #expect(worker.perform(3, atOnce: true) == nil)
        held.release()
        #expect(reports.elements == [3, 6])
        #expect(worker.perform(4, atOnce: true) == 10)
        #expect(reports.elements == [3, 6])
    }

    @Test("the driver does a limited amount of work itself per turn")
    func turn() {
        func taken(_ byteCounts: [Int], of allowance: inout TurnAllowance) -> [Bool] {
            byteCounts.map { byteCount in allowance.take(byteCount) }
        }
        var allowance = TurnAllowance(byteCount: 3000)
        #expect(taken([2000, 2000, 0, 0], of: &allowance) == [true, false, false, false])
        allowance.renew()
        #expect(taken([0, 0, 0], of: &allowance) == [true, true, false])
        var none = TurnAllowance(byteCount: 0)
        #expect(taken([0], of: &none) == [false])
    }

    @Test("closing drops pending work, waits for running work, and delivers nothing afterwards")
    func closing() async {
        let held = HeldWork()
        let reports = Recorder<Int>()
        let worker = Self.adder(on: held.queue) { reports.append($0, at: .zero) }
        held.hold()
        _ = worker.perform(1)
        let closings = Recorder<Int>()
        await withTaskGroup { group in
            group.addTask {
                await worker.close()
                closings.append(1, at: .zero)
            }
            #expect(worker.perform(2) == nil)
            #expect(closings.elements.isEmpty)
            // Releases the work before or after the call to `close`. Both orders must work.
            group.addTask { held.release() }
        }
        #expect(closings.elements == [1])
        let count = reports.elements.count
        #expect(worker.perform(3) == nil)
        #expect(reports.elements.count == count)
    }

    @Test("the pool does all work, with no more at a time than its threads")
    func pool() async {
        struct Count { var now = 0, peak = 0, done = 0 }
        let count = Mutex(Count())
        let pool = WorkerPool(threadCount: 3)
        await withCheckedContinuation { continuation in
            for _ in 0..<500 {
                pool.run {
                    count.withLock { count in
                        count.now += 1
                        count.peak = max(count.peak, count.now)
                    }
                    let isLast = count.withLock { count in
                        count.now -= 1
                        count.done += 1
                        return count.done == 500
                    }
                    if isLast { continuation.resume() }
                }
            }
        }
        let (done, peak) = count.withLock { ($0.done, $0.peak) }
        #expect(done == 500)
        #expect((1...3).contains(peak))
    }

    @Test("workers that share a pool keep their own order")
    func sharedPool() async {
        let pool = WorkerPool(threadCount: 4)
        let reports = (0..<20).map { _ in Recorder<Int>() }
        await withTaskGroup { group in
            for recorder in reports {
                group.addTask {
                    await withCheckedContinuation { continuation in
                        let worker = Self.adder(on: WorkQueue { pool.run($0) }) { sum in
                            recorder.append(sum, at: .zero)
                            if sum == 200 { continuation.resume() }
                        }
                        for _ in 0..<200 { _ = worker.perform(1) }
                    }
                }
            }
        }
        for recorder in reports { #expect(recorder.elements == Array(1...200)) }
    }
}
