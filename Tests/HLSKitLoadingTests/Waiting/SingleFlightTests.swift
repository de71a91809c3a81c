import Synchronization
import Testing

@testable import HLSKitLoading

@Suite(.timeLimit(.minutes(10))) struct SharedLoadTests {
    private final class Work: Sendable {
        private struct State {
            var startCount = 0
            var cancelCount = 0
            var continuations: [CheckedContinuation<Int, any Error>] = []
        }

        private let state = Mutex(State())

        var startCount: Int { state.withLock { $0.startCount } }
        var cancelCount: Int { state.withLock { $0.cancelCount } }

        func run() async throws -> Int {
            try await withTaskCancellationHandler {
                try await withCheckedThrowingContinuation { continuation in
                    state.withLock { state in
                        state.startCount += 1
                        state.continuations.append(continuation)
                    }
                }
            } onCancel: {
                state.withLock { $0.cancelCount += 1 }
                end(.failure(CancellationError()))
            }
        }

        func end(_ result: Result<Int, any Error>) {
            let continuations = state.withLock { state in
                defer { state.continuations = [] }
                return state.continuations
            }
            for continuation in continuations { continuation.resume(with: result) }
        }

        func waitForStart(_ count: Int = 1) async { while startCount < count { await Task.yield() } }
    }

    private struct Failure: Error, Equatable {}

    @Test("the work runs once for all, and its result is kept")
    func once() async throws {
        let work = Work()
        let load = SingleFlight { try await work.run() }
        let waiters = (0..<10).map { _ in Task { try await load.value() } }
        await work.waitForStart()
        work.end(.success(7))
        for waiter in waiters { #expect(try await waiter.value == 7) }
        #expect(try await load.value() == 7)
        #expect(work.startCount == 1)
    }

    @Test("a failure is kept")
    func failure() async throws {
        let work = Work()
        let load = SingleFlight { try await work.run() }
        let waiter = Task { try await load.value() }
        await work.waitForStart()
        work.end(.failure(Failure()))
        await #expect(throws: Failure.self) { try await waiter.value }
        await #expect(throws: Failure.self) { try await load.value() }
        #expect(work.startCount == 1)
    }

    @Test("a cancelled waiter ends alone; the last one ends the work, which can be repeated")
    func cancellation() async throws {
        let work = Work()
        let load = SingleFlight { try await work.run() }
        let first = Task { try await load.value() }
        let second = Task { try await load.value() }
        await work.waitForStart()
        first.cancel()
        await #expect(throws: CancellationError.self) { try await first.value }
        second.cancel()
        await #expect(throws: CancellationError.self) { try await second.value }
        while work.cancelCount == 0 { await Task.yield() }
        let count = work.startCount
        let third = Task { try await load.value() }
        await work.waitForStart(count + 1)
        work.end(.success(3))
        #expect(try await third.value == 3)
    }

    @Test("a task cancelled before it asks gets an error")
    func cancelledBefore() async {
        let load = SingleFlight { 1 }
        let task = Task {
            while !Task.isCancelled { await Task.yield() }
            return try await load.value()
        }
        task.cancel()
        // The work is so short that its result may arrive before the cancellation.
        let result = await task.result
        if case .failure(let error) = result { #expect(error is CancellationError) }
    }

    @Test("concurrent waiters that start and stop leave no waiter behind")
    func storm() async {
        for _ in 0..<50 {
            let load = SingleFlight {
                await Task.yield()
                return 1
            }
            let tasks = (0..<20).map { _ in Task { try await load.value() } }
            for (index, task) in tasks.enumerated() where index.isMultiple(of: 3) { task.cancel() }
            for task in tasks {
                switch await task.result {
                case .success(let value): #expect(value == 1)
                case .failure(let error): #expect(error is CancellationError)
                }
            }
        }
    }
}
