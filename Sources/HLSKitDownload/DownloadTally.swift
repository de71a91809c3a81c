import HLSKitLoading
import Synchronization

final class DownloadTally: Sendable {
    struct Counts: Sendable, Equatable {
        var mediaRequestCount = 0
        var failureCount = 0
        /// The number of bytes in all bodies, as the transport delivered them.
        var byteCount = 0
    }

    private let state = Mutex(Counts())

    var counts: Counts { state.withLock { $0 } }

    func reset() { state.withLock { $0 = Counts() } }

    func transport(over base: any ResourceTransport) -> any ResourceTransport {
        CountingTransport(base: base, tally: self)
    }

    fileprivate func note(_ request: TransportRequest) {
        if request.resourceClass.isMedia { state.withLock { $0.mediaRequestCount += 1 } }
    }

    fileprivate func note(_ event: TransportEvent) {
        switch event {
        case .data(let bytes): state.withLock { $0.byteCount += bytes.count }
        case .failed: state.withLock { $0.failureCount += 1 }
        case .response, .finished: break
        }
    }
}

private struct CountingTransport: ResourceTransport {
    let base: any ResourceTransport
    let tally: DownloadTally

    func start(
        _ request: TransportRequest, handler: @escaping @Sendable (TransportEvent) -> Void
    ) -> any TransportTask {
        tally.note(request)
        return base.start(request) { [tally] event in
            tally.note(event)
            handler(event)
        }
    }
}
