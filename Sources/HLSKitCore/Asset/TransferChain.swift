import Synchronization

/// Transfers that follow one another and stand for one: to pause, resume or cancel it holds for whichever is under way, and
/// its metrics are the sum of all.
final class TransferChain: Sendable {
    private struct State {
        /// Changes with each transfer, and when one is ended.
        var number = 0
        var task: (any TransportTask)?
        var isPaused = false
        var isCancelled = false
        /// Of the transfers that are over; nil before the first is.
        var metrics: TransferMetrics?
    }

    private let base: any Transport
    private let state = Mutex(State())

    init(over base: any Transport) { self.base = base }

    var isCancelled: Bool { state.withLock(\.isCancelled) }
    /// Of the transfers that are over.
    var metrics: TransferMetrics { state.withLock(\.metrics) ?? TransferMetrics() }

    /// Starts the next transfer when the one before is over; nothing once all is cancelled.
    ///
    /// - Parameter handler: receives the events of the transfer; in the last event, the metrics of all so far.
    func start(_ request: TransportRequest, handler: @escaping @Sendable (TransportEvent) -> Void) {
        let number = state.withLock { state -> Int? in
            guard !state.isCancelled else { return nil }
            state.number += 1
            state.task = nil
            return state.number
        }
        guard let number else { return }
        let task = base.start(request) { [self] event in
            switch event {
            case .response, .data: handler(event)
            case .finished(let metrics): handler(.finished(finish(number, metrics)))
            case .failed(let error, let metrics): handler(.failed(error, finish(number, metrics)))
            }
        }
        // A transport may have ended the transfer by now, and the next be under way.
        let (isStale, isPaused) = state.withLock { state in
            let isStale = state.isCancelled || state.number != number
            if !isStale { state.task = task }
            return (isStale, state.isPaused)
        }
        if isStale { task.cancel() } else if isPaused { task.pause() }
    }

    private func finish(_ number: Int, _ metrics: TransferMetrics) -> TransferMetrics {
        state.withLock { state in
            let sum = state.metrics.map { $0.followed(by: metrics) } ?? metrics
            state.metrics = sum
            if state.number == number {
                state.number += 1
                state.task = nil
            }
            return sum
        }
    }

    /// Ends the transfer that is under way, of which enough has been seen. Another may follow.
    func endCurrent() {
        let task = state.withLock { state in
            state.number += 1
            return state.task.take()
        }
        task?.cancel()
    }

    func cancel() {
        state.withLock { $0.isCancelled = true }
        endCurrent()
    }

    func pause() {
        state.withLock { state in
            state.isPaused = true
            return state.task
        }?.pause()
    }

    func resume() {
        state.withLock { state in
            state.isPaused = false
            return state.task
        }?.resume()
    }
}

extension TransferMetrics {
    /// With a transfer that came after it.
    fileprivate func followed(by other: TransferMetrics) -> TransferMetrics {
        var sum = self
        sum.receivedByteCount += other.receivedByteCount
        sum.decodedByteCount += other.decodedByteCount
        sum.total += other.total
        sum.isLengthUnverified = isLengthUnverified || other.isLengthUnverified
        return sum
    }
}
