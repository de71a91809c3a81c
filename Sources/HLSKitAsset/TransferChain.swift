import HLSKitLoading
import Synchronization

/// Consecutive transfers that act as one. `pause`, `resume` and `cancel` apply to the current transfer, and the metrics
/// are the sum of all.
final class TransferChain: TransportTask {
    private let base: any ResourceTransport
    private let slot = TransferSlot()
    /// The metrics of the transfers that have ended, or `nil` if none has.
    private let sum = Mutex<TransferMetrics?>(nil)

    init(over base: any ResourceTransport) { self.base = base }

    var isCancelled: Bool { slot.isCancelled }
    var metrics: TransferMetrics { sum.withLock { $0 } ?? TransferMetrics() }

    /// Starts the next transfer when the previous one has ended, unless the chain was cancelled.
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

    func answer(_ make: () -> SyntheticResponse) { slot.start { _ in make() } }

    private func finish(_ number: Int, _ metrics: TransferMetrics) -> TransferMetrics {
        slot.end(number)
        return sum.withLock { sum in
            let all = sum.map { $0.followed(by: metrics) } ?? metrics
            sum = all
            return all
        }
    }

    /// Ends the current transfer because its remaining data is not needed. Another transfer may follow.
    func endCurrent() { slot.endCurrent() }

    func cancel() { slot.cancel() }
    func pause() { slot.pause() }
    func resume() { slot.resume() }
}

extension TransferMetrics {
    fileprivate func followed(by other: TransferMetrics) -> TransferMetrics {
        var sum = self
        sum.receivedByteCount += other.receivedByteCount
        sum.decodedByteCount += other.decodedByteCount
        sum.total += other.total
        sum.isLengthUnverified = isLengthUnverified || other.isLengthUnverified
        return sum
    }
}
