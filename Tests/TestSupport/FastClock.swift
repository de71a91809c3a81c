import Synchronization

/// A clock that runs at least as fast as real time, and slows down on a busy machine. A task advances it in small
/// steps, so work of other programs or tests that delays a test also delays its clock.
package struct FastClock: Clock {
    package struct Instant: InstantProtocol {
        package var offset: Duration
        package func advanced(by duration: Duration) -> Instant { Instant(offset: offset + duration) }
        package func duration(to other: Instant) -> Duration { other.offset - offset }
        package static func < (left: Instant, right: Instant) -> Bool { left.offset < right.offset }
    }

    package let factor: Int
    private let hand: Hand

    /// - Parameter factor: The seconds that pass on the clock in a second of real time, if the machine is not busy.
    package init(factor: Int) {
        self.factor = factor
        hand = Hand(factor: factor)
    }

    package var now: Instant { Instant(offset: hand.offset) }
    package var minimumResolution: Duration { .microseconds(1) }

    package func sleep(until deadline: Instant, tolerance: Duration?) async throws {
        try await hand.wait(until: deadline.offset)
    }
}

extension FastClock {
    private final class Hand: Sendable {
        private struct Sleeper {
            var deadline: Duration
            var continuation: CheckedContinuation<Void, any Error>
        }

        private struct State {
            var offset = Duration.zero
            var last = ContinuousClock.now
            var sleepers: [Int: Sleeper] = [:]
            var cancelled: Set<Int> = []
            var count = 0

            /// Advances by one step at most. A longer time since the last step means that the machine was busy.
            func time(at now: ContinuousClock.Instant, _ factor: Int) -> Duration {
                offset + min(now - last, .milliseconds(4)) * factor
            }
        }

        private let factor: Int
        private let state = Mutex(State())

        init(factor: Int) {
            self.factor = factor
            Task.detached { [weak self] in
                while self?.tick() != nil { try? await ContinuousClock().sleep(for: .microseconds(500)) }
            }
        }

        deinit {
            for sleeper in state.withLock({ $0.sleepers.values }) {
                sleeper.continuation.resume(throwing: CancellationError())
            }
        }

        var offset: Duration { state.withLock { $0.time(at: .now, factor) } }

        private func tick() {
            let due = state.withLock { state in
                let now = ContinuousClock.now
                state.offset = state.time(at: now, factor)
                state.last = now
                let due = state.sleepers.filter { $0.value.deadline <= state.offset }.sorted {
                    ($0.value.deadline, $0.key) < ($1.value.deadline, $1.key)
                }
                for (id, _) in due { state.sleepers[id] = nil }
                return due.map(\.value)
            }
            for sleeper in due { sleeper.continuation.resume() }
        }

        func wait(until deadline: Duration) async throws {
            let id = state.withLock { state in
                state.count += 1
                return state.count
            }
            try await withTaskCancellationHandler {
                try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
                    let end: Result<Void, any Error>? = state.withLock { state in
                        if state.cancelled.remove(id) != nil { return .failure(CancellationError()) }
                        if deadline <= state.offset { return .success(()) }
                        state.sleepers[id] = Sleeper(deadline: deadline, continuation: continuation)
                        return nil
                    }
                    if let end { continuation.resume(with: end) }
                }
            } onCancel: {
                let sleeper = state.withLock { state in
                    let sleeper = state.sleepers.removeValue(forKey: id)
                    if sleeper == nil { state.cancelled.insert(id) }
                    return sleeper
                }
                sleeper?.continuation.resume(throwing: CancellationError())
            }
        }
    }
}
