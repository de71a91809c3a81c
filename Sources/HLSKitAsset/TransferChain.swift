import HLSKitLoading
import Synchronization

/// Transfers that follow one another and stand for one: to pause, resume or cancel it holds for whichever is under way, and
/// its metrics are the sum of all.
final class TransferChain: TransportTask {
    private let base: any ResourceTransport
    private let slot = TransferSlot()
    /// Of the transfers that are over; nil before the first is.
    private let sum = Mutex<TransferMetrics?>(nil)

    init(over base: any ResourceTransport) { self.base = base }

    var isCancelled: Bool { slot.isCancelled }
    /// Of the transfers that are over.
    var metrics: TransferMetrics { sum.withLock { $0 } ?? TransferMetrics() }

    /// Starts the next transfer when the one before is over; nothing once all is cancelled.
    ///
    /// - Parameter handler: receives the events of the transfer; in the last event, the metrics of all so far.
    func start(_ request: TransportRequest, handler: @escaping @Sendable (TransportEvent) -> Void) {
        slot.start { number in
            base.start(request) { [self] event in
                switch event {
                case .response, .data: handler(event)
                case .finished(let metrics): handler(.finished(finish(number, metrics)))
                case .failed(let error, let metrics): handler(.failed(error, finish(number, metrics)))
                }
            }
        }
    }

    /// Ends with an answer that no transfer gives.
    func answer(_ make: () -> MadeAnswer) { slot.start { _ in make() } }

    private func finish(_ number: Int, _ metrics: TransferMetrics) -> TransferMetrics {
        slot.end(number)
        return sum.withLock { sum in
            let all = sum.map { $0.followed(by: metrics) } ?? metrics
            sum = all
            return all
        }
    }

    /// Ends the transfer that is under way, of which enough has been seen. Another may follow.
    func endCurrent() { slot.endCurrent() }

    func cancel() { slot.cancel() }
    func pause() { slot.pause() }
    func resume() { slot.resume() }
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
