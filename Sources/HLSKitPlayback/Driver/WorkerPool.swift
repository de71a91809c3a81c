import Glibc
import HLSKitLoading

/// Runs long work for all players of the process, outside the Swift pool.
///
/// The pool has up to one thread per core, and starts a thread when all others are busy.
final class WorkerPool: Sendable {
    static let shared = WorkerPool(threadCount: max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN))))

    private struct State {
        var ready: [@Sendable () -> Void] = []
        var next = 0
        var threadCount = 0
        var idleCount = 0

        mutating func take() -> (@Sendable () -> Void)? {
            guard next < ready.count else { return nil }
            defer {
                next += 1
                if next == ready.count {
                    ready.removeAll(keepingCapacity: true)
                    next = 0
                }
            }
            return ready[next]
        }
    }

    private let threadCount: Int
    private let state = Monitor(State())

    init(threadCount: Int) { self.threadCount = threadCount }

    /// Runs `work` on a thread of the pool, or on the caller's thread if the system has no thread left.
    func run(_ work: @escaping @Sendable () -> Void) {
        let starts = state.signalOne { state in
            state.ready.append(work)
            guard state.idleCount < state.ready.count - state.next, state.threadCount < threadCount else {
                return false
            }
            state.threadCount += 1
            return true
        }
        guard starts, !WorkerThread.start({ [self] in serve() }) else { return }
        let isLast = state.withLock { state in
            state.threadCount -= 1
            return state.threadCount == 0
        }
        guard isLast else { return }
        while let work = state.withLock({ $0.take() }) { work() }
    }

    private func serve() {
        while true {
            var isIdle = false
            let work = state.wait { state -> (@Sendable () -> Void)? in
                let work = state.take()
                if (work == nil) != isIdle {
                    isIdle.toggle()
                    state.idleCount += isIdle ? 1 : -1
                }
                return work
            }
            work()
        }
    }
}
